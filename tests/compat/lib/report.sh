# What tests/compat/run says, and what it counts. Sourced; reads $passes, $tests, $build, $tmp and the results of suite.sh.
# shellcheck shell=bash disable=SC2154

declare -A report_outcome # of each test: passed, failed or skipped

# A test that stock does not pass says nothing about the overlay.
stock_lets_it_count() { [ "${verdict[stock $1]-passes}" = passes ]; }

# report_test PASS TEST: its line, as soon as its outcome is known.
report_test() {
  local outcome
  outcome=$(_outcome "$1" "$2")
  [ "$outcome" != open ] || return 0
  report_outcome[$2]=$outcome
  case $outcome in
  passed) echo "ok       $2 $(_of_each_pass "$2" seconds ' s')" ;;
  failed) echo "FAILED   $2 $(_of_each_pass "$2" verdict): $(_reason "$1" "$2")" ;;
  skipped) echo "skipped  $2 $(_of_each_pass "$2" verdict): $(_reason "$1" "$2")" ;;
  esac
}

# _outcome PASS TEST: what the test's verdict so far means. Of two passes, the first decides only whether the second counts.
_outcome() {
  case "${#passes[@]} $1 ${verdict[$1 $2]}" in
  '2 stock passes') echo open ;;
  '2 stock '*) echo skipped ;;
  '1 '*' skips') echo skipped ;;
  *' passes') echo passed ;;
  *) echo failed ;;
  esac
}

report_attempt() { # PASS TEST ATTEMPT
  local next='tried again'
  [ "$3" -lt "$suite_attempts" ] || next='given up'
  progress_done
  echo "         $2 $1 ${verdict[$1 $2]} after ${seconds[$1 $2]} s, attempt $3 of $suite_attempts, $next"
}

report_pass() { # PASS SECONDS
  local test count=0
  for test in "${tests[@]}"; do [ "${verdict[$1 $test]-}" != passes ] || count=$((count + 1)); done
  say "$1 pass took $2 s, tests passed: $count of ${#tests[@]}"
}

# _of_each_pass TEST ARRAY [UNIT]: such as "stock 3 s, overlay 4 s" or "stock passes, overlay fails".
_of_each_pass() {
  local -n values=$2
  local pass text=''
  for pass in "${passes[@]}"; do
    [ -z "${values[$pass $1]-}" ] || text+="${text:+, }$pass ${values[$pass $1]}${3-}"
  done
  echo "$text"
}

# _reason PASS TEST: the first complaint in the test's log, without its time stamp and back trace.
_reason() {
  local line
  line=$(grep -aE -m 1 '\] Fatal |\] Error |\((skip|subskip|fail|subfail)@' "${log[$1 $2]}") || line='no reason given'
  sed -E 's/^\[[^]]*\] *[A-Za-z]+ +//; s/ \([a-z_]+@.*//' <<<"$line"
}

_count() { # OUTCOME
  local test count=0
  for test in "${!report_outcome[@]}"; do [ "${report_outcome[$test]}" != "$1" ] || count=$((count + 1)); done
  echo "$count"
}

_show_failures() {
  local test file
  echo "failed:"
  for test in "${tests[@]}"; do
    [ "${report_outcome[$test]-}" = failed ] || continue
    file=${log[${passes[-1]} $test]}
    echo "    $test $(_of_each_pass "$test" verdict); the end of $build/compat-logs/${file##*/}:"
    tail -n 15 "$file" | sed 's/^/        /'
  done
}

# report_close: the last words; false if a test failed, or if none passed and so nothing was shown.
report_close() {
  local passed failed
  passed=$(_count passed) failed=$(_count failed)
  [ "$failed" = 0 ] || _show_failures
  [ "$passed" != 0 ] || echo "no test passed, so nothing was compared"
  echo "compat: $passed passed, $failed failed, $(_count skipped) skipped"
  [ "$failed" = 0 ] && [ "$passed" != 0 ]
}

# report_keep_logs: of tests that did not pass at the first attempt, with slurmctld's own.
report_keep_logs() {
  local test kept=$build/compat-logs
  rm -rf "$kept"
  for test in "${tests[@]}"; do
    _passed_at_once "$test" || { mkdir -p "$kept" && cp "$tmp"/logs/*-"$test"-*.log "$tmp/cluster/log/slurmctld.log" "$kept"; }
  done
}

_passed_at_once() { # TEST
  local pass
  for pass in "${passes[@]}"; do
    [ "${verdict[$pass $1]-passes}" = passes ] && [ ! -e "$tmp/logs/$pass-$1-2.log" ] || return 1
  done
}
