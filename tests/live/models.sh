# What tests of policy learned share: a model store in use by slurmctld. Sourced after plans.sh.

: "${HARMONY_BUILD:?run it through tests/live/run}"
. "$(dirname "${BASH_SOURCE[0]}")/../models/lib.sh"
model_base=$(store_base)
store=$model_base/models
live_elsewhere+=("$model_base")
shipped=$HARMONY_BUILD/stage/share/slurm-harmony/models/shipped
shipped_title="$(jq -r .name "$shipped/manifest.json" 2>/dev/null) (shipped)"

harmony_model() { "$HARMONY_BIN" model "$@"; }
models_begin "$live_tmp"

# published KIND|packing|spreading|waiting [OPTION...]: a new version of the store; prints its number.
published() {
  local dir
  dir=$(mktemp -d "$live_tmp/model.XXXXXX")
  case $1 in
  packing | spreading | waiting) "$1" "$dir" ;;
  *) model "$dir" "$@" ;;
  esac
  harmony_model add --store "$store" "$dir" >"$dir/added" || fail "$(cat "$dir/added")"
  grep -oE 'version [0-9]+' "$dir/added" | head -n 1 | cut -d' ' -f2
}

# in_service TITLE: slurmctld uses that model ("linear version 3").
in_service() { cluster_until 30 _model_is "$1" || fail "model is $(stats model), not $1: $(stats model_problem)"; }
_model_is() { [ "$(stats model)" = "$1" ]; }

# switched_to VERSION: the store's CURRENT, and slurmctld follows.
switched_to() {
  harmony_model use --store "$store" "$1" >/dev/null
  in_service "$(harmony_model show --store "$store" --json "$1" | jq -r .name) version $1"
}

# faults CAUSE: how many gangs were the heuristic's for this cause.
faults() { stats "model_faults.$1"; }

# placed_by POLICY NODES [OPTION...]: a gang starts on so many nodes, placed by that policy.
placed_by() {
  local policy=$1 nodes=$2
  shift 2
  gang "$@"
  await "$job" RUNNING 60
  same "policy of job $job" "$policy" "$(explained "$job" .policy)"
  same "nodes of job $job" "$nodes" "$(nodes_of "$job" | wc -w)"
}
