# What tests/compat/run says, and what it counts. Sourced; reads $passes, $tests, $kept_logs and the results of suite.sh.

declare -A report_outcome # of each test: passed, failed or skipped

# A test that stock does not pass says nothing about the overlay.
stock_lets_it_count() { [ "${verdict[stock $1]-passes}" = passes ]; }

# report_test PASS TEST: its line, as soon as its outcome is known; stock's pass alone leaves it open.
report_test() {
  case "$(_outcome "$1" "$2")" in
  passed) report_outcome[$2]=passed; echo "ok       $2 $(_times "$2")" ;;
  failed) report_outcome[$2]=failed; echo "FAILED   $2 $(_verdicts "$2")" ;;
  skipped) report_outcome[$2]=skipped; echo "skipped  $2 $(_verdicts "$2"): $(_reason "$1" "$2")"; _keep_logs "$2" ;;
  esac
}

_outcome() { # PASS TEST
  case "${#passes[@]} $1 ${verdict[$1 $2]}" in
  '2 stock passes') ;;
  *passes) echo passed ;;
  '2 stock '* | '1 '*skips) echo skipped ;;
  *) echo failed ;;
  esac
}

report_attempt() { # PASS TEST ATTEMPT
  progress_done
  echo "retry?   $2 $1 ${verdict[$1 $2]} after ${seconds[$1 $2]} s, attempt $3 of $suite_attempts"
}

report_pass() { # PASS SECONDS
  local test count=0
  for test in "${tests[@]}"; do [ "${verdict[$1 $test]-}" != passes ] || count=$((count + 1)); done
  say "$1 pass: $count of ${#tests[@]} tests pass, $2 s"
}

_each_pass() { # TEST ARRAY UNIT: "stock 3 s, overlay 4 s"
  local pass text='' value
  local -n values=$2
  for pass in "${passes[@]}"; do
    value=${values[$pass $1]-}
    [ -z "$value" ] || text+="${text:+, }$pass $value$3"
  done
  echo "$text"
}

_times() { _each_pass "$1" seconds ' s'; }

_verdicts() { _each_pass "$1" verdict ''; }

# Why, in SchedMD's words.
_reason() { # PASS TEST
  local line
  line=$(grep -aE -m 1 '(Fatal|Skip|SKIP|Error).*' "${log[$1 $2]}") && echo "$line" || echo 'no reason given'
}

_keep_logs() { # TEST
  mkdir -p "$kept_logs" && cp "$tmp"/logs/*-"$1"-*.log "$kept_logs/"
}

_count() { # OUTCOME
  local test count=0
  for test in "${!report_outcome[@]}"; do [ "${report_outcome[$test]}" != "$1" ] || count=$((count + 1)); done
  echo "$count"
}

_show_failure() { # TEST
  local pass=${passes[-1]}
  _keep_logs "$1"
  echo "    $1 $(_verdicts "$1"); the end of $kept_logs/$(basename "${log[$pass $1]}"):"
  tail -n 15 "${log[$pass $1]}" | sed 's/^/        /'
}

report_close() {
  local test failed
  failed=$(_count failed)
  if [ "$failed" != 0 ]; then
    echo "failed:"
    for test in "${tests[@]}"; do [ "${report_outcome[$test]-}" != failed ] || _show_failure "$test"; done
    cp "$cluster_dir/log/slurmctld.log" "$kept_logs/"
  fi
  echo "compat: $(_count passed) passed, $failed failed, $(_count skipped) skipped"
  [ "$failed" = 0 ] && [ "$(_count passed)" != 0 ]
}
