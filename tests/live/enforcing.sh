# What the tests of mode enforce share: a cluster of four nodes with topologies, and what to ask of a planned job. Sourced after
# lib.sh; then enforcing_cluster starts it.

# settings LINE...: harmony.conf from now on; in force when it returns.
settings() {
  local before
  printf '%s\n' "$@" >"$cluster_dir/etc/harmony.conf"
  [ -e "$cluster_dir/run/slurmctld.pid" ] || return 0
  before=$(logged_times 'harmony: engine .* ready')
  cluster_until 20 read_again "$before" || fail "harmony.conf was not read again"
  round_comes # the pause before it is still one of the old settings
}
# slurmctld's clock of configurations has seconds: a reconfigure within the second of the one before may go unheeded.
read_again() { timeout 20 scontrol reconfigure && [ "$(logged_times 'harmony: engine .* ready')" -gt "$1" ]; }
usual='Policy=spread Interval=1s MinInterval=100ms'

managed() { sleeper "$1" --harmony-type=vgg16 "${@:2}"; }
managed_waiter() { waiter "$1" --harmony-type=vgg16 "${@:2}"; }

counter() { "$HARMONY_BIN" status --json | jq -r ".statistics.counters.$1"; }
fallbacks() { "$HARMONY_BIN" status --json | jq -r '.statistics.fallbacks | add'; }
round_comes() { local before; before=$(counter rounds); cluster_until 60 later_round "$before" || fail "no planning round"; }
later_round() { [ "$(counter rounds)" -gt "$1" ]; }
state_of() { job_field "$1" JobState; }

# planned_start JOB [TIMES]: it started by plan so often, on the planned nodes, and was never left to stock.
planned_start() {
  local lines nodes
  cluster_until 20 in_log "JobId=$1: plan of round" || fail "job $1 did not start by plan: $(grep -F "JobId=$1" "$cluster_dir/log/slurmctld.log")"
  lines=$(grep -oE "harmony: JobId=$1: plan of round .*" "$cluster_dir/log/slurmctld.log")
  same "starts of job $1 by plan" "${2:-1}" "$(wc -l <<<"$lines")"
  nodes=$(tail -n 1 <<<"$lines" | sed 's/.*: //' | tr ',' '\n' | cut -d= -f1 | sort | paste -sd,)
  same "nodes of job $1" "$nodes" "$(scontrol show hostnames "$(job_field "$1" NodeList)" | sort | paste -sd,)"
  same "times job $1 was left to stock" 0 "$(logged_times "JobId=$1: .*using stock selection")"
}

# left_to_stock JOB CAUSE: the log says so, and why, once.
left_to_stock() {
  logged "harmony: JobId=$1: .+ \($2\); using stock selection"
  same "lines about job $1" 1 "$(logged_times "harmony: JobId=$1: .*using stock selection")"
}

allocation() { timeout 10 scontrol -d show job "$1" | grep -E '^ *(Nodes|NumNodes|TRES)='; }

back() {
  _alive "$1" || cluster_start_node "$1"
  cluster_until 10 _alive "$1" || echo "slurmd of $1 is not there"
  timeout 10 scontrol update NodeName="$1" State=RESUME 2>/dev/null || true # a node that came back by itself has nothing to resume
}

# Each promise begins in mode enforce with the usual settings and four idle nodes.
leave_no_jobs() {
  cluster_cancel_jobs
  timeout 10 scontrol delete ReservationName=soon >/dev/null 2>&1
  rm -f "$live_tmp/slow_epilog"
  for node in n0 n1 n2 n3; do ! timeout 10 sinfo -h -n "$node" -t down,drain -o %N | grep -q . || back "$node"; done
  [ "$(status_fact HarmonyMode) $(status_fact HarmonySched)" = "enforce loaded" ] || { cluster_use enforce; cluster_restart_ctld; }
  cluster_wait_idle || echo "only $(cluster_idle_count) nodes are idle"
}

enforcing_cluster() {
  printf '#!/bin/sh\n[ ! -e %s ] || sleep 2\n' "$live_tmp/slow_epilog" >"$live_tmp/epilog"
  chmod 755 "$live_tmp/epilog"
  cluster_setup "$live_tmp/c0" --nodes 4 --overlay "$HARMONY_OVERLAY" --mode enforce \
    --scheduler-parameters bf_interval=2,sched_interval=1,batch_sched_delay=0,bf_continue --extra "
Epilog=$live_tmp/epilog
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
PartitionName=narrow Nodes=ALL PriorityTier=1 PreemptMode=OFF MaxCPUsPerNode=4"
  printf 'optional %s/harmony_spank.so synthetic=servers6\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
  settings "$usual"
  cluster_start
  cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
}
