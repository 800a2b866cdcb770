# Where stock starts a planned job in another way than the plan says, its choice stands, and one line says so.
. "$(dirname "$0")/lib.sh"

managed() { sleeper 60 --harmony-type=vgg16 "$@"; }

# stands JOB WHY CAUSE: exactly one line.
stands() {
  logged "harmony: JobId=$1: $2 \($3\); the stock choice stands$"
  same "lines about job $1" 1 "$(logged_times "harmony: JobId=$1: .*the stock choice stands")"
  same "count of $3" "$4" "$("$HARMONY_BIN" status --json | jq -r ".statistics.fallbacks.$3")"
  says "\($3\)$" timeout 20 "$HARMONY_BIN" explain "$1"
}

# Two tasks share a core here, so that cores alone do not fix how many tasks a node gets.
tasks_that_stock_spreads_in_another_way_stay_where_they_are() {
  local first job
  first=$(managed -w n0 -n 1 --gpus=1); await "$first" RUNNING
  job=$(submit -o "$live_tmp/plan" --harmony-type=vgg16 -n 3 --gpus=3 --wrap 'echo "plan ${HARMONY_PLAN-none}"; sleep 60'); await "$job" RUNNING
  stands "$job" '. tasks on n. where . are planned' other_tasks 1
  cluster_until 20 grep -qx 'plan none' "$live_tmp/plan" || fail "the job is told of a plan that does not hold: $(cat "$live_tmp/plan")"
  same "GPUs that the job has" 3 "$(timeout 10 scontrol -d show job "$job" | awk '/ GRES=gpu/ { sub(/.*GRES=gpu:/, ""); n += $0 + 0 } END { print n }')"
}

live_cluster --nodes 2 --topology compat --mode enforce --scheduler-parameters bf_interval=2,sched_interval=1
printf 'optional %s/harmony_spank.so nopublish\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
printf 'Policy=spread\n' >"$cluster_dir/etc/harmony.conf"
timeout 20 scontrol reconfigure
keep tasks_that_stock_spreads_in_another_way_stay_where_they_are
