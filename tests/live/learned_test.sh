# Policy learned: slurmctld runs a TorchScript model in its process and does what the model says, or what the heuristic says when
# the model cannot.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"
. "$(dirname "$0")/models.sh"

slurmctld_follows_a_model_that_packs() {
  switched_to "$packs"
  placed_by learned 1 -n 4 --gpus=4
  runs_as_planned "$job"
  says 'the best of [0-9]+ gangs? by model linear version' "$HARMONY_BIN" explain "$job"
}

slurmctld_follows_a_model_that_spreads() {
  switched_to "$spreads"
  placed_by learned 4 -n 4 --gpus=4
  runs_as_planned "$job"
}

slurmctld_follows_a_model_that_waits_and_not_beyond_max_wait() {
  planned_with "${learned_lines[@]}" MaxWait=6s
  switched_to "$waits"
  gang -n 4 --gpus=4
  cluster_until 20 is_told_to_wait "$job" || fail "$("$HARMONY_BIN" explain "$job")"
  same "state" PENDING "$(job_field "$job" JobState)"
  await "$job" RUNNING 60
  same "policy" learned "$(explained "$job" .policy)"
}
is_told_to_wait() { [ "$(explained "$1" .verdict)" = wait ] && says 'waiting is better by model' "$HARMONY_BIN" explain "$1"; }

ps_hetjobs_and_exclusive_jobs_are_placed_by_the_model() {
  switched_to "$spreads"
  placed_by learned 4 -n 6 --gpus=4 --harmony-ps=2
  runs_as_planned "$job"
  timeout 20 scancel "$job"; await "$job" CANCELLED; all_is_quiet
  placed_by learned 1 -N 1 -n 2 --exclusive --gpus-per-node=8
  runs_as_planned "$job"
  timeout 20 scancel "$job"; await "$job" CANCELLED; all_is_quiet
  job=$(submit --harmony-type=resnet50 --harmony-ps=1 -n 2 --gpus-per-task=1 : -n 1 --wrap 'sleep 1000')
  await "$job" RUNNING 60
  same "policy of the hetjob" learned "$(explained "$job" .policy)"
}

in_shadow_mode_the_model_decides_and_stock_acts() {
  switched_to "$spreads"
  cluster_use shadow
  cluster_restart_ctld
  all_is_quiet; cluster_until 60 topologies_are_known
  in_service "linear version $spreads"
  gang -n 4 --gpus=4
  await "$job" RUNNING 60
  same "nodes that stock gave" 1 "$(nodes_of "$job" | wc -w)"
  same "nodes that the model wanted" 4 "$(explained "$job" '.plan | length')"
}

status_tells_of_the_model() {
  switched_to "$packs"
  placed_by learned 1 -n 2 --gpus=2
  says "linear version $packs" "$HARMONY_BIN" status
  [ "$(stats counters.gangs_by_model)" -ge 1 ] || fail "gangs_by_model: $(stats counters.gangs_by_model)"
  [ "$(stats counters.scores_computed)" -ge 1 ] || fail "scores_computed: $(stats counters.scores_computed)"
  same "breaker" closed "$(stats breaker)"
  says 'harmony_model_faults' "$HARMONY_BIN" status --prometheus
}

rollback_brings_the_model_before_back() {
  switched_to "$packs"
  switched_to "$spreads"
  harmony_model rollback --store "$store" >/dev/null
  in_service "linear version $packs"
}

a_store_that_is_emptied_leaves_the_shipped_model_and_reconfigure_brings_the_sites_back() {
  switched_to "$spreads"
  mv "$store/CURRENT" "$store/away"
  in_service "$shipped_title"
  mv "$store/away" "$store/CURRENT"
  reconfigure
  in_service "linear version $spreads"
}

a_refused_version_leaves_the_one_before_in_service() {
  local version before
  switched_to "$spreads"
  version=$(published throws)
  before=$(stats counters.models_refused)
  harmony_model use --store "$store" "$version" >/dev/null
  logged "harmony: version $version of $store is refused: .*; model linear version $spreads stays in service"
  [ "$(stats counters.models_refused)" -gt "$before" ] || fail "models_refused: $(stats counters.models_refused)"
  placed_by learned 4 -n 4 --gpus=4
}

a_wide_gang_that_training_never_saw_is_the_heuristics() {
  local dir=$live_tmp/narrow version
  spreading "$dir"
  jq '(.features.job[] | select(.name == "workers")).high = 0.3' "$dir/manifest.json" >"$dir/new" && mv "$dir/new" "$dir/manifest.json"
  version=$(harmony_model add --store "$store" "$dir" | grep -oE 'version [0-9]+' | head -n 1 | cut -d' ' -f2)
  switched_to "$version"
  placed_by learned 2 -n 2 --gpus=2
  timeout 20 scancel "$job"; await "$job" CANCELLED; all_is_quiet
  placed_by pack 1 -n 8 --gpus=8
  says 'not by the model: job feature workers is 0.5[0-9]*, it was trained on 0.000 to 0.300' "$HARMONY_BIN" explain "$job"
  [ "$(faults out_of_distribution)" -ge 1 ] || fail "out_of_distribution: $(faults out_of_distribution)"
}

memory_grows_by_less_than_250_mb() {
  switched_to "$packs"
  planned_with Policy=pack "${learned_lines[@]:1}"
  cluster_restart_ctld
  all_is_quiet
  local without with
  without=$(resident)
  planned_with "${learned_lines[@]}"
  in_service "linear version $packs"
  placed_by learned 1 -n 4 --gpus=4
  with=$(resident)
  echo "slurmctld: $((without / 1024)) MB without a model, $((with / 1024)) MB with one"
  [ $((with - without)) -lt $((250 * 1024)) ] || fail "$((with - without)) kB more"
}
resident() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$(cat "$cluster_dir/run/slurmctld.pid")/status"; }

packs=$(published packing) spreads=$(published spreading) waits=$(published waiting)
harmony_model use --store "$store" "$packs" >/dev/null
learned_lines=("Policy=learned" "ModelStore=$store" "Interval=1s" "MinInterval=20ms")
plan_cluster "$(printf '%s\n' "${learned_lines[@]}")" --nodes 4
in_service "linear version $packs"
keep slurmctld_follows_a_model_that_packs slurmctld_follows_a_model_that_spreads \
  slurmctld_follows_a_model_that_waits_and_not_beyond_max_wait ps_hetjobs_and_exclusive_jobs_are_placed_by_the_model \
  in_shadow_mode_the_model_decides_and_stock_acts status_tells_of_the_model rollback_brings_the_model_before_back \
  a_store_that_is_emptied_leaves_the_shipped_model_and_reconfigure_brings_the_sites_back \
  a_refused_version_leaves_the_one_before_in_service a_wide_gang_that_training_never_saw_is_the_heuristics \
  memory_grows_by_less_than_250_mb
