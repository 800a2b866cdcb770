# Large clusters on a small machine: one process plays 2,000 slurmds, and jobs complete on them.
. "$(dirname "$0")/lib.sh"

two_thousand_nodes_register_within_10_s() {
  local start=${EPOCHREALTIME/./}
  cluster_start
  cluster_wait_idle 2000 10 || fail "only $(cluster_idle_count) of 2000 nodes are idle after 10 s"
  echo "2000 nodes idle after $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
  overlay_is_loaded
}

# script SECONDS: a batch script as the player reads it.
script() { printf '#!/bin/sh\nsleep %s\n' "$1" >"$live_tmp/script"; echo "$live_tmp/script"; }

completed() { timeout 20 scontrol -o show job "$1" | grep -c JobState=COMPLETED; }
all_completed() { [ "$(completed "$1")" = "$2" ]; }

three_hundred_jobs_complete_and_none_is_lost() {
  local array
  array=$(submit --array=0-299 -n 4 --gpus=1 "$(script 1)")
  cluster_until 60 all_completed "$array" 300 || fail "$(completed "$array") of 300 jobs completed"
}

gangs_over_many_nodes_complete() {
  local job
  job=$(submit -N 200 --gpus-per-node=8 "$(script 1)")
  await "$job" COMPLETED 60
}

a_cancelled_job_ends_at_once() {
  local job
  job=$(submit -N 3 "$(script 600)")
  await "$job" RUNNING
  scancel "$job"
  await "$job" CANCELLED 10
}

an_exit_code_is_reported() {
  local job
  printf '#!/bin/sh\nexit 3\n' >"$live_tmp/script"
  job=$(submit "$live_tmp/script")
  await "$job" FAILED
  same "exit code" 3:0 "$(job_field "$job" ExitCode)"
}

jobs_outlive_a_restart_of_slurmctld() {
  local array
  array=$(submit --array=0-19 -N 2 "$(script 12)")
  sleep 6
  cluster_restart_ctld
  cluster_until 60 all_completed "$array" 20 || fail "$(completed "$array") of 20 jobs completed"
  cluster_wait_idle 2000 30 || fail "only $(cluster_idle_count) of 2000 nodes are idle again"
}

cluster_setup "$live_tmp/c0" --nodes 0 --played 2000 --topology pcie8 --overlay "$HARMONY_OVERLAY" --mode enforce \
  --scheduler-parameters batch_sched_delay=0,bf_interval=2,sched_interval=2
keep two_thousand_nodes_register_within_10_s three_hundred_jobs_complete_and_none_is_lost gangs_over_many_nodes_complete \
  a_cancelled_job_ends_at_once an_exit_code_is_reported jobs_outlive_a_restart_of_slurmctld
