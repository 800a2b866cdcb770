# What a node sees of its steps reaches slurmctld: watched by a process that is not of the job's, sent at the step's end.
. "$(dirname "$0")/lib.sh"

: "${HARMONY_BUILD:?run it through tests/live/run}"
stand_in=${HARMONY_NVML_STAND_IN:-$HARMONY_BUILD/tests/nvml/.libs}

# spank ARGUMENT...: what stands behind harmony_spank.so from now on; slurmstepd reads it for each step.
spank() { echo "optional $HARMONY_OVERLAY/harmony_spank.so nopublish $*" >"$cluster_dir/etc/plugstack.conf"; }

extra_of() { timeout 10 scontrol show node "$1" | sed -n 's/^ *Extra=//p'; }

# marks NODE PATTERN: the marks in its Extra that match.
marks() { extra_of "$1" | tr ' ' '\n' | grep -E "^harmony-usage\[.*$2.*\]\$"; }

# figure NAME MARK: such as cpu.
figure() { sed -E "s/.*[;[]$1=([^];]*).*/\1/" <<<"$2"; }

# step NODE COMMAND...: a step there, of a described job; what it prints is its output.
step() { local node=$1; shift; timeout 60 srun -Q -w "$node" --harmony-type=resnet50 "$@"; }

# The ids of the watchers of this cluster's steps.
watchers() {
  local file
  for file in $(grep -laFs "$HARMONY_BIN" /proc/[0-9]*/cmdline); do
    ! tr '\0' ' ' 2>/dev/null <"$file" | grep -q "^$HARMONY_BIN observe " ||
      ! tr '\0' '\n' 2>/dev/null <"${file%/*}/environ" | grep -qxF "SLURM_CONF=$SLURM_CONF" || echo "$file" | cut -d/ -f3
  done
}
no_watchers() { [ -z "$(watchers)" ]; }
a_watcher() { [ -n "$(watchers)" ]; }
_marked() { [ -n "$(marks "$1" "$2")" ]; }
marked() { cluster_until "${3:-10}" _marked "$1" "$2" || fail "no mark like $2 in the Extra of $1: $(extra_of "$1")"; }

# Works for so many seconds, and then says how many seconds of CPU time it and its children used in all.
cat >"$live_tmp/burn" <<'END'
end=$((SECONDS + $1))
while [ $SECONDS -lt $end ]; do (for i in {1..20000}; do :; done); done
awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13 + $14 + $15) / ticks }' /proc/$$/stat
echo $SLURM_JOB_ID
END
chmod 755 "$live_tmp/burn"

a_step_is_seen_with_the_cpu_time_it_used() {
  local used job mark
  { read -r used; read -r job; } < <(step n0 bash "$live_tmp/burn" 4)
  marked n0 "job=$job;step=0;"
  mark=$(marks n0 "job=$job;")
  awk "BEGIN { seen = $(figure cpu "$mark") * $(figure seconds "$mark"); print \"used $used s, seen\", seen; exit !(seen > 0.85 * $used && seen < 1.15 * $used) }" ||
    fail "the task used $used s of CPU time: $mark"
  awk "BEGIN { exit !($(figure seconds "$mark") >= 3 && $(figure seconds "$mark") < 20) }" || fail "$mark"
}

the_topology_and_the_sites_text_stay() {
  local topology mark
  timeout 10 scontrol update NodeName=n0 Extra='rack=7  owner="lab 3"'
  timeout 60 "$HARMONY_BIN" topology --publish --as n0 --synthetic pcie8
  topology=$("$HARMONY_BIN" topology --synthetic pcie8 --compact)
  step n0 sleep 2.5
  marked n0 step=0
  mark=$(marks n0 step=0)
  same "Extra of n0" "rack=7  owner=\"lab 3\" $topology $mark" "$(extra_of n0)"
  says ': published' timeout 60 "$HARMONY_BIN" topology --publish --as n0 --synthetic dgx1
  same "Extra of n0" "rack=7  owner=\"lab 3\" $("$HARMONY_BIN" topology --synthetic dgx1 --compact) $mark" "$(extra_of n0)"
}

steps_that_end_together_are_all_there() {
  local job
  job=$(submit -w n0 -n 6 --harmony-type=resnet50 -o "$live_tmp/together" --wrap \
    'for i in 1 2 3 4 5 6; do srun -Q --exact -n1 sleep 3 & done; wait')
  await "$job" COMPLETED 60
  marked n0 "job=$job;step=batch;"
  same "marks of job $job" "0 1 2 3 4 5 batch" "$(marks n0 "job=$job;" | sed -E 's/.*step=([^;]*);.*/\1/' | sort | xargs)"
}

only_described_jobs_are_watched_unless_told_otherwise() {
  timeout 30 srun -Q -w n0 sleep 2.5
  same "Extra of n0" "" "$(extra_of n0)"
  spank observe=1 observe=all
  timeout 30 srun -Q -w n0 sleep 2.5
  marked n0 step=0
  spank
  timeout 10 scontrol update NodeName=n0 Extra=
  step n0 sleep 2.5
  same "Extra of n0" "" "$(extra_of n0)"
}

a_step_shorter_than_a_period_sends_nothing() {
  spank observe=30
  timeout 10 scontrol update NodeName=n0 Extra=rack=7
  step n0 sleep 1.5
  cluster_until 5 no_watchers || fail "still there: $(watchers)"
  same "Extra of n0" rack=7 "$(extra_of n0)"
}

# Tells of a running step's watcher whose parent it has, where its output goes, and whether Slurm takes it for the job's.
the_watcher_is_not_of_the_job() {
  local job watcher
  job=$(sleeper 60 -w n0 --harmony-type=resnet50)
  await "$job" RUNNING
  cluster_until 10 a_watcher || fail "nobody watches"
  watcher=$(watchers)
  cluster_until 5 eval '! grep -q slurmstepd /proc/$(awk "{ print \$4 }" /proc/'"$watcher"'/stat)/comm' || fail "it is slurmstepd's child"
  same "where its output goes" "/dev/null /dev/null" "$(readlink "/proc/$watcher/fd/1" "/proc/$watcher/fd/2" | xargs)"
  same "its priority" 19 "$(awk '{ sub(/.*\) /, ""); print $17 }' "/proc/$watcher/stat")"
  ! SLURMD_NODENAME=n0 timeout 10 scontrol listpids "$job" n0 | grep -qw "$watcher" || fail "Slurm has it among the job's processes"
  sleep 2
  timeout 10 scancel "$job"
  cluster_until 10 no_watchers || fail "still there: $(watchers)"
  marked n0 "job=$job;step=batch;"
}

# word_behind OPTION PID: of that process' command line.
word_behind() { tr '\0' '\n' <"/proc/$2/cmdline" | grep -x -A 1 -e "$1" | tail -n 1; }

_watched_by() { [ "$(watchers | wc -w)" = "$1" ]; }

the_watcher_knows_how_many_nodes_the_step_has() {
  local watcher
  submit -N 2 -w n0,n1 --harmony-type=resnet50 --wrap 'srun -Q -N 2 -n 2 sleep 60' >/dev/null
  cluster_until 20 _watched_by 3 || fail "watchers: $(watchers | xargs)"
  same "nodes of the batch script and of the step on both nodes" "0:2 0:2 batch:1" "$(for watcher in $(watchers); do
    echo "$(word_behind --step "$watcher"):$(word_behind --nodes "$watcher")"
  done | sort | xargs)"
}

# Watchers as on 8 of a step's 160 nodes, which have 8 s: that all of them draw the same 1.5 s is once in 15,000 times.
nodes_of_a_large_step_take_turns() {
  local i over pids=()
  sleep 60 &
  over=$!
  for i in 1 2 3 4 5 6 7 8; do
    { "$HARMONY_BIN" observe --job "500$i" --step 0 --pid "$over" --every 1 --node n0 --nodes 160 && date +%s.%N >"$live_tmp/sent.$i"; } &
    pids+=($!)
  done
  sleep 2.5
  kill "$over"
  wait "$over" || true
  date +%s.%N >"$live_tmp/ended"
  wait "${pids[@]}"
  sort -n "$live_tmp"/sent.[1-8] | awk -v ended="$(cat "$live_tmp/ended")" 'NR == 1 { first = $1 } { last = $1 }
    END { printf "sent %.1f to %.1f s after the end\n", first - ended, last - ended; exit !(NR == 8 && last - first > 1.5 && last - ended < 15) }'
  same "marks" "5001 5002 5003 5004 5005 5006 5007 5008" "$(marks n0 'job=50[0-9]*;' | sed -E 's/.*job=([0-9]*);.*/\1/' | sort | xargs)"
}

# Its turn is within an hour, so that it does not come while we look.
a_large_step_does_not_wait_for_its_turn() {
  cat >"$live_tmp/leash.py" <<'END'
import socket, subprocess, sys, time
ours, theirs = socket.socketpair()
watcher = subprocess.Popen(sys.argv[1:], stdin=theirs)
theirs.close()
try:
    time.sleep(2.5)
    ours.shutdown(socket.SHUT_WR)
    ours.settimeout(3)
    said = ours.recv(512)
    assert said == b"", said
    time.sleep(1)
    assert watcher.poll() is None, "it did not wait for its turn"
    watcher.terminate()
    sys.exit(watcher.wait(20))
finally:
    watcher.kill()
END
  timeout 60 python3 "$live_tmp/leash.py" "$HARMONY_BIN" observe --leash --job 4343 --step 0 --pid $$ --every 1 --node n0 --nodes 65536
  same "marks" 1 "$(marks n0 'job=4343;' | wc -l)"
}

# What one writes from what it read before the other wrote would undo it: 8 steps end while the topology changes all the time.
topology_and_usage_do_not_undo_each_other() {
  local i over pids=() profile
  sleep 60 &
  over=$!
  for i in 1 2 3 4 5 6 7 8; do
    "$HARMONY_BIN" observe --job "500$i" --step 0 --pid "$over" --every 1 --node n0 &
    pids+=($!)
  done
  sleep 2.5
  kill "$over"
  wait "$over" || true
  for i in 1 2 3 4 5 6; do
    for profile in pcie8 dgx1; do
      timeout 60 "$HARMONY_BIN" topology --publish --as n0 --synthetic "$profile" >/dev/null
      same "topology" "$("$HARMONY_BIN" topology --synthetic "$profile" --compact)" "$(extra_of n0 | tr ' ' '\n' | grep '^HM')"
    done
  done
  wait "${pids[@]}"
  same "marks" 8 "$(marks n0 'job=50[0-9]*;' | wc -l)"
  same "lock files left" "" "$(ls /run/slurm-harmony-n0.lock /run/lock/slurm-harmony-n0.lock 2>/dev/null)"
}

# cgroup_promise BASE: a watcher that is started in a job's cgroup there is in none of a job's soon after; 77 if there is no such BASE.
cgroup_promise() {
  local group=$1/harmony-live.$$ watcher=
  [[ $(stat -fc %T "$1" 2>/dev/null) == cgroup* ]] || return 77
  mkdir -p "$group/job_17/step_0" 2>/dev/null || return 77
  watcher=$(echo $BASHPID >"$group/job_17/step_0/cgroup.procs" && grep -q job_17 /proc/self/cgroup &&
    { "$HARMONY_BIN" observe --job 17 --step 0 --pid $$ --every 60 >/dev/null 2>&1 & echo $!; })
  [ -n "$watcher" ] || { rmdir "$group/job_17/step_0" "$group/job_17" "$group"; return 77; }
  cluster_until 5 eval "! grep -q job_17 /proc/$watcher/cgroup" || echo "it stayed in $1: $(cat "/proc/$watcher/cgroup")"
  kill -KILL "$watcher"
  cluster_until 5 rmdir "$group/job_17/step_0" 2>/dev/null
  rmdir "$group/job_17" "$group"
  [ "$1" != /sys/fs/cgroup/unified ] || [ ! -e /sys/fs/cgroup/cgroup.procs ] || echo "it made a file where there is no cgroup"
}

the_watcher_leaves_the_cgroups_of_the_job() {
  local base said code tried=
  for base in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/freezer; do
    code=0
    said=$(cgroup_promise "$base") || code=$?
    [ -z "$said" ] || fail "$said"
    [ "$code" = 77 ] || tried=yes
  done
  [ -n "$tried" ] || skip "no cgroup can be made here"
}

a_node_without_nvml_tells_the_rest() {
  step n0 sleep 2.5
  marked n0 step=0
  ! marks n0 gpus= || fail "GPUs out of nowhere: $(extra_of n0)"
}

# with_gpus SCENARIO: n1 is started anew, with the stand-in for NVML.
with_gpus() {
  [ -r "$stand_in/libnvidia-ml.so.1" ] || fail "no stand-in for NVML at $stand_in"
  cluster_stop_node n1
  LD_LIBRARY_PATH=$stand_in HARMONY_NVML_SCENARIO=$1 cluster_start_node n1
  cluster_wait_idle
}

gpus_are_seen_through_nvml() {
  with_gpus normal8
  step n1 sleep 4.5
  marked n1 'gpus=0:90.0:1000.0:1000.0:500.0,1:89.0:1001.0:2000.0:1000.0,.*7:83.0:1007.0::'
}

a_hanging_driver_does_not_hold_up_the_step() {
  local began
  with_gpus hang
  began=$SECONDS
  step n1 sleep 3.5
  [ $((SECONDS - began)) -lt 15 ] || fail "the step took $((SECONDS - began)) s"
  marked n1 step=0
  cluster_until 10 no_watchers || fail "still there: $(watchers)"
  ! marks n1 gpus= || fail "$(extra_of n1)"
}

the_owner_cannot_kill_the_watcher() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  local job
  job=$(timeout 20 sbatch --parsable -o /dev/null --uid=65534 --gid=65534 -D /tmp -w n0 --harmony-type=resnet50 --wrap 'sleep 2.5; kill -9 -1')
  await "$job" 'FAILED|COMPLETED|CANCELLED' 60
  marked n0 "job=$job;step=batch;"
}

a_slurmstepd_that_dies_ends_the_watch() {
  local job pid
  job=$(sleeper 60 -w n0 --harmony-type=resnet50)
  await "$job" RUNNING
  cluster_until 10 a_watcher || fail "nobody watches"
  sleep 2.5
  pid=$(word_behind --pid "$(watchers)")
  kill -KILL "$pid"
  cluster_until 10 no_watchers || fail "still there: $(watchers)"
  marked n0 "job=$job;step=batch;"
}

complaints() { grep -cE "harmony: step $1.*is not sent" "$cluster_dir/log/n0.log"; }
_complained() { [ "$(complaints "$1")" -gt 0 ]; }

# As it may be started by hand.
without_a_leash_a_signal_ends_the_watch() {
  local pid
  "$HARMONY_BIN" observe --job 4242 --step interactive --pid $$ --every 1 --node n0 &
  pid=$!
  sleep 2.5
  kill -TERM "$pid"
  wait "$pid" || fail "exit code $?"
  marked n0 'job=4242;step=interactive;'
}

wrong_options_are_refused() {
  local options code
  for options in '--job 0 --step 0 --pid 10' '--job 1 --step x --pid 10' '--job 1 --step 0 --pid 1' '--job 1 --step 0' \
    '--job 1 --step 0 --pid 10 --every 0' '--job 1 --step 0 --pid 10 --nodes 0' '--job 1 --step 0 --pid 10 --node ../n0' '--job 1 --step 0 --pid 10 --colour red'; do
    code=0
    timeout 10 "$HARMONY_BIN" observe $options 2>/dev/null || code=$?
    same "exit code of $options" 2 "$code"
  done
}

a_watcher_that_does_not_answer_does_not_hold_up_the_step() {
  local job watcher
  rm -f "$live_tmp/over"
  job=$(waiter "$live_tmp/over" -w n0 --harmony-type=resnet50)
  await "$job" RUNNING
  cluster_until 10 a_watcher || fail "nobody watches"
  watcher=$(watchers)
  sleep 2
  kill -STOP "$watcher"
  touch "$live_tmp/over"
  await "$job" COMPLETED 30
  kill -CONT "$watcher"
  marked n0 "job=$job;step=batch;"
  same "lines about it" 1 "$(complaints "$job.batch")"
}

without_slurmctld_the_step_ends_and_one_line_says_so() {
  local job
  rm -f "$live_tmp/over"
  job=$(waiter "$live_tmp/over" -w n0 --harmony-type=resnet50)
  await "$job" RUNNING
  sleep 1.5
  cluster_stop_ctld
  touch "$live_tmp/over"
  cluster_until 8 _complained "$job.batch" || fail "no line: $(tail -n 3 "$cluster_dir/log/n0.log")"
  cluster_start_ctld
  await "$job" COMPLETED 60
  marked n0 "job=$job;step=batch;" 60
  same "lines about it" 1 "$(complaints "$job.batch")"
}

a_wrong_argument_is_named_and_nothing_is_watched() {
  local word
  for word in observe=0 observe=3601 observe=1s observe=none observed; do
    spank "$word"
    cluster_stop_node n0
    cluster_start_node n0
    cluster_until 10 grep -q "harmony: plugstack.conf: argument $word is none of .*observe=SECONDS.*not publishing and not observing" "$cluster_dir/log/n0.log" ||
      fail "$word: $(tail -n 3 "$cluster_dir/log/n0.log")"
  done
  cluster_wait_idle
  step n0 sleep 1.5
  same "Extra of n0" "" "$(extra_of n0)"
}

# Each promise begins with empty fields, so that no mark of another is taken for its own.
leave_no_jobs() {
  cluster_cancel_jobs
  cluster_until 30 no_watchers || true
  spank observe=1
  timeout 10 scontrol update NodeName=n[0-1] Extra=
}

live_cluster --topology pcie8 --nodes 2
spank observe=1
keep a_step_is_seen_with_the_cpu_time_it_used the_topology_and_the_sites_text_stay steps_that_end_together_are_all_there \
  only_described_jobs_are_watched_unless_told_otherwise a_step_shorter_than_a_period_sends_nothing the_watcher_is_not_of_the_job \
  the_watcher_knows_how_many_nodes_the_step_has nodes_of_a_large_step_take_turns a_large_step_does_not_wait_for_its_turn \
  topology_and_usage_do_not_undo_each_other the_watcher_leaves_the_cgroups_of_the_job \
  a_node_without_nvml_tells_the_rest gpus_are_seen_through_nvml a_hanging_driver_does_not_hold_up_the_step \
  the_owner_cannot_kill_the_watcher a_slurmstepd_that_dies_ends_the_watch without_slurmctld_the_step_ends_and_one_line_says_so \
  without_a_leash_a_signal_ends_the_watch wrong_options_are_refused a_watcher_that_does_not_answer_does_not_hold_up_the_step \
  a_wrong_argument_is_named_and_nothing_is_watched
