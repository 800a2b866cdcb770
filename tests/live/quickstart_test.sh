# The quickstart as a user meets it: from any directory, twice at once, as an ordinary user, and with things missing.
. "$(dirname "$0")/lib.sh"

top=$(cd "$cluster_home/../.." && pwd)
quickstart() { timeout 300 "$top/contrib/quickstart" --no-compare "$@"; } # the comparison has a promise of its own
export HARMONY_BUILD

left_behind() { ls -d "$TMPDIR"/harmony-quickstart.* 2>/dev/null; pgrep -af "$TMPDIR/harmony-quickstart" || true; }

completed_jobs() { grep -cE '^[0-9+]+ .* COMPLETED' "$1"; }

it_runs_from_any_directory_and_cleans_up() {
  cd /
  quickstart >"$live_tmp/one.out"
  same "completed components" 5 "$(completed_jobs "$live_tmp/one.out")"
  grep -qE '^model +[^ ]+ \(shipped\)$' "$live_tmp/one.out" || fail "$(head -n 20 "$live_tmp/one.out")"
  grep -qE '^decided +.* by policy learned' "$live_tmp/one.out" || fail "$(cat "$live_tmp/one.out")"
  same "left behind" "" "$(left_behind)"
}

it_ends_with_a_small_live_comparison() {
  timeout 500 "$top/contrib/quickstart" --nodes 2 >"$live_tmp/compared.out"
  grep -qE '^stock +[0-9]+ s' "$live_tmp/compared.out" || fail "$(tail -n 20 "$live_tmp/compared.out")"
  grep -qE '^ours \(learned\) +[0-9]+ s' "$live_tmp/compared.out" || fail "$(tail -n 20 "$live_tmp/compared.out")"
  grep -qE '^ours / stock: [0-9.]+\. ' "$live_tmp/compared.out" || fail "$(tail -n 20 "$live_tmp/compared.out")"
  same "left behind" "" "$(left_behind)$(ls -d "$TMPDIR"/harmony-compare.* 2>/dev/null)"
}

two_run_at_once() {
  quickstart --nodes 3 --topology pcie8 >"$live_tmp/a.out" &
  quickstart --nodes 2 --topology dgx2 --mode enforce >"$live_tmp/b.out"
  wait $!
  same "completed components of the first" 5 "$(completed_jobs "$live_tmp/a.out")"
  same "completed components of the second" 5 "$(completed_jobs "$live_tmp/b.out")"
  same "left behind" "" "$(left_behind)"
}

keep_leaves_a_cluster_that_answers_and_can_be_taken_down() {
  local conf
  quickstart --nodes 2 --keep >"$live_tmp/keep.out"
  conf=$(sed -n 's/.*export SLURM_CONF=\([^ ]*\).*/\1/p' "$live_tmp/keep.out")
  same nodes 2 "$(SLURM_CONF=$conf timeout 10 sinfo -h -o %D)"
  SLURM_CONF=$conf "$HARMONY_BIN" status >/dev/null
  bash -c "$(sed -n 's/^ *\(.*cluster destroy.*\)/\1/p' "$live_tmp/keep.out")"
  same "left behind" "" "$(left_behind)"
}

an_interrupt_takes_the_cluster_down() {
  "$top/contrib/quickstart" --no-compare --nodes 2 >"$live_tmp/int.out" 2>&1 & # itself, not a function's subshell: it gets the signal
  local pid=$!
  cluster_until 60 grep -q submitted "$live_tmp/int.out" || fail "$(cat "$live_tmp/int.out")"
  kill -TERM "$pid"
  local code=0
  wait "$pid" || code=$?
  same "exit code" 130 "$code"
  same "left behind" "" "$(left_behind)"
}

# As the user nobody, whose cache has to be filled first: fetching the source needs no root.
an_ordinary_user_can_run_it() {
  [ "$(id -u)" = 0 ] || skip "is an ordinary user already"
  nobody_reaches "$top" || skip "the user nobody cannot reach $top"
  mkdir -m 777 "$live_tmp/nobody" "$live_tmp/nobody/tmp"
  chmod 777 "$live_tmp/nobody/tmp"
  timeout 600 setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME "HOME=$live_tmp/nobody" \
    "TMPDIR=$live_tmp/nobody/tmp" "HARMONY_BUILD=$live_tmp/nobody/build" "$top/contrib/quickstart" --no-compare >"$live_tmp/nobody.out"
  same "completed components" 5 "$(completed_jobs "$live_tmp/nobody.out")"
  same "left behind" "" "$(ls "$live_tmp/nobody/tmp")"
}

# A dpkg-query that knows nothing of two packages.
missing_packages_are_named_with_the_command_that_installs_them() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  nobody_reaches "$top" || skip "the user nobody cannot reach $top"
  local said code=0 script
  mkdir -p "$live_tmp/bin"
  printf '#!/bin/sh\n/usr/bin/dpkg-query "$@" | grep -vE "^(munge|libfmt-dev) "\n' >"$live_tmp/bin/dpkg-query"
  chmod -R 755 "$live_tmp/bin"
  for script in quickstart check; do
    code=0
    said=$(setpriv --reuid=65534 --regid=65534 --clear-groups env "PATH=$live_tmp/bin:$PATH" "$top/contrib/$script" 2>&1) || code=$?
    same "exit code of $script" 1 "$code"
    grep -qE '^ *apt-get install --no-install-recommends libfmt-dev munge$' <<<"$said" || fail "$script said: $said"
  done
}

wrong_usage_is_told_apart() {
  local code=0
  quickstart --topology moon 2>"$live_tmp/err" || code=$?
  same "exit code" 2 "$code"
  grep -q "no topology 'moon'; there are:" "$live_tmp/err" || fail "$(cat "$live_tmp/err")"
  code=0
  quickstart --nodes 1 2>/dev/null || code=$?
  same "exit code" 2 "$code"
}

export TMPDIR=$live_tmp/tmp
mkdir -p "$TMPDIR"
leave_no_jobs() { :; }
keep it_runs_from_any_directory_and_cleans_up it_ends_with_a_small_live_comparison two_run_at_once keep_leaves_a_cluster_that_answers_and_can_be_taken_down \
  an_interrupt_takes_the_cluster_down an_ordinary_user_can_run_it missing_packages_are_named_with_the_command_that_installs_them \
  wrong_usage_is_told_apart
