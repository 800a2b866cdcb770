# Clients are as fast as with stock: every Slurm command loads the select overlay, so it has to be next to nothing.
. "$(dirname "$0")/lib.sh"

# Microseconds that a command took, with $SLURM_CONF as it is. Both sides ask the same slurmctld: what differs is the client.
took() {
  local start end
  start=${EPOCHREALTIME/./}
  "$@" >/dev/null || exit 1
  end=${EPOCHREALTIME/./}
  echo $((end - start))
}

median() { sort -n "$1" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }

# compare COMMAND...: medians of 150 runs with each configuration, in turns, so that whatever else the machine does meets both.
compare() {
  local run overlay stock
  : >"$live_tmp/overlay.us"
  : >"$live_tmp/stock.us"
  for run in $(seq 150); do
    SLURM_CONF=$overlay_conf took "$@" >>"$live_tmp/overlay.us"
    SLURM_CONF=$stock_conf took "$@" >>"$live_tmp/stock.us"
  done
  overlay=$(median "$live_tmp/overlay.us") stock=$(median "$live_tmp/stock.us")
  echo "$*: overlay $overlay us, stock $stock us, ratio $(awk "BEGIN { printf \"%.3f\", $overlay / $stock }")"
  [ $((overlay * 100)) -le $((stock * 110)) ]
}

# Three tries: on a busy machine a median of 150 can still be off.
as_fast_as_stock() { compare "$@" || compare "$@" || compare "$@"; }

squeue_is_as_fast_as_stock() { as_fast_as_stock squeue; }
sinfo_is_as_fast_as_stock() { as_fast_as_stock sinfo; }
scontrol_show_job_is_as_fast_as_stock() { as_fast_as_stock scontrol show job; }

leave_no_jobs() { :; } # the queue is what the clients show

live_cluster --nodes 2
overlay_conf=$SLURM_CONF stock_conf=$(cluster_client_conf "$live_tmp")
for ((job = 0; job < 20; job++)); do sleeper 300 -N 2 --exclusive >/dev/null; done
keep squeue_is_as_fast_as_stock sinfo_is_as_fast_as_stock scontrol_show_job_is_as_fast_as_stock
