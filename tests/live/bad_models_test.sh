# Whatever is wrong with a model, slurmctld runs, one line says what it is, and the heuristic places the gangs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"
. "$(dirname "$0")/models.sh"

lines=("Policy=learned" "Interval=1s" "MinInterval=20ms" "BreakerPause=1s" "InferenceBudget=1s" "RoundBudget=500ms")

# nothing_in_service: the promise begins without a model. An empty store would leave the shipped one, so this one has a CURRENT of no
# worth; and what is in service would stay, so slurmctld starts anew then.
nothing_in_service() {
  planned_with "${lines[@]}" "ModelStore=$model_base/worthless"
  [ "$(stats model)" = none ] || { cluster_restart_ctld; all_is_quiet; cluster_until 60 topologies_are_known; }
  cluster_until 20 worthless_is_told || fail "$(stats model): $(stats model_problem)"
  : >"$cluster_dir/log/slurmctld.log"
}

worthless_is_told() { [[ "$(stats model) $(stats model_problem)" == "none the model of $model_base/worthless is refused: "* ]]; }

# store_with KIND [OPTION...]: a store of its own with one version, in use.
store_with() {
  store=$(mktemp -d "$model_base/store.XXXXXX")
  chmod 755 "$store"
  published "$@" >/dev/null
  harmony_model use --store "$store" 1 >/dev/null
}

# refused PATTERN: the store's model is refused with one such line, and a gang is placed by the heuristic.
refused() {
  nothing_in_service
  planned_with "${lines[@]}" "ModelStore=$store"
  logged "error: harmony: $1.*; gangs are placed by the heuristic$"
  heuristic_places_a_gang
  same "lines" 1 "$(logged_times "; gangs are placed by the heuristic$")"
  same "model" none "$(stats model)"
  grep -qE -- "$1" <<<"$(stats model_problem)" || fail "status says: $(stats model_problem)"
}

heuristic_places_a_gang() {
  overlay_is_loaded
  placed_by pack 1 -n 4 --gpus=4
  runs_as_planned "$job"
  [ "$(faults no_model)" -ge 1 ] || fail "no_model: $(faults no_model)"
}

a_missing_model() { store_with spreading; rm "$store/1/model.pt"; refused "version 1 of $store is refused: $store/1/model.pt"; }
a_missing_manifest() { store_with spreading; rm "$store/1/manifest.json"; refused "version 1 of $store is refused: $store/1/manifest.json"; }
a_truncated_model() { store_with spreading; truncate -s -100 "$store/1/model.pt"; refused "version 1 of $store is refused: .*model.pt.*(sha256|digest)"; }
a_flipped_bit() {
  store_with spreading
  printf '\x55' | dd of="$store/1/model.pt" bs=1 seek=300 conv=notrunc status=none
  refused "version 1 of $store is refused: .*model.pt.*(sha256|digest)"
}
another_owner() { store_with spreading; chown 65534 "$store/1/model.pt"; refused "version 1 of $store is refused: $store/1/model.pt .*(owned|belongs)"; }
a_writable_parent() { store_with spreading; chmod g+w "$store"; refused "the model of $store is refused: $store is writable by its group; chmod g-w $store"; }
a_writable_version() { store_with spreading; chmod o+w "$store/1"; refused "version 1 of $store is refused: $store/1 is writable by others; chmod o-w $store/1"; }
a_symlink() {
  store_with spreading
  mv "$store/1/model.pt" "$store/elsewhere" && ln -s ../elsewhere "$store/1/model.pt"
  refused "version 1 of $store is refused: $store/1/model.pt is a symbolic link"
}
a_symlink_on_the_way() { store_with spreading; ln -s "$store" "$store-link"; store=$store-link; refused "the model of $store is refused: $store is a symbolic link"; }

# with_manifest JQ: a good model whose manifest says something else.
with_manifest() {
  store_with spreading
  jq "$1" "$store/1/manifest.json" >"$live_tmp/manifest" && cat "$live_tmp/manifest" >"$store/1/manifest.json"
}
another_schema() { with_manifest ".schema = 1"; refused "version 1 of $store is refused: .*schema 1.*schema 3"; }
another_torch() { with_manifest '.torch = "2.4.0"'; refused "version 1 of $store is refused: it was written with LibTorch 2.4.0, this is 1.13"; }
other_features() { with_manifest '.features.job[0].name = "tasks"'; refused "version 1 of $store is refused: .*job feature 0 is tasks in its manifest and workers in schema 3"; }
no_json() { store_with spreading; echo '{' >"$store/1/manifest.json"; refused "version 1 of $store is refused: $store/1/manifest.json"; }

two_gigabytes() { store_with spreading; truncate -s 2G "$store/1/model.pt"; refused "version 1 of $store is refused: $store/1/model.pt .*(large|MB|bytes)"; }
no_torchscript_at_all() {
  store_with spreading
  head -c 4096 /dev/urandom >"$store/1/model.pt"
  manifest "$store/1" junk
  jq '.version = 1' "$store/1/manifest.json" >"$live_tmp/manifest" && cat "$live_tmp/manifest" >"$store/1/manifest.json"
  refused "version 1 of $store is refused: "
}
an_endless_loop() { store_with loop; refused "version 1 of $store is refused: .*loop"; }
one_that_throws() { store_with throws; refused "version 1 of $store is refused: "; }
not_a_number() { store_with nan; refused "version 1 of $store is refused: .*not_finite"; }
a_wrong_shape() { store_with wrong_shape; refused "version 1 of $store is refused: "; }
a_wrong_kind_of_number() { store_with wrong_dtype; refused "version 1 of $store is refused: "; }
a_hundred_thousand_zeros() { store_with zeros; refused "version 1 of $store is refused: it gives every candidate and every gang the same score"; }
too_many_parameters() { store_with big; refused "version 1 of $store is refused: .*(parameters|values)"; }
one_that_prints() { store_with prints; refused "version 1 of $store is refused: .*prim::Print"; }
one_that_reads_files() { store_with reads_file; refused "version 1 of $store is refused: .*aten::from_file"; }
one_that_rolls_dice() { store_with random; refused "version 1 of $store is refused: .*aten::rand"; }
one_that_divides_whole_numbers() { store_with divides_whole_numbers; refused "version 1 of $store is refused: .*aten::remainder"; }
one_that_rounds_a_division() { store_with rounds_a_division; refused "version 1 of $store is refused: .*rounding mode"; }
one_with_a_long_list() { store_with long_list; refused "version 1 of $store is refused: .*aten::mul on lists"; }
other_methods() { store_with no_method; refused "version 1 of $store is refused: .*score_"; }

# A model whose answers to real questions are wrong, though it was well when it was warmed up, is met by the guard.
one_that_fails_later_opens_the_breaker_and_is_probed() {
  store_with fails_later
  nothing_in_service
  planned_with "${lines[@]}" "ModelStore=$store"
  in_service "fails_later version 1"
  local before
  before=$(stats counters.rounds)
  placed_by pack 1 -n 4 --gpus=4
  says 'not by the model: ' "$HARMONY_BIN" explain "$job"
  for i in 1 2 3 4 5 6; do gang -n 1 --gpus=1; await "$job" RUNNING 60; done
  [ "$(faults failed)" -ge 5 ] || fail "failed: $(faults failed)"
  cluster_until 20 breaker_is '^(open|probing)' || fail "breaker: $(stats breaker)"
  same "lines" 1 "$(logged_times 'harmony: model fails_later version 1: .*\(failed\)')"
  cluster_until 20 breaker_is '^probing' || fail "breaker: $(stats breaker)"
  gang -n 1 --gpus=1; await "$job" RUNNING 60
  [ "$(stats counters.probes)" -ge 1 ] || fail "probes: $(stats counters.probes)"
}
breaker_is() { [[ $(stats breaker) =~ $1 ]]; }

# It has no loop, but would take minutes for an answer. slurmctld plans on, starts jobs, and can be stopped.
one_that_is_stuck_is_waited_for_once() {
  store_with slow_later
  nothing_in_service
  planned_with "${lines[@]}" "ModelStore=$store"
  in_service "slow_later version 1"
  placed_by pack 1 -n 4 --gpus=4
  says 'not by the model: (no answer within 1000 ms|still busy with a late answer|the breaker is open)' "$HARMONY_BIN" explain "$job"
  [ "$(faults late)" -ge 1 ] || fail "late: $(faults late)"
  for i in 1 2 3; do placed_by pack 1 -n 1 --gpus=1; done
  same "lines" 1 "$(logged_times 'harmony: model slow_later version 1: .*\(late\)')"
  planned_with "${lines[@]}" "ModelStore=$model_base/good"
  in_service "linear version 1"
  cluster_cancel_jobs; all_is_quiet
  placed_by learned 2 -n 2 --gpus=2
  cluster_restart_ctld
  all_is_quiet || true
  overlay_is_loaded
}

mkdir "$model_base/worthless" && echo nothing >"$model_base/worthless/CURRENT"
plan_cluster "$(printf '%s\n' "${lines[@]}" "ModelStore=$model_base/worthless")" --nodes 2
(store=$model_base/good && published spreading >/dev/null && harmony_model use --store "$store" 1 >/dev/null)
keep a_missing_model a_missing_manifest a_truncated_model a_flipped_bit another_owner a_writable_parent a_writable_version \
  a_symlink a_symlink_on_the_way another_schema another_torch other_features no_json two_gigabytes no_torchscript_at_all an_endless_loop \
  one_that_throws not_a_number a_wrong_shape a_wrong_kind_of_number a_hundred_thousand_zeros too_many_parameters one_that_prints \
  one_that_reads_files one_that_rolls_dice one_that_divides_whole_numbers one_that_rounds_a_division one_with_a_long_list other_methods one_that_fails_later_opens_the_breaker_and_is_probed \
  one_that_is_stuck_is_waited_for_once
