# Where a plan cannot be carried out, the job runs as stock would have run it, and slurmctld's log says why in one line.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/enforcing.sh"

nodes_follow_the_plan_of_a_round() {
  local job
  job=$(managed 30 -n 4 --gpus=4 -N 2)
  await "$job" RUNNING
  planned_start "$job"
}

without_planning_rounds_jobs_run_as_in_stock() {
  local job stock said
  cluster_use off; cluster_restart_ctld
  stock=$(managed 30 -n 6 --gpus=3 -N 2-3); await "$stock" RUNNING; allocation "$stock" >"$live_tmp/stock"
  mkdir -p "$live_tmp/half"
  cp "$HARMONY_OVERLAY"/{select_cons_tres,harmony_engine}.so "$live_tmp/half"
  cluster_use enforce; cluster_overlay=$live_tmp/half; cluster_save; cluster_write_plugins
  scancel "$stock"; await "$stock" CANCELLED; cluster_wait_idle
  cluster_restart_ctld; cluster_wait_idle
  job=$(managed 30 -n 6 --gpus=3 -N 2-3); await "$job" RUNNING
  same "allocation" "$(cat "$live_tmp/stock")" "$(allocation "$job")"
  left_to_stock "$job" planner_unwell
  said=$("$HARMONY_BIN" status) && fail "status finds nothing wrong: $said"
  grep -q 'sched_backfill.so' <<<"$said" || fail "status does not say what is wrong: $said"
  job=$(managed 0.1 --gpus=1); await "$job" COMPLETED
  same "lines about an unwell planner" 1 "$(logged_times 'planner_unwell')"
}

a_plan_that_stock_refuses_is_given_up_for_stocks_choice() {
  local job # the partition's MaxCPUsPerNode=4 is not in our arithmetic
  settings "Policy=pack Interval=1s MinInterval=100ms"
  job=$(managed 30 -p narrow -n 6); await "$job" RUNNING
  same nodes 2 "$(job_field "$job" NumNodes)"
  left_to_stock "$job" refused
}

a_refused_plan_of_a_job_that_cannot_start_fills_no_log() {
  local first job
  settings "Policy=pack Interval=1s MinInterval=100ms"
  first=$(waiter "$live_tmp/go.refused" -N 3 --exclusive); await "$first" RUNNING
  job=$(managed 0.1 -p narrow -n 6)
  for _ in 1 2 3 4 5 6; do round_comes; done
  same state PENDING "$(state_of "$job")"
  [ "$(logged_times "harmony: JobId=$job: .*using stock selection")" -le 3 ] || fail "$(logged_times "JobId=$job: .*using stock selection") lines about one job in six rounds"
  touch "$live_tmp/go.refused"
  await "$job" COMPLETED 60
}

a_job_without_a_plan_waits_for_one_round_and_then_starts_by_plan() {
  local job before number
  settings 'Policy=spread Interval=8s MinInterval=8s'
  round_comes
  before=$(counter rounds) held=$(counter held)
  job=$(managed 30 -n 2 --gpus=2); await "$job" RUNNING 60
  planned_start "$job"
  [ "$(counter held)" -gt "$held" ] || fail "it was not held"
  number=$(sed -n "s/.*JobId=$job: plan of round \([0-9]*\) .*/\1/p" "$cluster_dir/log/slurmctld.log")
  [ "$number" -le $((before + 2)) ] || fail "submitted in round $before, started in round $number"
}

a_job_is_held_for_no_longer_than_MaxWait() {
  local job
  settings 'Policy=spread Interval=8s MinInterval=8s MaxWait=1s'
  round_comes
  job=$(managed 30 -n 2 --gpus=2); await "$job" RUNNING 60
  left_to_stock "$job" gate_expired
}

# Nodes are busy for as long as the epilog of the job before takes.
a_gang_that_waited_for_an_epilog_starts_by_plan() {
  local job before
  settings 'Policy=spread Interval=20s MinInterval=200ms'
  touch "$live_tmp/slow_epilog"
  before=$(waiter "$live_tmp/go.epilog" -N 4 --exclusive); await "$before" RUNNING
  job=$(managed 30 -N 4 --gpus-per-node=2); round_comes
  touch "$live_tmp/go.epilog"
  await "$job" RUNNING 60
  rm "$live_tmp/slow_epilog"
  planned_start "$job"
}

a_gang_that_waited_for_several_jobs_starts_by_plan_after_the_last() {
  local job each
  settings 'Policy=spread Interval=20s MinInterval=200ms'
  for each in 0 1 2 3; do waiter "$live_tmp/go.end$each" -w "n$each" --exclusive >/dev/null; done
  cluster_until 20 no_idle_node || fail "$(cluster_idle_count) nodes are idle"
  job=$(managed 30 -N 4 --gpus-per-node=2)
  for each in 0 1 2 3; do round_comes; touch "$live_tmp/go.end$each"; done
  await "$job" RUNNING 60
  planned_start "$job"
}
no_idle_node() { ! cluster_has_idle 1; }

who_asks_for_resources_at_once_or_only_asks_is_never_held() {
  local held
  settings 'Policy=spread Interval=8s MinInterval=8s'
  round_comes
  held=$(counter held)
  says 'to start at' timeout 20 sbatch --test-only --harmony-type=vgg16 -N 2 --gpus=4 --wrap true
  says 'to start at' timeout 20 srun --test-only --harmony-type=vgg16 -N 2 --gpus=4 true
  says '^here$' timeout 20 salloc -Q --immediate --harmony-type=vgg16 -N 2 --gpus=4 echo here
  says '^here$' timeout 20 srun -Q -I --harmony-type=vgg16 -n 1 --gpus=1 echo here
  same "times held" "$held" "$(counter held)"
}

planned_node() { "$HARMONY_BIN" explain --json "$1" 2>/dev/null | jq -r '.plan[0].node // empty'; }
has_plan() { [ -n "$(planned_node "$1")" ]; }

# upset_a_plan HOW: between a job's plan and its start the node goes away by HOW NODE; the job starts on another one, by plan.
# It has to wait because it would delay a larger job. A planning round between HOW and the start would hide what is to be
# seen; then all is tried again.
upset_a_plan() {
  local try large job node stale
  settings 'Policy=spread Interval=5s MinInterval=5s'
  sleeper 600 -t 10 -w n0 --exclusive >/dev/null
  for try in 1 2 3 4 5; do
    large=$(sleeper 60 -t 10 -N 4 --exclusive)
    job=$(managed 60 -t 60 -n 1 --gpus=1)
    cluster_until 30 has_plan "$job" || fail "no plan for job $job"
    round_comes
    same "job $job" PENDING "$(state_of "$job")"
    stale=$(counter plans_stale) node=$(planned_node "$job")
    "$1" "$node"
    scancel "$large"
    await "$job" RUNNING 60
    [ "$(job_field "$job" NodeList)" != "$node" ] || fail "job $job started on $node"
    planned_start "$job"
    [ "$(counter plans_stale)" = "$stale" ] || return 0
    back "$node"
    scancel "$job"; await "$job" CANCELLED
  done
  fail "no plan was found stale in $try tries"
}
drain() { timeout 10 scontrol update NodeName="$1" State=DRAIN Reason=test; }
lose() { cluster_until 10 _alive "$1" && cluster_kill_node "$1" && timeout 10 scontrol update NodeName="$1" State=DOWN Reason=test; }

a_plan_whose_node_was_drained_is_made_anew() { upset_a_plan drain; }
a_plan_whose_node_failed_is_made_anew() { upset_a_plan lose; }

a_job_that_needs_a_lost_node_waits_for_it() {
  local job
  settings "$usual"
  lose n2
  job=$(managed 30 -N 1 -w n2 --gpus=1)
  round_comes; round_comes
  same state PENDING "$(state_of "$job")"
  back n2
  await "$job" RUNNING 60
  planned_start "$job"
}

a_second_reconfigure_within_a_second_is_heeded() {
  local policy
  for policy in pack spread tetris lif; do
    printf 'Policy=%s\n' "$policy" >"$cluster_dir/etc/harmony.conf"
    timeout 20 scontrol reconfigure
  done
  cluster_until 10 policy_is lif || fail "policy is $("$HARMONY_BIN" status --json | jq -r .statistics.policy), not lif"
}
policy_is() { [ "$("$HARMONY_BIN" status --json | jq -r .statistics.policy)" = "$1" ]; }

enforcing_cluster
keep nodes_follow_the_plan_of_a_round without_planning_rounds_jobs_run_as_in_stock \
  a_plan_that_stock_refuses_is_given_up_for_stocks_choice a_refused_plan_of_a_job_that_cannot_start_fills_no_log \
  a_job_without_a_plan_waits_for_one_round_and_then_starts_by_plan a_job_is_held_for_no_longer_than_MaxWait \
  a_gang_that_waited_for_an_epilog_starts_by_plan a_gang_that_waited_for_several_jobs_starts_by_plan_after_the_last \
  who_asks_for_resources_at_once_or_only_asks_is_never_held a_plan_whose_node_was_drained_is_made_anew \
  a_plan_whose_node_failed_is_made_anew a_job_that_needs_a_lost_node_waits_for_it \
  a_second_reconfigure_within_a_second_is_heeded
