# The cluster that SchedMD's tests want, and its state between two tests. Sourced; needs $here, $tmp and say.sh.
# shellcheck shell=bash disable=SC1091,SC2154

. "$here/../cluster/lib/cluster.sh"

# Found by trying which settings let the most tests pass on stock. The harness adds the overlay's mode to the first.
compat_scheduler='bf_interval=2,sched_interval=2,sched_min_interval=10000,batch_sched_delay=0,bf_continue'
compat_extra='PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
AllowSpecResourcesUsage=yes
PartitionName=second Nodes=ALL MaxTime=INFINITE State=UP'

compat_cluster_start() {
  cluster_setup "$tmp/cluster" --topology compat --scheduler-parameters "$compat_scheduler" --extra "$compat_extra"
  chmod 755 "$tmp"
  cp "$SLURM_CONF" "$tmp/slurm.conf"
  cluster_start
}

compat_cluster_stop() {
  [ ! -s "$tmp/cluster/settings" ] || (cluster_load "$tmp/cluster" && cluster_stop)
}

# compat_cluster_take stock | overlay: restarts slurmctld with those plugins, and makes sure that it has them, because
# Slurm falls back to stock without a word.
compat_cluster_take() {
  local status wanted
  case $1 in
  stock) cluster_use stock; wanted=3 ;;
  # Every job with GPUs is planned: the tests know nothing of us, and must not notice.
  overlay) cluster_use enforce; printf 'Manage=gpu\nMaxWait=0\n' >"$cluster_dir/etc/harmony.conf"; wanted=0 ;;
  esac
  cluster_restart_ctld
  cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
  "$HARMONY_BIN" status >"$tmp/status" 2>&1
  status=$?
  [ "$status" = "$wanted" ] ||
    die "before the $1 pass 'harmony status' should exit with $wanted, not with $status:" "$(cat "$tmp/status")"
}

# compat_ctld_survived: true if slurmctld still answers; otherwise starts it for the tests to come.
compat_ctld_survived() {
  cluster_until 20 cluster_ctld_answers && return 0
  cluster_restart_ctld
  return 1
}

# What a failed test leaves behind must not fail the next one.
compat_cluster_tidy() {
  _restore_conf
  cluster_until 5 cluster_queue_empty || cluster_cancel_jobs
  _delete_reservations
  cluster_wait_idle "$cluster_nodes" 20 || timeout 10 scontrol update NodeName=ALL State=RESUME
  cluster_until 60 _at_rest || die "the cluster does not come to rest after a test:" "$(timeout 10 sinfo -N; timeout 10 squeue)"
}

_at_rest() { cluster_queue_empty && cluster_has_idle "$cluster_nodes"; }

# Some tests edit slurm.conf, and leave it so when they fail.
_restore_conf() {
  cmp -s "$tmp/slurm.conf" "$SLURM_CONF" || { cp "$tmp/slurm.conf" "$SLURM_CONF" && timeout 20 scontrol reconfigure; }
}

_delete_reservations() {
  local name
  for name in $(timeout 10 scontrol -o show reservation 2>/dev/null | sed -n 's/^ReservationName=\([^ ]*\).*/\1/p'); do
    timeout 10 scontrol delete "ReservationName=$name"
  done
}
