# Job owners describe their job with options of sbatch, srun and salloc; a bad value is refused at submission.
. "$(dirname "$0")/lib.sh"

options_reach_the_tasks_of_sbatch() {
  local job
  job=$(submit -o "$live_tmp/env.out" --harmony-type=resnet50 --harmony-ps=1 --harmony-epochs=90 --harmony-model-mb=97.5 \
    --wrap 'srun -n 1 env')
  await "$job" COMPLETED
  for line in HARMONY_TYPE=resnet50 HARMONY_PS=1 HARMONY_EPOCHS=90 HARMONY_MODEL_MB=97.5; do
    grep -qx "$line" "$live_tmp/env.out" || fail "no $line in the task's environment"
  done
}

options_reach_the_batch_script() {
  local job
  job=$(submit -o "$live_tmp/env.out" --harmony-type=vgg16 --wrap 'echo "type $HARMONY_TYPE"')
  await "$job" COMPLETED
  says '^type vgg16$' cat "$live_tmp/env.out"
}

srun_and_salloc_have_them_too() {
  says '^bert 2$' timeout 30 srun -n 1 --harmony-type=bert --harmony-ps=2 bash -c 'echo $HARMONY_TYPE $HARMONY_PS'
  says '^gpt2$' timeout 30 salloc -Q -n 1 --harmony-type=gpt2 srun bash -c 'echo $HARMONY_TYPE'
}

a_job_without_them_has_none_of_it() {
  says '^none$' timeout 30 srun -n 1 bash -c 'echo ${HARMONY_TYPE-none}'
}

# refused OPTION ALLOWED: sbatch with it fails, and says option, value and what is allowed.
refused() {
  local said
  ! said=$(timeout 20 sbatch -o /dev/null "$1" --wrap true 2>&1) || fail "sbatch took $1"
  [[ $said == *"harmony: $1: allowed is $2"* ]] || fail "$1: $said"
}

bad_values_are_refused_with_what_is_allowed() {
  local value
  for value in '' ResNet 'a b' '../x' '$(id)' "$(printf 'x%.0s' {1..33})"; do refused "--harmony-type=$value" '1 to 32 of'; done
  for value in -1 1025 many 1.5; do refused "--harmony-ps=$value" 'a whole number from 0 to 1024'; done
  for value in 0 1000001 1e3; do refused "--harmony-epochs=$value" 'a whole number from 1 to 1000000'; done
  for value in 0 -3 1G 1.2345; do refused "--harmony-model-mb=$value" 'megabytes from 0.001 to 1000000'; done
  same "jobs" "" "$(squeue -h)"
}

help_names_every_option() {
  local option
  for option in --harmony-type=NAME --harmony-ps=P --harmony-epochs=E --harmony-model-mb=SIZE; do
    says "$option" timeout 20 sbatch --help
  done
}

# slurmctld keeps the values with the job, which is where the planner will read them.
slurmctld_keeps_them_with_the_job() {
  local job
  job=$(sleeper 30 --harmony-type=resnet50 --harmony-ps=3)
  await "$job" RUNNING
  sleep 6 # slurmctld saves its state up to 5 s after a change
  cluster_restart_ctld
  grep -aq '_SLURM_SPANK_OPTION_harmony_harmony_ps=3' "$cluster_dir/state/job_state" || fail "job_state does not have it"
}

cluster_setup "$live_tmp/c0" --nodes 2 --overlay "$HARMONY_OVERLAY" --mode shadow
printf 'optional %s/harmony_spank.so synthetic=servers6\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
cluster_start
cluster_wait_idle
keep options_reach_the_tasks_of_sbatch options_reach_the_batch_script srun_and_salloc_have_them_too \
  a_job_without_them_has_none_of_it bad_values_are_refused_with_what_is_allowed help_names_every_option \
  slurmctld_keeps_them_with_the_job
