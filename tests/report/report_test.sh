#!/usr/bin/env bash
# The report in a browser (headless Chromium): it works without a script error, fetches nothing, fits a laptop, a narrow
# window and paper. HARMONY_REPORT_PICTURES=DIR keeps the screenshots and the PDF for looking.
. "$(dirname "$0")/../static/lib.sh"

make_report=$build/tests/report/make-report
browser=$(command -v chromium || command -v chromium-browser)
for needed in "${browser:-chromium}" gnuplot; do
  if ! command -v "$needed" >/dev/null; then
    echo "SKIPPED: the report was not looked at in a browser: $needed is not installed" \
      "(Debian packages chromium, gnuplot-nox)"
    exit 77
  fi
done
pictures=${HARMONY_REPORT_PICTURES:-$static_tmp/pictures}
mkdir -p "$pictures" || exit 1

browse() { # FILE OPTION...: stdout is the browser's, its log is $static_tmp/log
  local file=$1
  shift
  timeout 100 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-background-networking \
    --disable-component-update --no-first-run --user-data-dir="$static_tmp/profile" --virtual-time-budget=5000 \
    --enable-logging=stderr --host-resolver-rules='MAP * ~NOTFOUND' "$@" "file://$file" 2>"$static_tmp/log" || {
    tail -5 "$static_tmp/log"
    fail "the browser failed on $file"
  }
}

no_script_error() { ! grep -F CONSOLE "$static_tmp/log" || fail "the page complained"; }

# The probe needs a page that allows it: the page's own policy runs no script but its own.
probed() { # FILE WIDTH: attributes of the body, one a line
  sed -e '/http-equiv="Content-Security-Policy"/d' -e '$d' "$1" | sed -e '/^<\/body>$/d' >"$static_tmp/probed.html"
  { echo '<script>'; cat "$top/tests/report/probe.js"; echo '</script></body></html>'; } >>"$static_tmp/probed.html"
  browse "$static_tmp/probed.html" --window-size="$2,900" --dump-dom |
    grep -o '<body [^>]*>' | grep -o 'data-[a-z]*="[^"]*"'
}

expect() { grep -qxF -- "$1" <<<"$found" || fail "expected $1, found: $found"; }

works() { # FILE WIDTH
  found=$(probed "$1" "$2")
  no_script_error
  local attribute
  for attribute in probed=\"yes\" errors=\"0\" hacked=\"no\" overflow=\"0\" slid=\"true\" switched=\"true\" \
    marked=\"true\" sorted=\"true\" played=\"true\" formula=\"false\"; do
    expect "data-$attribute"
  done
}

looks() { # FILE WIDTH HEIGHT NAME: a picture that is not blank
  browse "$1" --window-size="$2,$3" --screenshot="$pictures/$4.png" >/dev/null
  no_script_error
  [ "$(stat -c %s "$pictures/$4.png")" -gt 100000 ] || fail "$4.png is blank"
}

a_laptop_shows_it_and_everything_in_it_works() {
  "$make_report" "$static_tmp/plain.html" plain
  looks "$static_tmp/plain.html" 1366 3700 laptop
  works "$static_tmp/plain.html" 1366
  expect 'data-small="0"'
  expect 'data-csv="9 lines, 33 columns"'
  expect 'data-head="scenario load policy mean_jct_s mean_jct_s_half95"'
  expect 'data-pictures="48"'
  grep -q 'data-tip="job [0-9]*: [a-z0-9]* / [0-9]* workers.* GPUs / slowdown [0-9.]* / on n[0-9]' <<<"$found" ||
    fail "no tip: $found"
}

a_narrow_window_shows_it() {
  "$make_report" "$static_tmp/plain.html" plain
  looks "$static_tmp/plain.html" 800 5200 narrow
  works "$static_tmp/plain.html" 800
}

five_scenarios_and_twelve_policies_fit() {
  "$make_report" "$static_tmp/many.html" many
  looks "$static_tmp/many.html" 1366 3700 many
  works "$static_tmp/many.html" 1366
}

a_cluster_of_512_nodes_fits() {
  "$make_report" "$static_tmp/large.html" large
  looks "$static_tmp/large.html" 1366 3400 large
  works "$static_tmp/large.html" 1366
}

paper_shows_it_with_the_small_maps() {
  "$make_report" "$static_tmp/plain.html" plain
  browse "$static_tmp/plain.html" --no-pdf-header-footer --print-to-pdf="$pictures/paper.pdf" >/dev/null
  no_script_error
  local pages
  pages=$(grep -ac '/Type /Page$' "$pictures/paper.pdf")
  [ "$pages" -ge 5 ] && [ "$pages" -le 16 ] || fail "$pages pages"
}

nothing_is_fetched() {
  "$make_report" "$static_tmp/plain.html" plain
  browse "$static_tmp/plain.html" --dump-dom >"$static_tmp/dom"
  no_script_error
  grep -q 'data-ready="yes"' "$static_tmp/dom" || fail "the script did not run"
  works "$static_tmp/plain.html" 1366
  expect 'data-fetched="0"'
  # That it would have been seen:
  sed 's|<main>|<main><img src="http://127.0.0.1:9/x.png">|' "$static_tmp/plain.html" >"$static_tmp/fetching.html"
  found=$(probed "$static_tmp/fetching.html" 1366)
  expect 'data-fetched="1"'
}

hostile_names_run_nothing() {
  "$make_report" "$static_tmp/hostile.html" hostile "$static_tmp/trap"
  works "$static_tmp/hostile.html" 1366
  [ ! -e "$static_tmp/trap" ] || fail "a name was run as a command"
}

keep a_laptop_shows_it_and_everything_in_it_works a_narrow_window_shows_it five_scenarios_and_twelve_policies_fit \
  a_cluster_of_512_nodes_fits paper_shows_it_with_the_small_maps nothing_is_fetched hostile_names_run_nothing
