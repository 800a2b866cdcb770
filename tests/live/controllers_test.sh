# A backup controller takes over with the overlay in it, and gives back. Two slurmctlds on one machine need a host name
# and an address each: namespaces of their own, which only root may make.
. "$(dirname "$0")/lib.sh"

# Starts slurmctld where the host is called NAME, the cluster's host names resolve, and the directory of the pid file is
# its own: a slurmctld ends whoever its pid file names.
start_controller() { # NAME
  mkdir -p "$live_tmp/$1"
  (exec unshare --uts --mount bash -c '
    hostname "$0" && mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/$0" "$1/pid" && exec slurmctld -D -f "$2"' \
    "$1" "$live_tmp" "$SLURM_CONF" </dev/null >>"$live_tmp/$1.out" 2>&1) &
  echo $! >"$cluster_dir/run/$1.pid"
  disown
}

primary_answers() { [[ $(timeout 5 scontrol ping 2>/dev/null) == *'primary) at ctl1 is UP'* ]]; }
backup_answers() { [[ $(timeout 5 scontrol ping 2>/dev/null) == *') at ctl2 is UP'* ]]; }
backup_rules() { [ "$(timeout 10 sinfo -h -o %D 2>/dev/null)" ] && ! primary_answers; }

two_controllers() {
  mkdir -p "$live_tmp/pid"
  printf '127.0.0.1 localhost\n%s ctl1\n%s ctl2\n' "${cluster_played_addr%.2}.11" "${cluster_played_addr%.2}.12" >"$live_tmp/hosts"
  sed -i "s/^SlurmctldHost=.*/SlurmctldHost=ctl1(${cluster_played_addr%.2}.11)\nSlurmctldHost=ctl2(${cluster_played_addr%.2}.12)/
    s/^SlurmctldTimeout=.*/SlurmctldTimeout=2/
    s,^SlurmctldPidFile=.*,SlurmctldPidFile=$live_tmp/pid/slurmctld.pid,
    \$a CommunicationParameters=NoCtldInAddrAny" "$SLURM_CONF"
}

a_backup_takes_over_a_running_job_and_hands_it_back() {
  local job after
  job=$(waiter "$live_tmp/go" --gpus=1)
  await "$job" RUNNING
  overlay_is_loaded
  cluster_until 20 backup_answers || fail "the backup controller is not up: $(scontrol ping)"
  sleep 6 # slurmctld saves its state up to 5 s after a change
  kill -KILL "$(cat "$cluster_dir/run/ctl1.pid")"
  cluster_until 60 backup_rules || fail "the backup did not take over: $(tail -n 5 "$live_tmp/ctl2.out")"
  overlay_is_loaded
  same "state under the backup" RUNNING "$(job_field "$job" JobState)"
  after=$(sleeper 0.1 --gpus=1)
  await "$after" COMPLETED 60
  start_controller ctl1
  cluster_until 30 primary_answers || fail "the primary did not come back"
  overlay_is_loaded
  same "state under the primary again" RUNNING "$(job_field "$job" JobState)"
  touch "$live_tmp/go"
  await "$job" COMPLETED 60
}

# Only backfill starts a hetjob; and only a fresh copy of it runs when a slurmctld takes charge for the second time.
backfill_runs_when_the_backup_takes_over_a_second_time() {
  local job
  cluster_until 20 backup_answers || fail "the backup controller is not up: $(scontrol ping)"
  kill -KILL "$(cat "$cluster_dir/run/ctl1.pid")"
  cluster_until 60 backup_rules || fail "the backup did not take over again: $(tail -n 5 "$live_tmp/ctl2.out")"
  job=$(sleeper 0.1 -n 1 --gpus=1 : -n 1)
  await "$job" COMPLETED 120 # backfill comes every 30 s
}

if [ "$(id -u)" != 0 ] || ! unshare --uts --mount true 2>/dev/null; then
  a_backup_takes_over_a_running_job_and_hands_it_back() { skip "namespaces of their own need root"; }
  backfill_runs_when_the_backup_takes_over_a_second_time() { skip "namespaces of their own need root"; }
else
  cluster_setup "$live_tmp/c0" --nodes 2 --overlay "$HARMONY_OVERLAY" --mode enforce
  two_controllers
  cluster_start_munged
  start_controller ctl1
  cluster_until 20 primary_answers || { cat "$live_tmp/ctl1.out"; cluster_die "the primary did not start"; }
  start_controller ctl2
  for node in n0 n1; do cluster_start_node "$node"; done
  cluster_wait_idle || cluster_die "the nodes are not idle"
fi
keep a_backup_takes_over_a_running_job_and_hands_it_back backfill_runs_when_the_backup_takes_over_a_second_time
