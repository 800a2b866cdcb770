# What tests of the dataset share. Sourced after lib.sh; $dataset is the directory.

dataset=$live_tmp/dataset
schema_check=$(dirname "$0")/../dataset/check_schema.py
schema=$(dirname "$0")/../../src/record/dataset.schema.json

# records [FILTER]: all that was recorded, in order, one a line, through jq.
records() {
  find "$dataset" -name '*.jsonl*' -print0 2>/dev/null | sort -z | xargs -0 -r zcat -f | jq -c "${1:-.}"
}
of_job() { records "select(.job == $1) | $2"; }

# recorded JOB FILTER [COUNT]: the job has (so many) such records, or will soon.
recorded() { cluster_until 20 _has_records "$1" "$2" "${3:-1}" || fail "job $1 has not ${3:-1} of $2: $(of_job "$1" . | tail -n 5)"; }
_has_records() { [ "$(of_job "$1" "select($2) | 1" | wc -l)" = "$3" ]; }

ended() { recorded "$1" '.record == "end"' "${2:-1}"; }

fact() { "$HARMONY_BIN" status --json | jq -r ".statistics.$1"; }

# Whole, in order, and as the schema says.
is_sound() {
  python3 "$schema_check" "$schema" "$dataset"/*.jsonl* || fail "not as dataset.schema.json says"
  says . "$HARMONY_BIN" dataset check "$dataset"
}
