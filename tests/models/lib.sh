# Real TorchScript models with their manifests, made for tests: what `harmony model add` takes. Sourced; needs HARMONY_BUILD, the
# build directory, and harmony_model, a function that runs `harmony model`.

# models_begin DIR [TYPE,...]: where the list of features is kept, of models that know these types.
models_begin() {
  model_features=$1/features.json model_types=${2-}
  harmony_model features --json ${2:+--types "$2"} >"$model_features"
}

# store_base: a new directory where nobody but its owner can write, all the way up: a store has to be in one, so not below /tmp.
store_base() {
  local base
  base=$(mktemp -d "$([ "$(id -u)" = 0 ] && echo /run || echo "$HOME")/harmony-test.XXXXXX") && chmod 755 "$base" && echo "$base"
}

# columns PART NAME=WEIGHT...: "3=1,7=-2.5", the columns of these features.
columns() {
  local part=$1 pair column found=()
  shift
  for pair; do
    column=$(jq --arg part "$part" --arg name "${pair%%=*}" '.[$part] | map(.name) | index($name)' "$model_features")
    [ "$column" != null ] || { echo "no feature ${pair%%=*} of $part" >&2; return 1; }
    found+=("$column=${pair#*=}")
  done
  (IFS=,; echo "${found[*]}")
}

_types() { awk -F, '{ print NF + 1 }' <<<"$model_types"; } # with "unknown"
_width() { jq --arg part "$1" '.[$part] | length' "$model_features"; }

# model_file KIND FILE [OPTION...]: a model.pt of that kind with our widths (options of make-test-models).
model_file() {
  local kind=$1 file=$2
  shift 2
  "$HARMONY_BUILD/make-test-models" --kind "$kind" --types "$(_types)" --job-width "$(_width job)" --candidate-width "$(_width candidates)" \
    --gang-width "$(_width gangs)" "$@" "$file"
}

# model DIR KIND [OPTION...]: the same with its manifest and card.
model() {
  local dir=$1 kind=$2
  shift 2
  mkdir -p "$dir"
  model_file "$kind" "$dir/model.pt" "$@" && manifest "$dir" "$kind" && echo "Made for a test." >"$dir/MODEL_CARD.md"
}

# manifest DIR NAME: for the model.pt that is there; every feature may have any value.
manifest() {
  jq --arg name "$2" --arg types "$model_types" --arg sha256 "$(sha256sum "$1/model.pt" | cut -d' ' -f1)" '
    def ranges: map({name, low: 0, high: 1});
    {name: $name, version: 0, schema, torch: "1.13.1", sha256: $sha256, types: ($types | split(",")),
     features: {job: (.job | ranges), candidates: (.candidates | ranges), gangs: (.gangs | ranges)},
     trained_on: "nothing: made for a test", evaluation: "none"}' "$model_features" >"$1/manifest.json"
}

packing() { model "$1" linear --candidate-weights "$(columns candidates left_after=-1 new_node=-1)" --gang-weights "$(columns gangs wait=-9 nodes=-1)"; }
spreading() { model "$1" linear --candidate-weights "$(columns candidates left_after=1)" --gang-weights "$(columns gangs wait=-9 nodes=1)"; }
waiting() { model "$1" linear --candidate-weights "$(columns candidates left_after=1)" --gang-weights "$(columns gangs wait=1)"; }
