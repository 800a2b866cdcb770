# Starting and stopping a cluster's daemons, each by the pid it wrote. Sourced.

_pid() { cat "$cluster_dir/run/$1.pid" 2>/dev/null; }

# A pid file outlives its daemon, and pids are used again: ours is a process that has the cluster's directory open.
_alive() { local pid; pid=$(_pid "$1") && [ -n "$pid" ] && _belongs "$pid"; }

_belongs() {
  [ -e "/proc/$1/stat" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null || return 1
  grep -aqF "$cluster_dir/" "/proc/$1/cmdline" "/proc/$1/environ" 2>/dev/null && return 0
  [ -n "$(find "/proc/$1/cwd" "/proc/$1/fd" -lname "$cluster_dir/*" -print -quit 2>/dev/null)" ]
}

# cluster_until SECONDS COMMAND...: true as soon as COMMAND is, false after SECONDS.
cluster_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

_gone() { ! _alive "$1"; }

_stop_daemon() { # NAME SIGNAL
  local pid
  _alive "$1" || return 0
  pid=$(_pid "$1")
  kill "-$2" "$pid" 2>/dev/null || return 0
  cluster_until 20 _gone "$1" || { kill -KILL "$pid" 2>/dev/null; cluster_until 5 _gone "$1"; }
}

cluster_start_munged() {
  [ -s "$cluster_dir/etc/munge.key" ] || (umask 077; head -c 1024 /dev/urandom >"$cluster_dir/etc/munge.key")
  /usr/sbin/munged --force --key-file="$cluster_dir/etc/munge.key" --socket="$cluster_dir/run/munge.socket" \
    --pid-file="$cluster_dir/run/munged.pid" --log-file="$cluster_dir/log/munged.log" \
    --seed-file="$cluster_dir/run/munged.seed" </dev/null >/dev/null 2>>"$cluster_dir/log/munged.err"
}

cluster_ctld_answers() { timeout 5 scontrol ping >/dev/null 2>&1; }

_launch_ctld() {
  _alive slurmctld || rm -f "$cluster_dir/run/slurmctld.pid"
  slurmctld -f "$SLURM_CONF" </dev/null >/dev/null 2>>"$cluster_dir/log/slurmctld.err" &&
    cluster_until 60 _ctld_or_dead && cluster_ctld_answers
}
_ctld_or_dead() { cluster_ctld_answers || { [ -s "$cluster_dir/run/slurmctld.pid" ] && ! _alive slurmctld; }; }

cluster_log_tail() { tail -n 15 "$cluster_dir/log/slurmctld.err" "$cluster_dir/log/slurmctld.log" 2>/dev/null; }

_ports_taken() { grep -q 'Address already in use' "$cluster_dir"/log/slurmctld.{log,err} 2>/dev/null; }

# Starts slurmctld; if another process has its ports, draws others first (no daemon of the cluster runs yet then).
_start_ctld_on_some_ports() {
  local tries
  for tries in 1 2 3 4 5; do
    _launch_ctld && return 0
    _ports_taken || return 1
    : >"$cluster_dir/log/slurmctld.log"; : >"$cluster_dir/log/slurmctld.err"
    cluster_draw_ports
    cluster_save
    cluster_write_conf
  done
  return 1
}

cluster_start_ctld() {
  _launch_ctld || { cluster_log_tail >&2; cluster_die "slurmctld did not start; logs are in $cluster_dir/log"; }
}

cluster_stop_ctld() { _stop_daemon slurmctld TERM; }

cluster_kill_ctld() { _stop_daemon slurmctld KILL; }

cluster_restart_ctld() { cluster_stop_ctld && cluster_start_ctld; }

cluster_start_node() { # NODE
  mkdir -p "$cluster_dir/spool/$1"
  SLURMD_NODENAME='' slurmd -f "$SLURM_CONF" -N "$1" </dev/null >/dev/null 2>>"$cluster_dir/log/$1.err" ||
    cluster_die "slurmd of $1 did not start: $(grep -h error "$cluster_dir/log/$1.log" "$cluster_dir/log/$1.err" | tail -n 3)"
}

cluster_stop_node() { _stop_daemon "$1" TERM; }

cluster_kill_node() { _stop_daemon "$1" KILL; }

# One more node, at the end of the list: slurmctld learns of it by a restart, as slurm.conf(5) demands.
cluster_add_node() {
  cluster_nodes=$((cluster_nodes + 1))
  [ "$cluster_nodes" -le 100 ] || cluster_die "a cluster has at most 100 real nodes; use --played for more"
  cluster_save
  cluster_write_nodes
  cluster_restart_ctld
  cluster_start_node "n$((cluster_nodes - 1))"
}

_start_played() {
  [ "$cluster_played" != 0 ] || return 0
  [ -x "$cluster_player" ] || cluster_die "played nodes need $cluster_player; build it with make check TESTS="
  "$cluster_player" --pid-file "$cluster_dir/run/played.pid" --log-file "$cluster_dir/log/played.log" \
    "p[0-$((cluster_played - 1))]" </dev/null >/dev/null 2>>"$cluster_dir/log/played.err" ||
    cluster_die "the played nodes did not start; logs are in $cluster_dir/log"
}

cluster_start() {
  local index
  _alive munged || cluster_start_munged || cluster_die "munged did not start: $(tail -n 3 "$cluster_dir/log/munged.err")"
  _start_ctld_on_some_ports ||
    { cluster_log_tail >&2; cluster_die "slurmctld did not start; logs are in $cluster_dir/log"; }
  for ((index = 0; index < cluster_nodes; index++)); do cluster_start_node "n$index"; done
  _start_played
}

cluster_idle_count() { timeout 10 sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l; }

cluster_has_idle() { [ "$(cluster_idle_count)" -ge "$1" ]; }

# cluster_wait_idle [COUNT [SECONDS]]: until that many nodes are idle; all within 30 s by default.
cluster_wait_idle() { cluster_until "${2:-30}" cluster_has_idle "${1:-$((cluster_nodes + cluster_played))}"; }

# Whatever is left of the cluster: daemons, job steps that outlived their slurmd, and tasks that outlived their step.
_remains() {
  local proc pid
  for proc in /proc/[0-9]*; do
    pid=${proc#/proc/}
    case "$(tr '\0' ' ' 2>/dev/null <"$proc/cmdline")" in
    *slurmstepd* | *slurm_script* | *slurmd* | *slurmctld* | *munged* | *played-nodes*) ;;
    *) grep -aqz '^SLURM_JOB_ID=' "$proc/environ" 2>/dev/null || continue ;;
    esac
    ! _belongs "$pid" || echo "$pid"
  done
}

# Every daemon but munged, which the others need to say good-bye.
_daemons() { local file; for file in "$cluster_dir"/run/*.pid; do file=${file##*/}; echo "${file%.pid}"; done | grep -vxF -e munged -e '*'; }

_running_daemons() { local name; for name in $(_daemons); do ! _alive "$name" || echo "$name"; done; }

_none_running() { [ -z "$(_running_daemons)" ]; }

cluster_cancel_jobs() {
  local jobs
  _alive slurmctld && jobs=$(timeout 5 squeue -h -o %i 2>/dev/null) && [ -n "$jobs" ] || return 0
  timeout 10 scancel --quiet $jobs 2>/dev/null
  cluster_until 5 cluster_queue_empty || true
}

cluster_stop() {
  local name pid
  cluster_cancel_jobs
  for name in $(_running_daemons); do kill -TERM "$(_pid "$name")" 2>/dev/null || true; done
  cluster_until 20 _none_running || true
  for name in $(_running_daemons); do kill -KILL "$(_pid "$name")" 2>/dev/null || true; done
  for pid in $(_remains); do kill -KILL "$pid" 2>/dev/null || true; done
  _stop_daemon munged TERM
}

cluster_queue_empty() { [ -z "$(timeout 5 squeue -h -o %i 2>/dev/null)" ]; }
