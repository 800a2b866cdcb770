# One of SchedMD's tests: where it runs, how often, and what came of it. Sourced; needs $here, $source_tree, $tmp, cluster.sh.
# shellcheck shell=bash disable=SC2034,SC2154

# Of the last attempt, by "PASS TEST". A verdict: passes, skips, fails, hangs, crashes (slurmctld), or is cut short.
declare -A verdict seconds log
suite_attempts=3
suite_timeout=240
suite_process=''

# suite_list FILE: its tests. One a line, with its timeout if that is not the usual one; # starts a comment.
suite_list() { _list_lines "$1" | awk '{ print $1 }'; }

_list_lines() { sed 's/#.*//; /^[[:space:]]*$/d' "$1"; }

_timeout_of() { # TEST
  _list_lines "$here/full" | awk -v test="$1" -v usual="$suite_timeout" '$1 == test { own = $2 } END { print own ? own : usual }'
}

suite_check() { # TEST...: all exist
  local test
  for test; do
    [ -f "$source_tree/testsuite/expect/test$test" ] || wrong_usage "SchedMD's suite has no test '$test'"
  done
}

suite_prepare() {
  mkdir -p "$tmp/logs"
  cat >"$tmp/testsuite.conf" <<END_CONF
SlurmSourceDir=$source_tree
SlurmBuildDir=$source_tree
SlurmInstallDir=/usr
SlurmConfigDir=$tmp/cluster/etc
END_CONF
  cat >"$tmp/globals.local" <<END_GLOBALS
set slurm_dir "/usr"
set src_dir "$source_tree"
set build_dir "$source_tree"
set testsuite_shared_dir "$tmp/expect"
set testsuite_colorize false
set max_job_delay 60
END_GLOBALS
}

# suite_run PASS TEST: until it does not fail, a few times at most, because some tests fail at random on stock too (38.12
# once in a dozen runs). A crash is final.
suite_run() {
  local attempt key="$1 $2" started
  for ((attempt = 1; attempt <= suite_attempts; attempt++)); do
    log[$key]=$tmp/logs/$1-$2-$attempt.log verdict[$key]='is cut short'
    started=$SECONDS
    _attempt "$2" "${log[$key]}"
    verdict[$key]=$(_verdict $?)
    seconds[$key]=$((SECONDS - started))
    compat_ctld_survived || verdict[$key]=crashes
    compat_cluster_tidy
    case ${verdict[$key]} in fails | hangs) report_attempt "$1" "$2" "$attempt" ;; *) return ;; esac
  done
}

_verdict() { # EXIT-CODE, of SchedMD's tests or of timeout
  case $1 in
  0) echo passes ;;
  255) echo skips ;;
  124 | 137) echo hangs ;;
  *) echo fails ;;
  esac
}

# A fresh copy of the suite each time, because tests write beside themselves. In the background, because bash
# handles a signal only after the command in the foreground; such a command ignores SIGINT unless that is undone.
_attempt() { # TEST LOG
  rm -rf "$tmp/expect"
  cp -r "$source_tree/testsuite/expect" "$tmp/expect" || return 1
  (
    cd "$tmp/expect" || exit 1
    exec env -i --default-signal=INT,QUIT PATH="$PATH" HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM=dumb \
      SLURM_CONF="$SLURM_CONF" SLURM_TESTSUITE_CONF="$tmp/testsuite.conf" SLURM_LOCAL_GLOBALS_FILE="$tmp/globals.local" \
      timeout --kill-after=5 "$(_timeout_of "$1")" expect "./test$1"
  ) </dev/null >"$2" 2>&1 &
  suite_process=$!
  wait "$suite_process"
  local status=$?
  suite_process=''
  return "$status"
}

# Ends the test at hand, if any: timeout passes the signal on to all of the test.
suite_stop() {
  [ -n "$suite_process" ] && kill -TERM "$suite_process" 2>/dev/null || return 0
  wait "$suite_process" 2>/dev/null
}
