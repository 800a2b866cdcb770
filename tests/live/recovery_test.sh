# Whatever becomes of slurmctld and of our mode while gangs run and wait, none is lost and none gets stuck. The nodes are played
# ones; they go on while slurmctld is away.
. "$(dirname "$0")/lib.sh"

seed=${HARMONY_SEED:-20261116}

script() { printf '#!/bin/sh\nsleep %s\n' "$1" >"$live_tmp/script.$1"; echo "$live_tmp/script.$1"; }

shapes=('-n 1 --gpus=1' '-n 3 -c 2 --gpus=2 --harmony-ps=1' '-n 4 --gpus-per-task=1' '-N 2 --gpus-per-node=3' '-n 8 -c 4' '-N 1-3 -n 6 --gpus=6'
  '-N 1 --exclusive --gpus-per-node=8' '-n 16 -c 2 --gpus=16' '-n 5 -c 3 --gpus=3 --harmony-ps=2 --mem-per-cpu=1000')
types=(vgg16 resnet50 bert gpt2)

# submit_mix COUNT SECONDS [OPTION...]: COUNT annotated jobs of mixed sizes, each tenth an array of 5, each tenth a hetjob of 2;
# counts the records that slurmctld has of them in the file `expected`.
submit_mix() {
  local count=$1 seconds=$2 made=0 records=0 shape type=()
  shift 2
  [ "${seeded:-}" = "$BASHPID" ] || RANDOM=$seed seeded=$BASHPID
  while [ "$made" -lt "$count" ]; do
    shape=${shapes[RANDOM % ${#shapes[@]}]} type=(--harmony-type="${types[RANDOM % ${#types[@]}]}")
    case $((RANDOM % 10)) in
    0) submit "${type[@]}" "$@" --array=0-4%3 $shape "$(script "$seconds")" >>"$live_tmp/jobs"; made=$((made + 5)) records=$((records + 5)) ;;
    1) submit "${type[@]}" "$@" --harmony-ps=1 -n 2 -c 2 --gpus-per-task=1 : "$@" -n 1 -c 4 "$(script "$seconds")" >>"$live_tmp/jobs"; made=$((made + 1)) records=$((records + 2)) ;;
    *) submit "${type[@]}" "$@" $shape "$(script "$seconds")" >>"$live_tmp/jobs"; made=$((made + 1)) records=$((records + 1)) ;;
    esac
  done
  echo $(($(cat "$live_tmp/expected" 2>/dev/null || echo 0) + records)) >"$live_tmp/expected"
}

# Of the jobs since the last promise: how many are in which state.
states() {
  timeout 20 scontrol -o show job | awk -v after="$(cat "$live_tmp/last_job" 2>/dev/null || echo 0)" '
    { split($1, id, "="); if (id[2] > after + 0 && match($0, / JobState=[A-Z_]+/)) count[substr($0, RSTART + 10, RLENGTH - 10)]++ }
    END { for (state in count) printf "%s %d\n", state, count[state] }' | sort | paste -sd' '
}
# What slurmctld and the nodes say of the jobs that are still there.
what_became_of_them() {
  local job
  timeout 20 squeue -o '%i %T %r %N' | head -n 20
  for job in $(timeout 20 squeue -h -o %A | head -n 3); do
    grep -hE "(JobId=|job )$job[^0-9]" "$cluster_dir"/log/*.log | tail -n 20
  done
}
none_waits() { [ -z "$(timeout 20 squeue -h -o %i 2>/dev/null || echo unknown)" ]; }

# none_is_lost: every job so far has completed. slurmctld sends a launch that failed again after a minute
# (RPC_RETRY_INTERVAL), so there is time for two of those.
none_is_lost() {
  cluster_until 300 none_waits || fail "not all jobs ended: $(what_became_of_them)"
  same "jobs in all" "COMPLETED $(cat "$live_tmp/expected")" "$(states)"
}

fallbacks_that_are_our_fault() { "$HARMONY_BIN" status --json | jq -r '.statistics.fallbacks | .refused + .other_tasks + .other_gpus'; }
explain_fallbacks() {
  grep -E 'harmony: JobId=.*\((refused|other_tasks|other_gpus)\)' "$cluster_dir/log/slurmctld.log" | sed 's/.*JobId=\([0-9_+]*\).*/\1/' | sort -u |
    while read -r job; do printf '\n'; "$HARMONY_BIN" explain "$job"; timeout 10 scontrol -o show job "$job" | grep -oE 'Command=.*|SubmitLine=.*'; done
}
plans_used() { "$HARMONY_BIN" status --json | jq -r .statistics.counters.plans_used; }

two_hundred_jobs_fill_and_drain_the_cluster_by_plan() {
  submit_mix 200 1
  none_is_lost
  # A plan may be refused because the cluster moved on; many would mean that our arithmetic is not stock's.
  [ "$(fallbacks_that_are_our_fault)" -le 4 ] || fail "$(fallbacks_that_are_our_fault) plans that stock did not carry out: $(explain_fallbacks)"
  [ "$(plans_used)" -ge 150 ] || fail "only $(plans_used) starts by plan"
  echo "$(plans_used) starts by plan"
}

mode_is() { [ "$(status_fact HarmonyMode)" = "$1" ]; }

every_mode_is_switched_by_reconfigure_while_jobs_run_and_wait() {
  local mode
  for mode in off shadow enforce shadow off enforce; do
    submit_mix 15 2
    cluster_use "$mode"
    timeout 20 scontrol reconfigure
    cluster_until 20 mode_is "$mode" || fail "mode is $(status_fact HarmonyMode), not $mode"
    submit_mix 5 1
  done
  none_is_lost
}

every_mode_is_switched_by_restart_while_jobs_run_and_wait() {
  local mode
  for mode in off shadow enforce; do
    submit_mix 20 3
    cluster_use "$mode"
    cluster_restart_ctld
    mode_is "$mode" || fail "mode is $(status_fact HarmonyMode), not $mode"
  done
  none_is_lost
}

# slurmctld saves its state at a change, but not twice within 5 s; what a kill makes it forget is lost in stock as well. So the
# jobs are on hold on disk, a first change has been saved when they are released, and what was started between release and kill
# has ended on the nodes before they are released for good.
slurmctld_killed_during_planning_rounds_loses_nothing() {
  local time long nodes jobs starts
  printf 'Policy=pack\nMinInterval=20ms\n' >"$cluster_dir/etc/harmony.conf"
  long=$(submit --harmony-type=vgg16 -n 4 --gpus=4 "$(script 600)"); await "$long" RUNNING
  nodes=$(allocation "$long")
  submit_mix 40 2 -H
  jobs=$(cut -d';' -f1 "$live_tmp/jobs")
  sleep 6
  for time in 1 2 3 4 5; do
    timeout 10 scontrol update JobId="$long" Comment="before kill $time"
    sleep 0.5
    starts=$(logged_times 'plan of round')
    timeout 20 scontrol release $jobs
    cluster_until 30 more_starts "$starts" || fail "no job started by plan"
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    cluster_kill_ctld
    echo "kill $time: after $(($(logged_times 'plan of round') - starts)) starts by plan"
    cluster_start_ctld
    overlay_is_loaded
    same "the running job" "RUNNING $nodes" "$(job_field "$long" JobState) $(allocation "$long")"
    sleep 3
  done
  timeout 20 scontrol release $jobs
  cluster_until 300 only_waits_for "$long" || fail "not all jobs ended: $(what_became_of_them)"
  same "the running job" "RUNNING $nodes" "$(job_field "$long" JobState) $(allocation "$long")"
  same "jobs in all" "COMPLETED $(cat "$live_tmp/expected") RUNNING 1" "$(states)"
}
more_starts() { [ "$(logged_times 'plan of round')" -gt "$1" ]; }
allocation() { timeout 10 scontrol -d show job "$1" | grep -E '^ *Nodes='; }
only_waits_for() { [ "$(timeout 20 squeue -h -o %i 2>/dev/null)" = "$1" ]; }

the_overlay_is_taken_out_with_planned_jobs_running_and_waiting() {
  submit_mix 50 4
  cluster_until 30 some_run_and_some_wait || fail "$(states)"
  sleep 6 # slurmctld saves its state up to 5 s after a change
  cluster_use stock
  cluster_restart_ctld
  ! "$HARMONY_BIN" status >/dev/null || fail "the overlay is still there"
  none_is_lost
}
some_run_and_some_wait() { [[ $(states) == *PENDING*RUNNING* ]]; }

# Each promise counts from nothing.
leave_no_jobs() {
  cluster_cancel_jobs
  timeout 20 scontrol -o show job | grep -oE '^JobId=[0-9]+' | cut -d= -f2 | sort -n | tail -n 1 >"$live_tmp/last_job"
  rm -f "$live_tmp/expected" "$live_tmp/jobs"
}

cluster_setup "$live_tmp/c0" --nodes 0 --played 8 --topology pcie8 --overlay "$HARMONY_OVERLAY" --mode enforce \
  --scheduler-parameters batch_sched_delay=0,bf_interval=2,sched_interval=1,bf_continue
printf 'optional %s/harmony_spank.so\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
printf 'Policy=pack\n' >"$cluster_dir/etc/harmony.conf" # a model may let gangs wait; here every wait would look like a loss
cluster_start
cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
keep two_hundred_jobs_fill_and_drain_the_cluster_by_plan every_mode_is_switched_by_reconfigure_while_jobs_run_and_wait \
  every_mode_is_switched_by_restart_while_jobs_run_and_wait slurmctld_killed_during_planning_rounds_loses_nothing \
  the_overlay_is_taken_out_with_planned_jobs_running_and_waiting
