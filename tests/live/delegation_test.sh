# Delegation is complete: what a Slurm user or admin does every day works through the overlay.
. "$(dirname "$0")/lib.sh"

the_overlay_is_loaded_and_engaged() {
  overlay_is_loaded
  same mode enforce "$(status_fact HarmonyMode)"
  same engine loaded "$(status_fact HarmonyEngine)"
}

a_plain_job_completes() {
  local job
  job=$(sleeper 0.2 -n 3)
  await "$job" COMPLETED
  [ "$(status_fact HarmonyJobTests)" -gt 0 ] || fail "the engine was asked nothing"
}

srun_and_salloc_get_their_tasks() {
  same tasks 4 "$(timeout 30 srun -n 4 hostname | wc -l)"
  same tasks 2 "$(timeout 30 salloc -Q -n 2 srun hostname | wc -l)"
}

# gpus_of JOB: GPUs allocated, all nodes together; a line of scontrol's may stand for several nodes.
gpus_of() {
  local nodes count sum=0
  while read -r nodes count; do
    sum=$((sum + count * $(scontrol show hostnames "$nodes" | wc -l)))
  done < <(timeout 10 scontrol -d show job "$1" | sed -n 's/^ *Nodes=\([^ ]*\) .* GRES=gpu[^ ]*:\([0-9]*\)(IDX.*/\1 \2/p')
  echo "$sum"
}

gpus_come_per_job_node_task_and_socket() {
  local job options expected
  while read -r expected options; do
    job=$(sleeper 30 $options)
    await "$job" RUNNING
    same "GPUs of '$options'" "$expected" "$(gpus_of "$job")"
    scancel "$job"
    await "$job" CANCELLED
  done <<'END'
3 -n 4 --gpus=3
6 -N 2 --gpus-per-node=3
4 -n 4 --gpus-per-task=1
4 -N 1 --gpus-per-socket=2 --sockets-per-node=2
8 -n 1 --gpus=rtx6000:8
2 -n 2 --gpus=2 --cpus-per-gpu=4 --mem-per-gpu=200
2 -N 1 --gres=gpu:2 --gres-flags=enforce-binding
END
}

a_gpu_is_never_given_twice() {
  local jobs=() seen index
  for index in 1 2 3 4; do jobs+=("$(sleeper 30 -N 1 --nodelist=n0 --gpus-per-node=2)"); done
  for index in "${jobs[@]}"; do await "$index" RUNNING; done
  seen=$(for index in "${jobs[@]}"; do
    timeout 10 scontrol -d show job "$index" | grep -oE 'IDX:[0-9,-]+' | cut -d: -f2
  done | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
  same "GPUs in use" 8 "$(wc -l <<<"$seen")"
  same "distinct GPUs" 8 "$(sort -u <<<"$seen" | wc -l)"
}

a_full_cluster_makes_the_next_job_wait_its_turn() {
  local first second
  first=$(waiter "$live_tmp/go.full" -N 4 --gpus-per-node=8)
  await "$first" RUNNING
  second=$(sleeper 0.1 --gpus=1)
  same state PENDING "$(job_field "$second" JobState)"
  touch "$live_tmp/go.full"
  await "$second" COMPLETED
}

an_impossible_job_is_refused_or_held() {
  ! timeout 20 sbatch -o /dev/null -N 1 --gpus-per-node=9 --wrap true || fail "9 GPUs on an 8-GPU node were accepted"
}

exclusive_nodelist_exclude_and_constraints_hold() {
  local job
  job=$(sleeper 30 -N 1 --exclusive --nodelist=n2)
  await "$job" RUNNING
  same node n2 "$(job_field "$job" NodeList)"
  same cpus 32 "$(job_field "$job" NumCPUs)"
  job=$(sleeper 30 -N 1 --exclude=n[0-2])
  await "$job" RUNNING
  same node n3 "$(job_field "$job" NodeList)"
}

arrays_run_every_task() {
  local job
  job=$(sleeper 0.1 --array=0-9%4)
  cluster_until 60 array_done "$job" || fail "the array did not end: $(squeue -h -j "$job")"
  same "completed tasks" 10 "$(timeout 10 scontrol -o show job "$job" | grep -c JobState=COMPLETED)"
}
array_done() { [ "$(timeout 10 scontrol -o show job "$1" | grep -c JobState=COMPLETED)" = 10 ]; }

hetjobs_run_both_components() {
  local job
  job=$(timeout 20 sbatch --parsable -o "$live_tmp/het.out" -n 1 -c 2 : -n 2 --gpus=2 --wrap 'srun --het-group=0,1 hostname')
  await "$job" COMPLETED 60
  same "tasks of both components" 3 "$(wc -l <"$live_tmp/het.out")"
}

a_reservation_is_kept_for_its_own() {
  local job other
  timeout 10 scontrol create reservation ReservationName=lab StartTime=now Duration=60 Users=$(id -un) Nodes=n1 >/dev/null
  other=$(sleeper 30 -w n1)
  job=$(sleeper 0.1 --reservation=lab)
  await "$job" COMPLETED
  same node n1 "$(job_field "$job" NodeList)"
  same "job without the reservation" PENDING "$(job_field "$other" JobState)"
  scancel "$other"
  timeout 10 scontrol delete ReservationName=lab
}

a_core_count_reservation_is_kept() {
  local job
  timeout 10 scontrol create reservation ReservationName=cores StartTime=now Duration=60 Users=$(id -un) Nodes=n1 CoreCnt=24 >/dev/null
  job=$(sleeper 30 -N 1 -n 16 -w n1)
  sleep 2
  same "16 cores beside 24 of 32 reserved" PENDING "$(job_field "$job" JobState)"
  scancel "$job"
  job=$(sleeper 30 -N 1 -n 8 -w n1)
  await "$job" RUNNING
  job=$(sleeper 0.1 -N 1 -n 24 --reservation=cores)
  await "$job" COMPLETED
  timeout 10 scontrol delete ReservationName=cores
}

suspend_and_resume_work() {
  local job
  job=$(waiter "$live_tmp/go.suspend" --gpus=1)
  await "$job" RUNNING
  timeout 10 scontrol suspend "$job"
  await "$job" SUSPENDED
  timeout 10 scontrol resume "$job"
  touch "$live_tmp/go.suspend"
  await "$job" COMPLETED
}

a_higher_partition_preempts_and_the_victim_is_requeued() {
  local victim urgent
  victim=$(sleeper 60 -p low -N 4 --exclusive)
  await "$victim" RUNNING
  urgent=$(sleeper 1 -p high -N 4 --exclusive)
  await "$urgent" 'RUNNING|COMPLETED' 60
  same "restarts of the victim" 1 "$(job_field "$victim" Restarts)"
  await "$urgent" COMPLETED
}

a_running_job_can_shrink() {
  local job
  job=$(submit -N 3 --gpus-per-node=2 --wrap 'sleep 30')
  await "$job" RUNNING
  timeout 10 scontrol update JobId="$job" NumNodes=1 >/dev/null
  same nodes 1 "$(job_field "$job" NumNodes)"
  same GPUs 2 "$(gpus_of "$job")"
  rm -f slurm_job_"$job"_resize.*
}

a_requeued_job_runs_again() {
  local job
  job=$(waiter "$live_tmp/go.requeue" --requeue)
  await "$job" RUNNING
  timeout 10 scontrol requeue "$job"
  touch "$live_tmp/go.requeue"
  await "$job" PENDING
  sleep 2 # slurmd takes a start within the second of the end for the old one, and refuses it
  timeout 10 scontrol update JobId="$job" StartTime=now # Slurm holds a requeued job back for two minutes
  await "$job" COMPLETED 60
  same restarts 1 "$(job_field "$job" Restarts)"
}

will_run_answers_without_starting() {
  local told
  told=$(timeout 20 sbatch --test-only -N 2 --gpus=4 --wrap true 2>&1)
  grep -q 'to start at' <<<"$told" || fail "sbatch --test-only said: $told"
}

cd "$live_tmp" || exit 1
live_cluster --topology pcie8 --nodes 4 --mode enforce --scheduler-parameters bf_interval=1,sched_interval=2,batch_sched_delay=0 --extra '
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
OverTimeLimit=0
PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF'

keep the_overlay_is_loaded_and_engaged a_plain_job_completes srun_and_salloc_get_their_tasks \
  gpus_come_per_job_node_task_and_socket a_gpu_is_never_given_twice \
  a_full_cluster_makes_the_next_job_wait_its_turn an_impossible_job_is_refused_or_held \
  exclusive_nodelist_exclude_and_constraints_hold arrays_run_every_task hetjobs_run_both_components \
  a_reservation_is_kept_for_its_own a_core_count_reservation_is_kept suspend_and_resume_work \
  a_higher_partition_preempts_and_the_victim_is_requeued a_running_job_can_shrink a_requeued_job_runs_again \
  will_run_answers_without_starting
