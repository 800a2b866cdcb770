#!/usr/bin/env bash
# Every record that is written is what dataset.schema.json allows, and nothing else is.
. "$(dirname "$0")/../static/lib.sh"

writer=$build/tests/dataset/write_records
schema=$top/src/record/dataset.schema.json
check() { python3 "$top/tests/dataset/check_schema.py" "$schema" "$@"; }
python3 -c 'import jsonschema' 2>/dev/null || { echo "skipped: python3-jsonschema is not installed"; exit 77; }
[ -x "$writer" ] || { echo "$writer is not there: make check builds it"; exit 1; }

lines=$static_tmp/lines.jsonl

records_of_every_kind_are_what_the_schema_allows() {
  "$writer" lines 3000 1 >"$lines"
  local kind
  check "$lines" | tee "$static_tmp/told"
  for kind in node start resume interval end shadow usage gap; do grep -q "[0-9] $kind[,)]" "$static_tmp/told" || fail "no $kind"; done
}

compressed_files_and_torn_tails_are_checked_too() {
  "$writer" lines 200 2 >"$lines"
  printf '{"schema":2,' >>"$lines"
  gzip -k "$lines"
  head -c 5000 "$lines.gz" >"$static_tmp/torn.jsonl.gz"
  check "$lines" "$lines.gz" "$static_tmp/torn.jsonl.gz"
}

# refused SED: a line changed so is not what the schema allows.
refused() {
  "$writer" lines 300 3 | sed "$1" >"$lines"
  ! check "$lines" >"$static_tmp/told" || fail "allowed: $1"
  grep -qE ':[0-9]+: ' "$static_tmp/told"
}
what_is_not_in_the_schema_is_refused() {
  refused 's/{/{"colour":1,/'
  refused 's/"workers"/"tasks"/'
  refused 's/"schema":2/"schema":1/'
  refused 's/"record":"gap"/"record":"hole"/'
  refused 's/"begin_s":[0-9.e+]*/"begin_s":NaN/'
  refused 's/"job":[0-9]*/"job":-1/'
  refused 's/"cores":"[^"]*"/"cores":"all"/'
  refused 's/"epoch":[0-9.]*/"epoch":1e9/'
}

keep records_of_every_kind_are_what_the_schema_allows compressed_files_and_torn_tails_are_checked_too \
  what_is_not_in_the_schema_is_refused
