# The model that comes with slurm-harmony: it places gangs from the first minute on, steps back for a version of the site's own, and
# whatever is wrong with it, one line says so and the heuristic places the gangs.

# What is done to its files must not be seen by other tests of this installation: a mount of its own, where that is allowed.
if [ -z "${HARMONY_OWN_MOUNTS:-}" ] && unshare --mount --propagation private true 2>/dev/null; then
  HARMONY_OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$0"
fi
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"
. "$(dirname "$0")/models.sh"

lines=("Interval=1s" "MinInterval=20ms" "ModelStore=$store")

it_is_installed_and_sound() {
  [ -s "$shipped/model.pt" ] || fail "no shipped model is installed: $shipped/model.pt is missing"
  says '^ok +digest ' harmony_model verify "$shipped"
  says '^shipped +yes +[a-z0-9]' harmony_model list --store "$store.none"
  same "the shipped model in JSON" "$shipped true" "$(harmony_model list --json --store "$store.none" | jq -r '.shipped | "\(.directory) \(.in_use)"')"
}

# Without harmony.conf, as on the day it is installed.
without_harmony_conf_it_is_in_service_and_places_a_ps_gang_that_completes() {
  rm "$cluster_dir/etc/harmony.conf"
  cluster_stop_ctld
  : >"$cluster_dir/log/slurmctld.log"
  cluster_start_ctld
  all_is_quiet && cluster_until 60 topologies_are_known
  in_service "$shipped_title"
  logged "harmony: model ${shipped_title/ (shipped)/ \\(shipped\\)} is in service"
  same "settings file and policy" "none learned" "$(stats settings_file) $(stats policy)"
  says "^  in service +${shipped_title/ (shipped)/ \\(shipped\\)}$" "$HARMONY_BIN" status
  same "problem" "" "$(stats model_problem)$("$HARMONY_BIN" status | sed -n 's/^problem *//p')"
  job=$(waiter "$live_tmp/go" --harmony-type=resnet50 --harmony-ps=1 -n 3 --gpus=2)
  await "$job" RUNNING
  same "policy of the decision" learned "$(explained "$job" .policy)"
  runs_as_planned "$job"
  touch "$live_tmp/go"
  await "$job" COMPLETED
  [ "$(stats counters.gangs_by_model)" -ge 1 ] || fail "gangs_by_model: $(stats counters.gangs_by_model)"
}

a_gang_that_waited_for_slurmctlds_start_is_placed_by_it() {
  local loaded
  job=$(submit --harmony-type=resnet50 --begin=now+3 -n 4 --gpus=4 --wrap 'sleep 1000')
  cluster_stop_ctld
  sleep 3
  : >"$cluster_dir/log/slurmctld.log"
  cluster_start_ctld
  await "$job" RUNNING
  loaded=$(grep -oE 'is in service, loaded in [0-9]+ ms' "$cluster_dir/log/slurmctld.log" | grep -oE '[0-9]+')
  [ "${loaded:-9999}" -lt 2800 ] || skip "the model took ${loaded:-too many} ms to load, longer than a round waits for it"
  same "policy of the decision, and gangs that met no model" "learned 0" "$(explained "$job" .policy) $(faults no_model)"
  echo "loaded in $loaded ms"
}

a_version_that_is_taken_in_use_counts_and_without_one_the_shipped_model_is_back() {
  local version
  in_service "$shipped_title"
  version=$(published spreading)
  switched_to "$version"
  placed_by learned 4 -n 4 --gpus=4
  says '^shipped +[a-z0-9]' harmony_model list --store "$store" # not in use
  says "^ +$version +yes +linear" harmony_model list --store "$store"
  rm "$store/CURRENT"
  in_service "$shipped_title"
}

# What was taken in use is what the site wants: the shipped model does not stand in for it.
a_refused_version_leaves_what_was_in_service_and_after_a_restart_the_heuristic() {
  local version
  in_service "$shipped_title"
  version=$(published throws)
  harmony_model use --store "$store" "$version" >/dev/null
  logged "harmony: version $version of $store is refused: .*; model .* \(shipped\) stays in service$"
  same "model" "$shipped_title" "$(stats model)"
  begun_anew
  logged "harmony: version $version of $store is refused: .*; gangs are placed by the heuristic$"
  placed_by pack 1 -n 4 --gpus=4
  rm "$store/CURRENT"
}

policy_pack_needs_no_model_and_loads_no_libtorch() {
  planned_with Policy=pack "${lines[@]}"
  begun_anew
  placed_by pack 1 -n 4 --gpus=4
  ! grep -q libtorch "/proc/$(cat "$cluster_dir/run/slurmctld.pid")/maps" || fail "LibTorch is loaded"
  ! "$HARMONY_BIN" status | grep -q '^problem' || fail "$("$HARMONY_BIN" status)"
}

# begun_anew: slurmctld starts with an empty log.
begun_anew() {
  cluster_stop_ctld
  : >"$cluster_dir/log/slurmctld.log"
  cluster_start_ctld
  all_is_quiet && cluster_until 60 topologies_are_known
}

# refused PATTERN: the shipped model is as the promise left it; slurmctld says so in one line, and a gang is placed by the heuristic.
refused() {
  begun_anew
  logged "error: harmony: no version of $store is in use, and the shipped model is refused: $1.*; gangs are placed by the heuristic$"
  overlay_is_loaded
  placed_by pack 1 -n 4 --gpus=4
  runs_as_planned "$job"
  reconfigure
  same "lines" 1 "$(logged_times '; gangs are placed by the heuristic$')"
  same "model" none "$(stats model)"
  [ "$(faults no_model)" -ge 1 ] || fail "no_model: $(faults no_model)"
  says "^problem +no model is in service, the heuristic decides: .*shipped model is refused: $1" "$HARMONY_BIN" status
}

own() { [ -n "${HARMONY_OWN_MOUNTS:-}" ] || skip "a mount of its own needs root"; }
with_manifest() { jq "$1" "$original/manifest.json" >"$own/manifest.json"; }

an_empty_directory_is_told_once_and_pack_places() { own; rm -r "${own:?}"/*; refused "$shipped/manifest.json does not exist"; }
a_missing_model_is_told_once_and_pack_places() { own; rm "$own/model.pt"; refused "$shipped/model.pt does not exist"; }
a_damaged_model_is_told_once_and_pack_places() {
  own
  printf '\x55' | dd of="$own/model.pt" bs=1 seek=300 conv=notrunc status=none
  refused "$shipped/model.pt is not the file that the manifest describes"
}
another_schema_is_told_once_and_pack_places() { own; with_manifest '.schema = 999'; refused "$shipped/manifest.json: .*schema 999"; }
another_owner_is_told_once_and_pack_places() { own; chown 65534 "$own/model.pt"; refused "$shipped/model.pt (is owned|belongs)"; }
a_writable_directory_is_told_once_and_pack_places() { own; chmod o+w "$own"; refused "$shipped is writable by others; chmod o-w $shipped"; }

a_mended_one_is_taken_in_service_by_reconfigure() {
  own
  rm "$own/model.pt"
  begun_anew
  in_service none
  sound_again
  reconfigure
  in_service "$shipped_title"
  same "problem" "" "$(stats model_problem)"
}

sound_again() {
  [ -n "${HARMONY_OWN_MOUNTS:-}" ] || return 0
  rm -rf "${own:?}"/* && cp -a "$original"/* "$own" && chmod 755 "$own"
}

# Each promise begins with the shipped model in service.
eval "plans_$(declare -f leave_no_jobs)"
leave_no_jobs() {
  plans_leave_no_jobs
  rm -f "$store/CURRENT"
  sound_again
  _model_is "$shipped_title" || begun_anew
}

original=$model_base/original own=$model_base/own
if [ -n "${HARMONY_OWN_MOUNTS:-}" ] && [ -s "$shipped/model.pt" ]; then
  mkdir "$original" "$own" && cp -a "$shipped"/* "$original" && sound_again && mount --bind "$own" "$shipped" || exit 1
fi
plan_cluster "$(printf '%s\n' "${lines[@]}")" --nodes 4
keep it_is_installed_and_sound without_harmony_conf_it_is_in_service_and_places_a_ps_gang_that_completes \
  a_gang_that_waited_for_slurmctlds_start_is_placed_by_it a_version_that_is_taken_in_use_counts_and_without_one_the_shipped_model_is_back \
  a_refused_version_leaves_what_was_in_service_and_after_a_restart_the_heuristic policy_pack_needs_no_model_and_loads_no_libtorch \
  an_empty_directory_is_told_once_and_pack_places a_missing_model_is_told_once_and_pack_places \
  a_damaged_model_is_told_once_and_pack_places another_schema_is_told_once_and_pack_places \
  another_owner_is_told_once_and_pack_places a_writable_directory_is_told_once_and_pack_places \
  a_mended_one_is_taken_in_service_by_reconfigure
