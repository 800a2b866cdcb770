# What planning costs slurmctld on 2,000 played nodes with 1,000 pending gangs: its own scheduler cycles against stock's, in turns
# on one cluster, and our part of them. Sourced by tests/bench/run.

# A full cluster: 100 jobs of 20 nodes each that outlast the measurement, and 1,000 gangs that wait.
fill_cluster() {
  timeout 60 sbatch -Q -o /dev/null --array=1-100 -N 20 --exclusive -t 120 --wrap 'sleep 7200' >/dev/null
  cluster_until 60 running_jobs 100 || cluster_die "only $(squeue -h -t R | wc -l) of 100 jobs started"
  export -f submit_gang
  seq 1000 | xargs -P 4 -n 1 bash -c 'submit_gang "$1"' gang >/dev/null
}

running_jobs() { [ "$(squeue -h -t R | wc -l)" -ge "$1" ]; }

submit_gang() { # NUMBER: of three sizes, in turns
  timeout 60 sbatch -Q -o /dev/null -t 30 --harmony-type=vgg16 --harmony-ps=$(($1 % 2)) -n $((2 + 4 * ($1 % 3) + $1 % 2)) -c 2 \
    --gpus=$((2 + 4 * ($1 % 3))) --wrap 'sleep 1'
}

# The mean cycles of the main scheduler and of backfill since the last reset, in microseconds.
mean_cycles() { sdiag | awk '/Mean cycle:/ { printf "%s ", $3 }'; }

# cycles_of MODE: what 20 s in this mode took, once slurmctld has settled down after its start.
cycles_of() {
  { cluster_use "$1" && cluster_restart_ctld && cluster_until 30 timeout 5 scontrol ping && sleep 6; } >/dev/null 2>&1
  [ "$1" = stock ] || "$build/stage/bin/harmony" status --reset
  timeout 20 sdiag -r >/dev/null && sleep 20 && mean_cycles
}

statistic() { "$build/stage/bin/harmony" status --json | jq -r ".statistics.times.$1"; }

bench_cycles() {
  local run main=() backfill=() stock_main=() stock_backfill=() m b
  cluster_setup "$bench_tmp/c3" --overlay "$HARMONY_OVERLAY" --mode enforce --nodes 0 --played 2000 --topology pcie8 \
    --scheduler-parameters 'bf_interval=2,sched_interval=2,bf_continue,bf_max_job_test=1000,default_queue_depth=1000'
  printf 'optional %s/harmony_spank.so nopublish\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
  start_and_wait && fill_cluster
  for run in 1 2 3; do
    read -r m b <<<"$(cycles_of enforce)" && main+=("$m") && backfill+=("$b")
    [ "$run" != 3 ] || bench_our_part
    read -r m b <<<"$(cycles_of stock)" && stock_main+=("$m") && stock_backfill+=("$b")
  done
  ratio_row 'main scheduler cycle against stock, 2,000 nodes, 1,000 pending' main stock_main
  ratio_row 'backfill cycle against stock, the same' backfill stock_backfill
  (cluster_stop)
}

bench_our_part() {
  row 'locks held for a snapshot, mean, 2,000 nodes, 1,100 jobs' "$(statistic 'lock.mean_us | round') us" '<= 1000 us'
  row 'the same, the longest' "$(statistic 'lock.max_us | round') us" ''
  row 'job_test added by us, mean, the same' "$(statistic 'job_test.mean_us | round') us" '<= 20 us'
  row "the same, p99 of $(statistic job_test.count)" "$(statistic 'job_test.p99_us | round') us" '<= 20 us'
  row 'a planning round, mean, the same' "$(statistic 'round.mean_us | round') us" 'without locks'
}

ratio_row() { # NAME OURS STOCK: of the medians of two arrays
  local -n ours=$2 stock=$3
  row "$1" "$(awk "BEGIN { printf \"%.3f\", $(printf '%s\n' "${ours[@]}" | median) / $(printf '%s\n' "${stock[@]}" | median) }")" '<= 1.05'
}
