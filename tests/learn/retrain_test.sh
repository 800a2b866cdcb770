#!/usr/bin/env bash
# From a cluster of unknown physics to a better policy, unattended: simulated with stock, retrained, simulated again. And what
# harmony-retrain says when it cannot.
. "$(dirname "$0")/../static/lib.sh"

harmony=$build/harmony
cd "$static_tmp" || exit 1
sim() { timeout 600 "$harmony" sim --torch-library "$build/plugin/.libs/harmony_torch.so" "$@"; }
retrain() { timeout 900 "$build/harmony-retrain" --torch-library "$build/plugin/.libs/harmony_torch.so" --threads 2 "$@"; }

# Four types that nobody has heard of: red and blue cannot stand each other, green is slow across nodes, grey harms all.
make_tables() {
  python3 - <<'END'
import random
random.seed(3)
types = ["red", "blue", "green", "grey"]
across = {"red": 0.85, "blue": 0.85, "green": 0.4, "grey": 0.95}
with open("speeds.csv", "w") as f:
    f.write("type,workers,nodes,speed\n")
    for t in types:
        for w in (1, 2, 4, 8):
            for n in (1, 2, 4):
                f.write(f"{t},{w},{n},{0.01 * w ** 0.9 * across[t] ** (n - 1):.6f}\n")
pairs = {("red", "blue"): 0.45, ("blue", "red"): 0.5, ("red", "grey"): 0.6, ("blue", "grey"): 0.65, ("green", "grey"): 0.7, ("grey", "grey"): 0.8}
with open("pairs.csv", "w") as f:
    f.write("victim,aggressor,ratio\n")
    for (a, b), r in pairs.items():
        f.write(f"{a},{b},{r}\n")
def jobs(name, seed, count):
    random.seed(seed)
    at = 0
    with open(name, "w") as f:
        f.write("job_id,submit_s,type,arch,workers,ps,epochs\n")
        for i in range(1, count + 1):
            t, w = random.choice(types), random.choice((1, 1, 2, 2, 4, 4, 8))
            f.write(f"{i},{at:.0f},{t},allreduce,{w},0,{max(3, random.lognormvariate(2.5, 0.8) * w ** 0.9):.0f}\n")
            at += random.expovariate(1 / 60)
jobs("before.csv", 1, 400)
jobs("after.csv", 2, 300)
END
  echo '{"name": "new", "groups": [{"name": "n", "count": 8, "topology": "quad4"}]}' >cluster.json
}

simulate() { # JOBS OPTION...
  local jobs=$1
  shift
  sim --cluster cluster.json --jobs "$jobs" --speeds speeds.csv --contention pairs.csv --load 0.85 --max-wait 3600 "$@"
}

jct() { jq -r --arg p "$1" '.comparisons[0].policies[] | select(.policy == $p) | .mean_jct_s.mean' "$2"; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

a_new_cluster_of_unknown_physics_gets_a_better_policy_unattended() {
  make_tables
  simulate before.csv --policy stock --dataset-out dataset >/dev/null
  retrain --dataset dataset --models store --hours 0.02 --seed 1 >out || fail "$(cat out)"
  grep -q '^published as version 1 of' out
  simulate after.csv --policy stock,spread,pack,random,learned --model store/1 --json after.json >table
  local rival
  for rival in stock spread pack random; do
    below "$(jct learned after.json)" "$(jct "$rival" after.json)" || fail "not better than $rival: $(cat table)"
  done
}

what_is_published_is_whole() {
  [ -s store/1/model.pt ]
  grep -q '"schema" : 3\|"schema": 3' store/1/manifest.json
  grep -q '^## How it was judged' store/1/MODEL_CARD.md
  grep -q '| stock |' store/1/MODEL_CARD.md
  grep -q '<polyline' store.work/curves.html
  [ ! -e store/CURRENT ] || fail "CURRENT was switched"
}

the_same_seed_gives_the_same_model() {
  retrain --dataset dataset --models again --hours 0.001 --seed 5 --force >/dev/null
  retrain --dataset dataset --models once-more --hours 0.001 --seed 5 --force >/dev/null
  [ "$(jq -r .sha256 again/1/manifest.json)" = "$(jq -r .sha256 once-more/1/manifest.json)" ] ||
    cmp <(unzip -p again/1/model.pt '*/data/*' | sha256sum) <(unzip -p once-more/1/model.pt '*/data/*' | sha256sum)
}

a_dataset_that_is_too_small_is_told_what_it_lacks() {
  local status=0
  sim --cluster cluster.json --jobs before.csv --speeds speeds.csv --contention pairs.csv --count 8 --policy stock --dataset-out few >/dev/null
  retrain --dataset few --models none >out 2>&1 || status=$?
  [ "$status" = 3 ] && grep -q 'too small to learn from' out && grep -q 'and it takes 40 at least' out && grep -q 'pairs of types never seen' out
  [ ! -e none ] || fail "a store was made"
}

an_interrupted_training_judges_the_best_so_far_and_one_that_was_killed_goes_on() {
  local pid status=0
  "$build/harmony-retrain" --torch-library "$build/plugin/.libs/harmony_torch.so" --dataset dataset --models interrupted --hours 0.2 --seed 1 --force >out 2>&1 &
  pid=$!
  for _ in $(seq 600); do [ ! -s interrupted.work/weights.checkpoint ] || break; sleep 0.2; done
  [ -s interrupted.work/weights.checkpoint ] || fail "no checkpoint: $(cat out)"
  kill -9 "$pid"
  wait "$pid" 2>/dev/null || true
  "$build/harmony-retrain" --torch-library "$build/plugin/.libs/harmony_torch.so" --dataset dataset --models interrupted --hours 0.2 --seed 1 --force >out 2>&1 &
  pid=$!
  for _ in $(seq 600); do ! grep -q 'going on from the checkpoint' out || break; sleep 0.2; done
  sleep 2
  kill -INT "$pid"
  wait "$pid" || status=$?
  [ "$status" = 0 ] || fail "exit $status: $(cat out)"
  grep -q 'Training was interrupted' interrupted/1/MODEL_CARD.md
}

wrong_usage_is_told_apart() {
  local status=0
  retrain --models store >out 2>&1 || status=$?
  [ "$status" = 2 ]
  status=0
  retrain --dataset dataset --models store --algorithm magic >out 2>&1 || status=$?
  [ "$status" = 2 ]
  retrain --help | grep -q 'Exit code: 0 published'
}

a_model_of_another_schema_is_not_trained_from() {
  mkdir -p odd && cp -r store/1 odd/1
  sed -i 's/"schema" *: *3/"schema" : 1/' odd/1/manifest.json
  local status=0
  retrain --dataset dataset --models odd --base 1 --hours 0.001 >out 2>&1 || status=$?
  [ "$status" = 1 ] && grep -q 'schema 1' out
}

keep a_new_cluster_of_unknown_physics_gets_a_better_policy_unattended what_is_published_is_whole the_same_seed_gives_the_same_model \
  a_dataset_that_is_too_small_is_told_what_it_lacks an_interrupted_training_judges_the_best_so_far_and_one_that_was_killed_goes_on \
  wrong_usage_is_told_apart a_model_of_another_schema_is_not_trained_from
