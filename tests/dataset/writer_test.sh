#!/usr/bin/env bash
# The dataset's writer on disks that are slow, full, read-only and broken, and killed at every step of compressing: what
# can be read back is whole and in order, and what is not there was counted.
. "$(dirname "$0")/../static/lib.sh"

writer=$build/tests/dataset/write_records
disk=$build/tests/dataset/.libs/slow_disk.so
killer=$build/tests/store/.libs/kill_at.so
place=$(mktemp -d /tmp/harmony-dataset-test.XXXXXX)
writing=
trap '[ -z "$writing" ] || kill "$writing" 2>/dev/null; rm -rf "$static_tmp" "$place"' EXIT
for file in "$writer" "$disk" "$killer"; do [ -s "$file" ] || { echo "$file is not there: make check builds it"; exit 1; }; done

fresh() { rm -rf "${place:?}"/*; data=$place/data; }

# on_disk VARIABLE=VALUE... COMMAND: with that disk below the dataset's directory.
on_disk() { env LD_PRELOAD="$disk" SLOW_DISK_DIR="$data" "$@" 2>"$place/said"; }

# figure NAME WHEN: what the writer counted then, as in "figure lost end".
figure() { sed -n "s/^$2: .*$1 \([0-9]*\) .*/\1/p" "$place/out"; }

jobs_read() { "$writer" read "$data" | grep -v gap; }
gaps_read() { "$writer" read "$data" | sed -n 's/^gap://p' | awk '{ sum += $1 } END { print sum + 0 }'; }

# all_or_counted N: N jobs were put; each was read back, in order, or is told of by a gap.
all_or_counted() {
  jobs_read | sort -n -c
  [ "$(jobs_read | sort -u | wc -l)" = "$(jobs_read | wc -l)" ] || fail "records were read twice"
  [ $(($(jobs_read | wc -l) + $(gaps_read))) = "$1" ] || fail "$(jobs_read | wc -l) read, $(gaps_read) in gaps, of $1"
  [ "$(gaps_read)" = "$(figure lost end)" ] || fail "gaps tell of $(gaps_read), the figures of $(figure lost end)"
}

a_slow_disk_keeps_nobody_waiting() {
  fresh
  on_disk SLOW_DISK_MS=20 "$writer" burst "$data" 150 >"$place/out"
  [ "$(figure written put)" -lt 50 ] || fail "put waited for the disk: $(cat "$place/out")"
  [ "$(figure written end)" = 150 ] && [ "$(figure lost end)" = 0 ] || fail "$(cat "$place/out")"
  all_or_counted 150
}

a_disk_that_is_slower_than_the_records_loses_some_and_says_how_many() {
  fresh
  on_disk SLOW_DISK_MS=20 "$writer" burst "$data" 5000 67108864 40 >"$place/out"
  [ "$(figure lost end)" -gt 1000 ] || fail "$(cat "$place/out")"
  all_or_counted 5000
  grep -q "records were lost: the queue is full" "$place/said" || fail "$(cat "$place/said")"
}

# until_said TEXT: the writer in the background has said that.
until_said() { timeout 60 sh -c 'until grep -q "$1" "$2"; do sleep 0.1; done' _ "$1" "$place/said" || fail "never said: $1"; }

# recovers ERROR REASON: the disk breaks while it is written to, and is mended.
recovers() {
  fresh
  on_disk SLOW_DISK_SWITCH="$place/switch" "$writer" write "$data" 20000 100000 50 >"$place/out" &
  writing=$!
  timeout 60 sh -c 'until grep -q "^flushed" "$1"; do sleep 0.05; done' _ "$place/out" || fail "nothing was flushed"
  echo "ERROR $1" >"$place/switch"
  until_said "error: dataset: cannot .*: $2; records wait in memory"
  rm "$place/switch"
  until_said "is written again"
  wait "$writing"
  writing=
  [ "$(figure written end)" -gt 100 ] || fail "$(tail -n 2 "$place/out")"
  all_or_counted 20000
}
a_disk_that_is_full_is_written_again_when_there_is_room() { recovers ENOSPC "No space left on device"; }
a_disk_that_turns_read_only_is_written_again_when_it_is_mended() { recovers EROFS "Read-only file system"; }
a_disk_with_errors_is_written_again_when_it_is_mended() { recovers EIO "Input/output error"; }

a_full_file_system_tears_no_line() {
  fresh
  mkdir "$data"
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "needs root: the full disk above stands for it"; return 0; }
  # in a mount namespace of its own, which takes the file system away again
  unshare -m bash -c '
    mount -t tmpfs -o size=64k,mode=0750 none "$2" || exit 1
    timeout 3 "$1" burst "$2" 5000 >/dev/null 2>"$3"
    "$1" read "$2" >"$4"' _ "$writer" "$data" "$place/said" "$place/read"
  grep -q "No space left on device" "$place/said" || fail "$(cat "$place/said")"
  [ "$(wc -l <"$place/read")" -gt 100 ] || fail "only $(wc -l <"$place/read") records"
  cmp "$place/read" <(seq "$(wc -l <"$place/read")")
}

a_read_only_directory_is_said_and_hurts_nobody() {
  fresh
  mkdir "$data"
  on_disk SLOW_DISK_ERROR=EROFS timeout 10 "$writer" burst "$data" 100 67108864 20 >"$place/out" || true
  [ "$(figure written put)" = 0 ] && [ "$(figure lost put)" -ge 79 ] || fail "$(cat "$place/out")"
  grep -q "cannot create $data/.*: Read-only file system" "$place/said" || fail "$(cat "$place/said")"
  [ -z "$(ls -A "$data")" ] || fail "$(ls -A "$data")"
}

two_processes_write_to_one_directory() {
  fresh
  "$writer" write "$data" 3000 20000 >"$place/out" &
  writing=$!
  "$writer" write "$data" 3000 20000 >"$place/out2"
  wait "$writing"
  writing=
  cmp <(jobs_read | sort -n) <(seq 3000 | sed 'p')
}

compressing_may_be_killed_at_any_step() {
  local at status base
  fresh
  "$writer" write "$data" 500 10000000 >/dev/null
  for file in "$data"/*.jsonl; do [ -s "$file" ] || fail "no plain file to begin with: $(ls -A "$data")"; done
  cp -a "$data" "$place/base"
  for ((at = 1; ; ++at)); do
    rm -rf "$data" && cp -a "$place/base" "$data"
    status=0
    KILL_AT=$at LD_PRELOAD=$killer "$writer" pack "$data" || status=$?
    cmp <("$writer" read "$data") <(seq 500) || fail "killed at $at: $(ls -lA "$data")"
    [ "$status" != 0 ] || break
    [ "$status" = 137 ] || fail "status $status at $at"
    "$writer" pack "$data"
    cmp <("$writer" read "$data") <(seq 500) || fail "compressed again after $at: $(ls -lA "$data")"
    [ "$(ls -A "$data")" = "$(basename "$data"/*.jsonl.gz)" ] || fail "left behind after $at: $(ls -lA "$data")"
  done
  [ "$at" -gt 5 ] || fail "it was killed at $at places only"
}

keep a_slow_disk_keeps_nobody_waiting a_disk_that_is_slower_than_the_records_loses_some_and_says_how_many \
  a_disk_that_is_full_is_written_again_when_there_is_room a_disk_that_turns_read_only_is_written_again_when_it_is_mended \
  a_disk_with_errors_is_written_again_when_it_is_mended a_full_file_system_tears_no_line \
  a_read_only_directory_is_said_and_hurts_nobody two_processes_write_to_one_directory compressing_may_be_killed_at_any_step
