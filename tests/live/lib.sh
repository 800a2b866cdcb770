# What a live test is made of. A test file sources this, defines promises as functions, sets up a cluster
# with live_cluster, and ends with: keep PROMISE...
# Each promise is a sentence about behaviour; each runs in a subshell where any failing command fails it.
# Environment: HARMONY_OVERLAY (the overlay's directory), HARMONY_BIN (the harmony command), HARMONY_PLAYER.

: "${HARMONY_OVERLAY:?run it through tests/live/run}" "${HARMONY_BIN:?run it through tests/live/run}"
. "$(dirname "${BASH_SOURCE[0]}")/../cluster/lib/cluster.sh"
set -uo pipefail

live_passed=0 live_failed=0 live_skipped=0
live_name=$(basename "$0" .sh)
live_tmp=$(mktemp -d "${TMPDIR:-/tmp}/harmony-live.XXXXXX")
chmod 755 "$live_tmp" # other users have parts in some tests
live_elsewhere=()      # directories of the test that cannot be below it

live_end() {
  local status=$?
  trap - EXIT INT TERM
  for live_cluster_dir in "$live_tmp"/c*; do
    [ ! -s "$live_cluster_dir/settings" ] || (cluster_load "$live_cluster_dir" && cluster_stop)
  done
  if [ "$live_failed" != 0 ] && [ -n "${HARMONY_KEEP_LOGS:-}" ]; then
    mkdir -p "$HARMONY_KEEP_LOGS" && rm -rf "$HARMONY_KEEP_LOGS/$live_name" && cp -r "$live_tmp" "$HARMONY_KEEP_LOGS/$live_name" 2>/dev/null
  fi
  rm -rf "$live_tmp" "${live_elsewhere[@]}"
  exit "$status"
}
trap live_end EXIT
trap 'exit 130' INT TERM

# live_cluster [OPTION...]: sets up and starts a cluster (options of cluster_setup), the overlay in mode shadow unless told otherwise.
live_cluster() {
  local number
  number=$(find "$live_tmp" -maxdepth 1 -name 'c*' | wc -l)
  cluster_setup "$live_tmp/c$number" --overlay "$HARMONY_OVERLAY" --mode shadow "$@"
  cluster_start
  cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
}

live_close() {
  echo "$live_name: $live_passed passed, $live_failed failed, $live_skipped skipped"
  [ "$live_failed" = 0 ] && [ "$((live_passed + live_skipped))" -gt 0 ]
  exit
}

# keep PROMISE...: runs each and prints whether it was kept.
keep() {
  local promise status started
  for promise; do
    started=$SECONDS
    (set -e; "$promise") >"$live_tmp/out" 2>&1
    status=$?
    case $status in
    0) live_passed=$((live_passed + 1)); echo "ok       $live_name: ${promise//_/ } ($((SECONDS - started)) s)"; sed "s/^/         /" "$live_tmp/out" ;;
    77) live_skipped=$((live_skipped + 1)); echo "skipped  $live_name: ${promise//_/ }: $(tail -n 1 "$live_tmp/out")" ;;
    *) live_failed=$((live_failed + 1)); echo "FAILED   $live_name: ${promise//_/ }"; sed 's/^/    /' "$live_tmp/out" ;;
    esac
    leave_no_jobs
  done
  live_close
}

leave_no_jobs() { cluster_cancel_jobs; }

# nobody_reaches DIR: whether an ordinary user could work there; a checkout in /root, say, is out of reach.
nobody_reaches() { setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$1/README" -a -x "$1" 2>/dev/null; }

skip() { echo "$*"; exit 77; }

fail() { echo "$*"; exit 1; }

same() { # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# says PATTERN COMMAND...: COMMAND succeeds, and what it prints has a line like PATTERN.
says() {
  local pattern=$1 text
  shift
  text=$("$@" 2>&1) || fail "'$*' failed: $text"
  grep -qE -- "$pattern" <<<"$text" || fail "'$*' does not say '$pattern': $text"
}

# submit OPTION...: a batch job; prints its id. Output goes nowhere unless told.
submit() { timeout 20 sbatch --parsable -o /dev/null "$@"; }

# waiter FILE OPTION...: a batch job that runs until FILE is there, however slow the day is; prints its id.
waiter() { local file=$1; shift; submit "$@" --wrap "until [ -e $file ]; do sleep 0.2; done; echo done"; }

# sleeper SECONDS OPTION...: a batch job that sleeps; prints its id.
sleeper() { local seconds=$1; shift; submit "$@" --wrap "sleep $seconds"; }

job_field() { timeout 10 scontrol -o -d show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

_in_state() { local state; state=$(job_field "$1" JobState); [[ "|$2|" == *"|$state|"* ]]; }

# await JOB STATE[|STATE] [SECONDS]. A job that comes right after a restart may have to wait for backfill, which looks every
# 30 s by itself.
await() {
  cluster_until "${3:-100}" _in_state "$1" "$2" ||
    fail "job $1: expected $2 within ${3:-100} s, is $(job_field "$1" JobState) ($(job_field "$1" Reason))"
}

in_log() { grep -qE -- "$1" "$cluster_dir/log/slurmctld.log"; }

# logged PATTERN: slurmctld's log has it, or gets it soon.
logged() { cluster_until 10 in_log "$1" || fail "slurmctld.log has no line like: $1
$(grep harmony "$cluster_dir/log/slurmctld.log" | tail -n 5)"; }

logged_times() { grep -cE -- "$1" "$cluster_dir/log/slurmctld.log"; }

overlay_is_loaded() { "$HARMONY_BIN" status >/dev/null || fail "$("$HARMONY_BIN" status)"; }

status_fact() { "$HARMONY_BIN" status --json | jq -r ".overlay.$1"; }
