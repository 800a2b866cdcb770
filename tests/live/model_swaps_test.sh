# CURRENT is switched again and again while jobs flow: no round is missed, no job lost, and slurmctld does not grow.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"
. "$(dirname "$0")/models.sh"

switches=${HARMONY_SWITCHES:-1000}

# The switching goes on in the background until it is done.
switch_all() {
  local i
  for i in $(seq "$switches"); do
    harmony_model use --store "$store" $((1 + i % 3)) >/dev/null || { echo "switch $i failed"; return 1; }
  done
}

jobs_flow_while_current_is_switched() {
  local submitted=0 before rounds
  before=$(resident) rounds=$(stats counters.rounds)
  switch_all >"$live_tmp/switching" 2>&1 &
  local switching=$!
  while kill -0 "$switching" 2>/dev/null || [ "$submitted" -lt 50 ]; do
    submit --harmony-type=vgg16 -n $((1 + submitted % 5)) --gpus=$((1 + submitted % 5)) --wrap 'sleep 1' >/dev/null
    submitted=$((submitted + 1))
    sleep 0.2
  done
  wait "$switching" || fail "$(cat "$live_tmp/switching")"
  cluster_until 120 none_is_left || fail "$(timeout 20 squeue -o '%i %T %r' | head)"
  same "jobs completed" "$submitted" "$(timeout 20 scontrol -o show job | grep -c 'JobState=COMPLETED')"
  same "models refused" 0 "$(stats counters.models_refused)"
  local cause
  for cause in late failed wrong_shape not_finite not_feasible breaker_open no_model; do same "$cause" 0 "$(faults "$cause")"; done
  [ "$(stats counters.gangs_by_model)" -ge "$submitted" ] || fail "only $(stats counters.gangs_by_model) decisions by models, $submitted jobs"
  echo "$switches switches, $(stats counters.models_loaded) models loaded, $submitted jobs, $(($(stats counters.rounds) - rounds)) rounds, slurmctld $((($(resident) - before) / 1024)) MB larger"
  [ "$(stats counters.models_loaded)" -ge $((switches / 100)) ] || fail "only $(stats counters.models_loaded) models loaded"
  [ $(($(resident) - before)) -lt $((64 * 1024)) ] || fail "slurmctld grew by $((($(resident) - before) / 1024)) MB"
}
none_is_left() { [ -z "$(timeout 20 squeue -h -o %i 2>/dev/null || echo unknown)" ]; }
resident() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$(cat "$cluster_dir/run/slurmctld.pid")/status"; }

for kind in packing spreading packing; do published "$kind" >/dev/null; done
harmony_model use --store "$store" 1 >/dev/null
plan_cluster "$(printf '%s\n' Policy=learned "ModelStore=$store" Interval=1s MinInterval=20ms)" --nodes 0 --played 8
in_service "linear version 1"
"$HARMONY_BIN" status --reset >/dev/null
keep jobs_flow_while_current_is_switched
