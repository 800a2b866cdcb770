#!/usr/bin/env bash
# harmony sim as people use it: what it prints, what it refuses and how, and that the same command gives the same bytes.
. "$(dirname "$0")/../static/lib.sh"

harmony=$build/harmony
cd "$static_tmp" || exit 1
sim() { timeout 300 "$harmony" sim "$@"; }

# refused CODE LINE COMMAND...: it ends with CODE, and stderr is just LINE (a pattern).
refused() {
  local code=$1 line=$2 status=0
  shift 2
  "$@" >out 2>err || status=$?
  [ "$status" = "$code" ] || fail "$*: exit $status instead of $code: $(cat err)"
  [ "$(wc -l <err)" = 1 ] && grep -qE "^harmony sim: $line" err || fail "$*: said: $(cat err)"
}

cluster='{"name": "two", "groups": [{"name": "a", "count": 2, "topology": "pcie8"}]}'
jobs='job_id,submit_s,type,arch,workers,ps,epochs
1,0,vgg16,ps,4,2,3
2,10,resnet50,allreduce,8,0,2
3,20,bert,allreduce,12,0,1'

files() { echo "$cluster" >c.json; echo "$jobs" >j.csv; }

a_scenario_is_compared_in_a_table() {
  sim --scenario servers6 --policy pack,spread --seeds 2 --count 40 >out
  grep -q '^servers6: 6 nodes, 12 GPUs, 40 jobs a workload, 2 workloads, load 0.70; truth: mechanistic; queue order: submit; best baseline: pack$' out
  grep -q '^pack ' out && grep -q '^spread ' out && [ "$(wc -l <out)" = 4 ]
}

every_scenario_runs_with_every_policy_that_needs_nothing() {
  local scenario policies
  policies=$(sim --list | sed -n '/^Policies/,/^Job types/s/^  \([a-z-]*\) .*/\1/p' | grep -vxE 'lif-linear|lif-quadratic|greedy|learned' | paste -sd,)
  [[ $policies == *stock* && $policies == *oracle-greedy* && $policies == *no-interference* ]]
  for scenario in $(sim --list | sed -n '/^Scenarios/,/^Policies/s/^  \([a-z0-9-]*\) .*/\1/p'); do
    sim --scenario "$scenario" --policy "$policies" --seeds 1 --count 25 --json - | jq -e '.comparisons[0].policies | length > 10' >/dev/null ||
      fail "$scenario"
  done
}

the_same_command_gives_the_same_bytes() {
  local run
  for run in 1 2; do
    sim --scenario pcie8 --policy pack,lif,random,cons1 --seeds 2 --count 60 --noise-worker 0.1 --threads $run --json $run.json --jobs-out $run.csv >$run.txt
    grep -v '"command"' $run.json >$run.figures
  done
  cmp 1.figures 2.figures && cmp 1.csv 2.csv && cmp 1.txt 2.txt
}

files_are_simulated_and_jobs_written() {
  files
  sim --cluster c.json --jobs j.csv --policy pack,stock --jobs-out out.csv --json out.json >out
  [ "$(wc -l <out.csv)" = 7 ] && jq -e '.comparisons[0] | .scenario == "two" and .nodes == 2 and (.policies | length) == 2' out.json >/dev/null
  jq -r '.comparisons[0].command' out.json | grep -q '^harmony sim --cluster c.json --jobs j.csv'
}

# The speed of table rows, exactly: epochs / speed.
tables_override_mechanics() {
  files
  printf 'type,workers,nodes,speed\nvgg16,4,1,0.5\nresnet50,8,1,0.25\nbert,12,2,0.125\n' >s.csv
  printf 'victim,aggressor,ratio\nvgg16,resnet50,0.1\n' >p.csv
  sim --cluster c.json --jobs j.csv --policy pack --speeds s.csv --contention p.csv --combine min --jobs-out out.csv >out
  grep -q 'truth: .*min' out
  awk -F, 'NR > 1 { ran[$5] = $12 - $11 } END { exit !(ran[1] == 6 && ran[2] == 8 && ran[3] == 8) }' out.csv || fail "$(cat out.csv)"
}

a_dataset_is_written_and_policies_fitted_from_it() {
  sim --scenario mixed64 --policy pack,spread --seeds 1 --count 150 --dataset-out data >out
  [ "$(ls data)" = "$(printf 'mixed64-0.7-pack-1.jsonl\nmixed64-0.7-spread-1.jsonl')" ]
  jq -es '(map(.record) | unique) == ["end", "interval", "node", "start"] and (map(select(.record == "end")) | length) == 300' data/*.jsonl >/dev/null
  "$harmony" dataset check data >/dev/null
  sim --scenario mixed64 --policy lif-linear,lif-quadratic,greedy --dataset data --seeds 1 --count 60 >out
  [ "$(wc -l <out)" = 5 ]
}

# Whether it is installed is not for this test to say: make check comes before make install.
without_a_model_the_shipped_one_is_simulated() {
  local shipped torch=(--torch-library "$build/plugin/.libs/harmony_torch.so")
  shipped=$("$harmony" model list --store /nowhere --json 2>/dev/null | sed 's/.*"directory":"\([^"]*\)".*/\1/') || true
  [[ $shipped == /*/models/shipped ]] || fail "the shipped model is in '$shipped'"
  if [ -e "$shipped/model.pt" ]; then
    sim --scenario servers6 --policy learned --seeds 1 --count 20 "${torch[@]}" >out
    grep -q '^learned ' out
  else
    refused 1 "$shipped: .*does not exist" sim --scenario servers6 --policy learned "${torch[@]}"
  fi
}

a_model_is_simulated() {
  HARMONY_BUILD=$build
  harmony_model() { "$harmony" model "$@"; }
  . "$top/tests/models/lib.sh"
  models_begin . vgg16,resnet50 && model m mlp
  sim --scenario servers6 --policy learned,pack --model m --torch-library "$build/plugin/.libs/harmony_torch.so" --seeds 2 --count 30 >out
  grep -q '^learned ' out
  refused 1 '.*/nowhere.*' sim --scenario servers6 --policy learned --model "$PWD/nowhere" --torch-library "$build/plugin/.libs/harmony_torch.so"
}

what_is_wrong_is_named() {
  files
  refused 2 '--scenario, or --cluster and --jobs, say what to simulate; --list shows the scenarios$' sim
  refused 1 '.*servers7.*servers6.*' sim --scenario servers7
  refused 1 '.*nosuch.*' sim --scenario servers6 --policy nosuch
  refused 1 'policy pack twice$' sim --scenario servers6 --policy pack,pack
  echo '{"groups": [{"count": -1}]}' >bad.json
  refused 1 'bad.json: .*count.*' sim --cluster bad.json --jobs j.csv
  echo '4,30,vgg16,ps,nine,1,2' >>j.csv
  refused 1 'j.csv:5: .*workers.*' sim --cluster c.json --jobs j.csv
  sim --cluster c.json --jobs j.csv --skip-bad --policy pack >out 2>err
  grep -q '1 row.*j.csv:5' err && grep -q '3 jobs a workload' out
  echo "$jobs" >j.csv; echo '9,30,vgg16,allreduce,64,0,2' >>j.csv
  refused 1 'job 9 .*never fits.*' sim --cluster c.json --jobs j.csv
  sim --cluster c.json --jobs j.csv --skip-bad --policy pack >out 2>err
  grep -q 'left out 1 of 4 jobs: job 9' err
  refused 1 '/dev/full: .*' sim --scenario servers6 --count 5 --policy pack --json /dev/full
}

calibration_is_one_command() {
  printf '{"vgg16": {"4": {"1": 1.0, "2": 0.576, "4": 0.318}}}' >table.json
  sim calibrate table.json >out
  grep -q vgg16 out
  refused 1 'nowhere.json.*' sim calibrate nowhere.json
}

nothing_but_the_result_is_printed_where_there_is_no_terminal() {
  sim --scenario mixed64 --policy pack --seeds 1 --count 100 >out 2>err
  [ ! -s err ]
}

keep a_scenario_is_compared_in_a_table every_scenario_runs_with_every_policy_that_needs_nothing the_same_command_gives_the_same_bytes \
  files_are_simulated_and_jobs_written tables_override_mechanics a_dataset_is_written_and_policies_fitted_from_it a_model_is_simulated \
  without_a_model_the_shipped_one_is_simulated \
  what_is_wrong_is_named calibration_is_one_command nothing_but_the_result_is_printed_where_there_is_no_terminal
