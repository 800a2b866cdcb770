# It goes in and comes out with running jobs, by one line of slurm.conf and a slurmctld restart.
. "$(dirname "$0")/lib.sh"

health() { "$HARMONY_BIN" status >/dev/null; echo $?; }

# A job runs from the first slurmctld to the last and must not notice; its GPUs stay its own.
stock_to_overlay_to_stock_under_a_running_job() {
  local job other gpus
  job=$(waiter "$live_tmp/go.through" -n 2 --gpus=2 -N 1 -o "$live_tmp/through.out")
  await "$job" RUNNING
  gpus=$(job_gpus "$job")
  same "health under stock" 3 "$(health)"

  cluster_use enforce
  cluster_restart_ctld
  overlay_is_loaded
  same "state under the overlay" RUNNING "$(job_field "$job" JobState)"
  same "GPUs under the overlay" "$gpus" "$(job_gpus "$job")"
  other=$(sleeper 0.1 --gpus=1)
  await "$other" COMPLETED

  cluster_use stock
  cluster_restart_ctld
  same "health under stock again" 3 "$(health)"
  same "GPUs under stock again" "$gpus" "$(job_gpus "$job")"
  touch "$live_tmp/go.through"
  await "$job" COMPLETED
  same "the job's last word" done "$(cat "$live_tmp/through.out")"
}
job_gpus() { timeout 10 scontrol -d show job "$1" | grep -oE 'Nodes=[^ ]+.*GRES=[^ ]+'; }

every_mode_can_be_switched_by_reconfigure_while_a_job_runs() {
  local job mode
  cluster_use off
  cluster_restart_ctld
  job=$(waiter "$live_tmp/go.modes")
  await "$job" RUNNING
  for mode in shadow enforce off enforce; do
    cluster_use "$mode"
    timeout 20 scontrol reconfigure
    cluster_until 10 mode_is "$mode" || fail "mode is $(status_fact HarmonyMode), not $mode"
    same "state in mode $mode" RUNNING "$(job_field "$job" JobState)"
  done
  touch "$live_tmp/go.modes"
  await "$job" COMPLETED
}
mode_is() { [ "$(status_fact HarmonyMode)" = "$1" ]; }

off_asks_the_engine_nothing() {
  local job
  cluster_use off
  cluster_restart_ctld
  job=$(sleeper 0.1)
  await "$job" COMPLETED
  same "engine in mode off" "not needed" "$(status_fact HarmonyEngine)"
  ! grep -q harmony_engine "/proc/$(cat "$cluster_dir/run/slurmctld.pid")/maps" || fail "the engine is loaded in mode off"
}

jobs_survive_slurmctld_killed_and_started_again() {
  local job
  cluster_use enforce
  cluster_restart_ctld
  job=$(waiter "$live_tmp/go.kill" --gpus=1)
  await "$job" RUNNING
  sleep 6 # slurmctld saves its state up to 5 s after a change
  cluster_kill_ctld
  cluster_start_ctld
  overlay_is_loaded
  same state RUNNING "$(job_field "$job" JobState)"
  touch "$live_tmp/go.kill"
  await "$job" COMPLETED
}

the_engine_is_in_slurmctld_and_nowhere_else() {
  local pid
  grep -q harmony_engine "/proc/$(cat "$cluster_dir/run/slurmctld.pid")/maps" || fail "slurmctld has no engine"
  for pid in "$cluster_dir"/run/n*.pid; do
    ! grep -q harmony_engine "/proc/$(cat "$pid")/maps" || fail "slurmd $(cat "$pid") has the engine loaded"
  done
}

a_client_and_a_node_with_a_stock_slurm_conf_work_unchanged() {
  local stock_conf
  mkdir -p "$live_tmp/stock"
  stock_conf=$(cluster_client_conf "$live_tmp/stock")
  same "tasks" 2 "$(SLURM_CONF=$stock_conf timeout 30 srun -n 2 --gpus=2 hostname | wc -l)"
  SLURM_CONF=$stock_conf timeout 10 "$HARMONY_BIN" status >/dev/null || fail "status from a stock client failed"
}

live_cluster
cluster_use stock
cluster_restart_ctld
keep stock_to_overlay_to_stock_under_a_running_job every_mode_can_be_switched_by_reconfigure_while_a_job_runs \
  off_asks_the_engine_nothing jobs_survive_slurmctld_killed_and_started_again the_engine_is_in_slurmctld_and_nowhere_else \
  a_client_and_a_node_with_a_stock_slurm_conf_work_unchanged
