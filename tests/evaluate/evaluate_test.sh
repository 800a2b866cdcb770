#!/usr/bin/env bash
# contrib/evaluate as people use it: what it writes, what it refuses, that a run which was killed goes on, and that the same command
# gives the same bytes. On clusters that are too small to say anything about placement.
. "$(dirname "$0")/../static/lib.sh"

export HARMONY_BIN=$build/harmony
cd "$static_tmp" || exit 1
few=stock,pack,spread,cons1,oracle-linear,no-interference
evaluate() { timeout 300 "$top/contrib/evaluate" "$@"; }
small() { evaluate --small --no-times --policies "$few" "$@"; }

# refused CODE LINE OPTION...: it ends with CODE, and stderr is just LINE (a pattern).
refused() {
  local code=$1 line=$2 status=0
  shift 2
  evaluate "$@" >out 2>err || status=$?
  [ "$status" = "$code" ] || fail "$*: exit $status instead of $code: $(cat err)"
  [ "$(wc -l <err)" = 1 ] && grep -qE "^evaluate: $line" err || fail "$*: said: $(cat err)"
}

has() { grep -qE -- "$2" "$1" || fail "$1 has no line $2: $(cut -c1-200 "$1")"; }

# Two types beside each other, as harmony sim wants them, with figures of our own.
measurements() { # DIR
  mkdir -p "$1/gavel" "$1/chronus"
  jq -n '[("ResNet-18" | . + " (batch size 16)", . + " (batch size 32)", . + " (batch size 64)", . + " (batch size 128)", . + " (batch size 256)"),
          ("ResNet-50" | . + " (batch size 16)", . + " (batch size 32)", . + " (batch size 64)", . + " (batch size 128)"),
          "Transformer (batch size 64)", "LM (batch size 20)", "Recommendation (batch size 2048)", "A3C", "CycleGAN"] as $names |
    {v100: ([$names[] | {(.): (([$names[] | {(.): [6, 6]}] | add) + {null: 8, "A3C": [0, 0]})}] | add)}' >"$1/gavel/oracle_throughputs.json"
  jq -n '[("alexnet", "vgg16", "resnet101", "mobilenet_v2", "inception_v3") | {(.): {"2": {"1": 1, "2": 0.5}, "8": {"1": 1, "2": 0.75}}}] | add' \
    >"$1/chronus/model_info.json"
}

every_cell_has_its_table_and_every_goal_its_answer() {
  local policy
  evaluate --small --policies "$few,greedy" --judge oracle-linear --out a 2>err
  for policy in stock pack spread cons1 greedy no-interference; do
    [ "$(grep -cE "^\| $policy \| [0-9.]+ (s|min|h|d) ±[0-9.]+ % \|" a/evaluation.md)" = 4 ] || fail "$policy: $(cut -c1-100 a/evaluation.md)"
  done
  [ "$(grep -cE '^\| \*\*oracle-linear\*\* \|.* (µs|ms) / [0-9.]+ (µs|ms) \|$' a/evaluation.md)" = 4 ] ||
    fail "no times: $(grep oracle-linear a/evaluation.md)"
  [ "$(grep -cE '^### (servers6|pcie8-heavy) at 0.9(, shortest first)?$' a/evaluation.md)" = 4 ] || fail "$(grep '^###' a/evaluation.md)"
  has a/evaluation.md '^oracle-linear reached \*\*[0-2] of 2 goals\*\*, [0-2] of 2 stretch goals; of 2 scenarios with a gap'
  for goal in 'servers6 at 0.9 \| 17 % better' 'servers6 at 0.9 \| 29 % better \(stretch\)' 'pcie8-heavy at 0.9 \| 18 % better' \
    'pcie8-heavy at 0.9 \| 24 % better \(stretch\)'; do
    has a/evaluation.md "^\| $goal \| [a-z0-9-]+ \| [+-][0-9.]+ % ±[0-9.]+ \| (yes|\*\*no\*\*) \| (yes|no) \|"
  done
  has a/evaluation.md '^\| servers6 at 0.9 \| 80 % of the gap \(goal\) \|'
  has a/evaluation.md '^## Against load balancing$'
  has a/evaluation.md '^- \*\*only a part\*\*'
  ! grep -qF "$PWD" a/evaluation.md || fail "where it was written to is in the document"
}

a_goal_that_is_missed_is_said_and_is_no_failure() {
  evaluate --small --no-times --policies pack,spread,no-interference --judge spread --out missed 2>err
  has missed/evaluation.md '^spread reached \*\*0 of 2 goals\*\*'
  has missed/evaluation.md '^Missed: servers6 at 0.9 \(goal: 17 % better; reached: \+[0-9.]+ % ±[0-9.]+\); pcie8-heavy at 0.9 '
}

without_the_policy_that_is_judged_nothing_is_claimed() {
  small --out unjudged 2>err
  has unjudged/evaluation.md '^\*\*Not measured: learned was left out of this run\*\*'
  ! grep -qE '\| (yes|\*\*no\*\*) \|' unjudged/evaluation.md || fail "$(grep -E '\| (yes|\*\*no\*\*) \|' unjudged/evaluation.md)"
}

# By hand: ratios of what harmony sim says of each workload.
baselines_are_compared_workload_by_workload() {
  local ratio
  small --scenarios servers6 --out paired 2>err
  "$HARMONY_BIN" sim --scenario servers6 --policy "$few" --load 0.9 --seeds 2 --count 60 --max-wait 3600 --json sim.json >/dev/null
  ratio=$(jq -r '.comparisons[0] | . as $all | ([.policies[] | select(.policy | test("stock|pack|spread|cons1"))] | min_by(.mean_jct_s.mean).policy) as $best |
    [range(1; 3) as $seed | ([$all.runs[] | select(.seed == $seed and .policy == "stock")][0].mean_jct_s /
                             [$all.runs[] | select(.seed == $seed and .policy == $best)][0].mean_jct_s)] | (add / 2 - 1) * 1000 | round / 10' sim.json)
  [[ $ratio == *.* ]] || ratio+=.0
  sed -n '/^### servers6 at 0.9$/,$p' paired/evaluation.md >figures
  has figures "^\| stock \| [^|]* \| \+$ratio % ±"
}

the_same_command_gives_the_same_bytes() {
  small --out one --threads 1 2>err
  small --out two --threads 2 2>err
  cmp one/evaluation.md two/evaluation.md && cmp one/evaluation.html two/evaluation.html
}

the_page_is_one_file_with_a_chart_for_each_scenario() {
  small --out page 2>err
  [ "$(grep -o '<svg ' page/evaluation.html | wc -l)" = 2 ] && [ "$(stat -c %s page/evaluation.html)" -lt 300000 ]
  ! grep -qE '(src|href)=|@import|url\(' page/evaluation.html
  small --only-text --out text 2>err
  [ ! -e text/evaluation.html ] && [ -s text/evaluation.md ]
}

# The simulator is held at its third run until the kill, so that there is something left to do on any machine.
a_run_that_was_killed_goes_on_where_it_was() {
  local pid simulated
  small --out whole 2>err
  cat >slow <<END
#!/bin/sh
[ "\$2" = --list ] || { echo "\$PPID \$\$" >>"$PWD/runs"; [ "\$(wc -l <"$PWD/runs")" != 3 ] || exec sleep 300; }
exec "$HARMONY_BIN" "\$@"
END
  chmod +x slow
  HARMONY_BIN=$PWD/slow small --out killed 2>err &
  pid=$!
  for _ in $(seq 600); do [ "$(wc -l 2>/dev/null <runs)" != 3 ] || break; sleep 0.1; done
  kill -KILL $(sed -n 3p runs) || fail "it was not running: $(cat err)" # the one who asks, and the simulator
  ! wait "$pid" || fail "it was not killed"
  [ ! -e killed/evaluation.md ] || fail "it was written already"
  HARMONY_BIN=$PWD/slow small --out killed 2>err
  has err '^evaluate: 2 of 8 parts are there from an earlier run$'
  simulated=$(wc -l <runs)
  [ "$simulated" = 9 ] || fail "$simulated runs of the simulator"
  cmp whole/evaluation.md killed/evaluation.md
  HARMONY_BIN=$PWD/slow small --out killed 2>err
  [ "$(wc -l <runs)" = 9 ] || fail "what was done was done again"
}

# That nothing is kept for another model, and everything else is.
another_model_repeats_what_it_decides_only() {
  HARMONY_BUILD=$build
  harmony_model() { "$HARMONY_BIN" model "$@"; }
  . "$top/tests/models/lib.sh"
  models_begin . vgg16,resnet50 && model m mlp && cp -r m other && echo >>other/manifest.json
  evaluate --small --no-times --policies pack,learned --scenarios servers6 --model m --out modelled 2>err
  has modelled/evaluation.md '^- learned: the model m, sha256 [0-9a-f]{16} '
  has modelled/evaluation.md '^learned reached \*\*[01] of 1 goals\*\*'
  evaluate --small --no-times --policies pack,learned --scenarios servers6 --model other --out modelled 2>err
  has err '^evaluate: 2 of 4 parts are there from an earlier run$'
}

measured_tables_are_a_second_ground_truth() {
  measurements data
  small --scenarios tables --loads 0.9 --data data --out tables 2>err
  has tables/evaluation.md '^### tables, pairs combined by min at 0.9$'
  has tables/evaluation.md 'ground truth: tables \(pairs combined by product\)\.$'
  grep -qx 'vgg16,8,2,6.000000' tables/.cells/tables/speeds.csv && grep -qx 'vgg16,alexnet,0.750000' tables/.cells/tables/pairs.csv
  ! grep -q ',a3c,' tables/.cells/tables/pairs.csv || fail "a pair that did not fit on a GPU was taken for a slowdown"
  small --scenarios servers6,tables --data nowhere --out without 2>err
  has without/evaluation.md '^\*\*Left out: the measurements are not on this machine\.\*\*'
  echo '{}' >data/gavel/oracle_throughputs.json
  refused 1 'error: data: not as it was published: .*' --small --policies pack --scenarios tables --data data --out bad
}

what_is_wrong_is_named() {
  refused 2 "unknown option '--sedes'; see --help$" --sedes 3
  refused 2 '--seeds needs a value; see --help$' --seeds
  refused 2 "--seeds takes a whole number from 2 to 1000, not '1'$" --seeds 1
  refused 2 "--scenarios: 'servers7' is none of: .*servers6.*" --scenarios servers6,servers7
  refused 2 "--policies takes names parted by commas, not 'pack,'$" --policies pack,
  refused 1 "error: policy 'nosuch' is not known; .*" --small --policies pack,nosuch --out no
  refused 1 'error: nowhere has no model.pt: give --model DIR, .*' --small --model nowhere --out no
  evaluate --help | grep -q '^exit code: 0 done, also if goals were missed'
}

keep every_cell_has_its_table_and_every_goal_its_answer a_goal_that_is_missed_is_said_and_is_no_failure \
  without_the_policy_that_is_judged_nothing_is_claimed baselines_are_compared_workload_by_workload the_same_command_gives_the_same_bytes \
  the_page_is_one_file_with_a_chart_for_each_scenario a_run_that_was_killed_goes_on_where_it_was another_model_repeats_what_it_decides_only \
  measured_tables_are_a_second_ground_truth what_is_wrong_is_named
