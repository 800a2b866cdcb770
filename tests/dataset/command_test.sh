#!/usr/bin/env bash
# harmony dataset as people use it: what it prints, what it refuses and how, and that whatever is in a file, it ends well.
. "$(dirname "$0")/../static/lib.sh"

harmony=$build/harmony
cd "$static_tmp" || exit 1
export TZ=UTC
dataset() { timeout 300 "$harmony" dataset "$@"; }

# refused CODE LINE COMMAND...: it ends with CODE, and stderr is just LINE (a pattern).
refused() {
  local code=$1 line=$2 status=0
  shift 2
  "$@" >out 2>err || status=$?
  [ "$status" = "$code" ] || fail "$*: exit $status instead of $code: $(cat err)"
  [ "$(wc -l <err)" = 1 ] && grep -qE "^harmony dataset [a-z]*: $line" err || fail "$*: said: $(cat err)"
}

# faulty LINE...: check ends with 1 and prints just these lines (patterns), then a line that sums up.
faulty() {
  local status=0 line
  dataset check data >out || status=$?
  [ "$status" = 1 ] || fail "exit $status instead of 1: $(cat out)"
  for line; do grep -qE "^$line$" out || fail "no line $line in: $(cat out)"; done
  [ "$(wc -l <out)" = $(($# + 1)) ] || fail "more than $# lines: $(cat out)"
}

terms='"terms":{"same_domain":0,"same_socket":0,"same_nic":0,"cores":0,"across_nodes":0}'
run() { echo "\"schema\":2,\"cluster\":\"c1\",\"job\":$1,\"run\":0,\"type\":\"$2\""; }
start() { echo "{\"record\":\"start\",$(run "$1" "$2"),\"workers\":2,\"ps\":0,\"gpus\":2,\"epochs\":10,\"policy\":\"pack\",\"by_plan\":$3,\"submit_s\":$4,\"begin_s\":$4}"; }
# interval JOB TYPE BEGIN END [NEIGHBOUR'S TYPE]
interval() {
  local beside="{\"job\":9,\"type\":\"${5-}\",\"workers\":2,\"ps\":0,\"nodes\":1,\"on\":[{\"node\":\"n1\",\"workers\":2,\"ps\":0}]}"
  [ $# = 5 ] || beside=
  echo "{\"record\":\"interval\",$(run "$1" "$2"),\"workers\":2,\"ps\":0,\"nodes\":1,\"begin_s\":$3,\"end_s\":$4,$terms,\"neighbours\":[$beside]}"
}
end() { echo "{\"record\":\"end\",$(run "$1" "$2"),\"state\":\"COMPLETED\",\"begin_s\":$3,\"end_s\":$4,\"elapsed_s\":$(($4 - $3)),\"epochs\":10,\"requeues\":0,\"exit_code\":0}"; }

# vgg16 alone for an hour, then for two beside bert; bert beside it.
two_runs() {
  rm -rf data && mkdir data
  { start 1 vgg16 true 1793520000; interval 1 vgg16 1793520000 1793523600; end 1 vgg16 1793520000 1793523600; } >data/a.jsonl
  { start 2 vgg16 false 1793530000; start 3 bert true 1793530000; interval 2 vgg16 1793530000 1793537200 bert
    interval 3 bert 1793530000 1793537200 vgg16; end 2 vgg16 1793530000 1793537200; } | gzip >data/b.jsonl.gz
}

stats_say_what_is_there() {
  two_runs
  dataset stats data >out
  grep -q '^Dataset   data: 2 files, ' out && grep -q '^Cluster   c1: 2026-11-01T08:00:00 to 2026-11-01T12:46:40$' out
  grep -q '^Records   8: 2 end, 3 interval, 3 start$' out
  grep -q '^Runs      3: 2 complete, 1 open, 0 whose end is lost$' out
  grep -q '^Pairs     2 of 4 seen side by side (50 %)$' out
  grep -qE '^vgg16 +2 +2 +6.0 +1.50$' out || fail "$(cat out)" # 1 / (1 h of 1 and 2 h of 0.5)
  ! grep -q 'declared no epochs' out
  grep -qE '^plan +2 +1 +2.0 +0 s +1.0 h +1.00$' out && grep -qE '^stock +1 +1 +4.0 +0 s +2.0 h +2.0[0-9]$' out || fail "$(cat out)"
}

stats_tell_policies_apart() {
  two_runs
  { start 4 bert true 1793530000 | sed s/pack/spread/; end 4 bert 1793530000 1793533600 | sed 's/"epochs":10,//'; } >data/c.jsonl
  dataset stats data >out
  grep -qE '^POLICY +RUNS' out && grep -qE '^pack +3 +2 +6.0 ' out && grep -qE '^spread +1 +1 +2.0 ' out || fail "$(cat out)"
  grep -q '^          1 completed run declared no epochs (--harmony-epochs): its speed is not known$' out || fail "$(cat out)"
  dataset stats data --json | jq -e '.policies.pack.runs == 3 and .policies.spread.completed == 1 and .runs.without_epochs == 1' >/dev/null
}

stats_count_as_people_do() {
  local times same
  for times in never once '2 times'; do
    rm -rf data && mkdir data
    for same in 1 2; do
      [ "$times" = never ] || [ "$times$same" = once2 ] && same=false || same=true
      echo "{\"record\":\"shadow\",$(run 1 bert),\"policy\":\"pack\",\"decided_s\":1793520000,\"same\":$same}"
    done >data/a.jsonl
    dataset stats data >out
    grep -q "^Shadow    2 decisions; stock did the same $times$" out || fail "$times: $(cat out)"
  done
}

figures_for_programs_have_six_digits() {
  two_runs
  { start 5 bert true 1793540000; interval 5 bert 1793540000 1793543950; end 5 bert 1793540000 1793543950
    start 6 bert true 1793540000; interval 6 bert 1793540000 1793544000; end 6 bert 1793540000 1793544000; } >data/c.jsonl
  dataset stats data --json >out
  ! grep -qE '[0-9]\.[0-9]{7}' out && grep -q '"last_s":1793544000.0' out && jq -e '.types.bert.slowdown > 1' out >/dev/null || fail "$(cat out)"
}

stats_are_there_for_programs() {
  two_runs
  dataset stats data --json | jq -e '.runs == {all: 3, complete: 2, open: 1, lost_end: 0, without_start: 0, with_claim: 0, without_epochs: 0, disturbed: 0}
    and .records.interval == 3 and .types.vgg16.runs == 2 and .states.COMPLETED == 2 and .pairs.possible == 4
    and (.pairs.pairs | map(select(.victim == "vgg16" and .neighbour == "bert")) | .[0] | .seconds == 7200 and .speed > 0.49 and .speed < 0.51)' >/dev/null
}

pairs_are_drawn() {
  two_runs
  dataset stats data --svg map.svg >out
  [ -s out ] && grep -q 'vgg16 beside bert: 2.0 h, median speed 0.50' map.svg
  ! command -v xmllint >/dev/null || xmllint --noout map.svg
  dataset stats data --svg - >out && cmp out map.svg
}

a_sound_dataset_is_sound() {
  two_runs
  dataset check data >out
  [ "$(cat out)" = 'data: 2 files and 8 records, 1 run open: sound' ]
  dataset check data --json | jq -e '.sound and .faults == 0 and .records == 8 and .runs_open == 1 and .first == []' >/dev/null
}

a_torn_tail_is_a_note_and_no_fault() {
  two_runs
  printf '{"record":"sta' >>data/a.jsonl
  head -c -20 data/b.jsonl.gz >torn && mv torn data/b.jsonl.gz
  dataset check data >out
  grep -q '^note: 2 torn tails, as a kill leaves behind; passed over$' out && tail -n 1 out | grep -q 'sound$'
}

# Whole, but for a second part that is no compressed data.
a_damaged_file_is_told_as_one() {
  rm -rf data && mkdir data
  local i status=0
  for i in {1..300}; do start $i vgg16 true 1793520000; end $i vgg16 1793520000 1793520060; done | gzip >data/a.jsonl.gz
  printf '\037\213\010\0\0\0\0\0\0\003\377\377\377\377' >>data/a.jsonl.gz
  start 9999 bert true 1793530000 >data/b.jsonl
  dataset check data >out || status=$?
  [ "$status" = 1 ] && grep -qE '^data/a.jsonl.gz: damaged: nothing behind line [3-6][0-9]{2} can be read \(invalid block type\)$' out || fail "$(cat out)"
  tail -n 1 out | grep -q ': 1 fault$' || fail "$(cat out)"
  dataset check data --json >out || true
  jq -e '.damaged == 1 and .faults == 1 and .first[0].line == 0' out >/dev/null || fail "$(cat out)"
  dataset stats data >out 2>err
  grep -q '^          1 damaged file: not all of it could be read; ' out || fail "$(cat out)"
  grep -qE '^harmony dataset stats: data/a.jsonl.gz: damaged: nothing behind line [3-6][0-9]{2} can be read' err || fail "$(cat err)"
  dataset stats data --json 2>err | jq -e '.damaged == 1 and .faulty == 0 and .records.start > 150' >/dev/null
  dataset export data --runs --csv - >out 2>err
  [ "$(wc -l <out)" -gt 150 ] && grep -qE '^harmony dataset export: data/a.jsonl.gz: damaged: ' err || fail "$(cat err)"
}

a_file_that_is_none_is_named_without_a_line() {
  two_runs
  mkdir data/c.jsonl
  faulty 'data/c.jsonl: is no regular file'
}

faults_are_named_with_file_and_line() {
  two_runs
  { start 3 bert true 1793540000; end 7 bert 1793540000 1793540100; interval 3 bert 1793533600 1793541000; echo 'no JSON'
    start 8 bert true 1793530000; echo '{"schema":99,"record":"end"}'; } >data/c.jsonl
  faulty 'data/c.jsonl:1: run 0 of job 3 \(c1\) starts a second time; it started at data/b.jsonl.gz:2' \
    'data/c.jsonl:2: end of run 0 of job 7 \(c1\), which has no start' \
    'data/c.jsonl:3: interval of run 0 of job 3 \(c1\) overlaps the one before by 3600 s' 'data/c.jsonl:4: no JSON object' \
    'data/c.jsonl:5: time goes back by 11000 s: .*' 'data/c.jsonl:6: schema is none of 1 to 2, .*'
  tail -n 1 out | grep -q ': 6 faults$'
  local status=0
  dataset check data --json >out || status=$?
  [ "$status" = 1 ] && jq -e '(.sound | not) and .faults == 6 and .first[3] == {file: "data/c.jsonl", line: 4, what: "no JSON object"}' out >/dev/null
}

no_more_than_twenty_faults_are_named() {
  two_runs
  local i
  for i in {1..70}; do echo "[$i"; end $((100 + i)) vgg16 1793520100 1793523600; done >data/c.jsonl
  dataset check data >out || true
  [ "$(grep -c '^data/c.jsonl:' out)" = 20 ] && grep -q '^and 120 more$' out || fail "$(cat out)"
}

what_a_file_holds_cannot_reach_the_terminal() {
  rm -rf data && mkdir data
  head -c 200000 /dev/urandom >data/a.jsonl
  head -c 200000 /dev/urandom | gzip >data/b.jsonl.gz
  printf '\033[31m\033]0;x\007\n{"schema":2,"record":"\033[2J"}\n' >data/c.jsonl
  dataset check data >out 2>&1 || true
  ! LC_ALL=C grep -q '[^ -~]' out || fail "$(cat -v out)"
  dataset stats data >out 2>&1 && ! LC_ALL=C grep -q '[^ -~]' out
}

intervals_are_exported() {
  two_runs
  dataset export data --csv out.csv
  [ "$(wc -l <out.csv)" = 4 ]
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i } NR > 1 { speed[$at["job"]] = $at["relative_speed"]; beside[$at["job"]] = $at["neighbour_types"] }
    END { exit !(speed[1] == 1 && speed[2] == 0.5 && beside[2] == "bert" && speed[3] == "") }' out.csv || fail "$(cat out.csv)"
  dataset export data --csv - | cmp - out.csv
}

runs_are_exported() {
  two_runs
  dataset export data --runs --csv out.csv
  [ "$(wc -l <out.csv)" = 4 ]
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; fields = NF } NF != fields { exit 1 } NR > 1 { state[$at["job"]] = $at["state"]; took[$at["job"]] = $at["elapsed_s"] }
    END { exit !(state[1] == "COMPLETED" && took[2] == 7200 && state[3] == "") }' out.csv || fail "$(cat out.csv)"
}

what_sacct_knows_is_imported_and_sound() {
  cat >sacct.txt <<'EOF'
JobID|JobIDRaw|Submit|Start|End|State|ExitCode|AllocTRES|NodeList|UID|SubmitLine|Cluster
17|17|2026-11-01T10:00:00|2026-11-01T10:00:10|2026-11-01T11:00:10|COMPLETED|0:0|cpu=8,gres/gpu=4|n[1-2]|0|sbatch --harmony-type=vgg16 --harmony-epochs=90 a.sh|c1
17.batch|17.batch|2026-11-01T10:00:00|2026-11-01T10:00:10|2026-11-01T11:00:10|COMPLETED|0:0|cpu=8|n1|||c1
18|18|2026-11-01T10:00:00|2026-11-01T10:20:10|2026-11-01T10:50:10|FAILED|1:0|cpu=8,gres/gpu=2|n2|0|sbatch b.sh|c1
EOF
  rm -rf data
  dataset import --sacct sacct.txt --to data >out
  grep -q '^data/sacct-20261101T100010Z-20261101T102010Z.jsonl: 2 runs, 4 intervals$' out || fail "$(cat out)"
  dataset check data >out && grep -q '^data: 1 file and 8 records, 0 runs open: sound$' out
  dataset stats data --json | jq -e '.types.vgg16.completed == 1 and .states.FAILED == 1 and (.pairs.pairs | length) == 2' >/dev/null
  ! grep -q root data/*.jsonl
  dataset import --sacct sacct.txt --to data >out 2>err
  [ "$(cat out)" = 'data: nothing new' ] && [ "$(cat err)" = 'harmony dataset import: note: 2 runs skipped: in data already' ] || fail "$(cat out err)"
  [ "$(ls data)" = sacct-20261101T100010Z-20261101T102010Z.jsonl ]
  cut -d '|' -f 1-8,10 sacct.txt >less.txt
  dataset import --sacct less.txt --to less --users none >out 2>err
  grep -q '2 runs, 0 intervals$' out && grep -q 'note: there is no column NodeList' err && grep -q 'note: there is neither a column SubmitLine' err
}

what_still_runs_is_imported_when_it_has_ended() {
  local header='JobID|Start|End|State|ExitCode|AllocTRES|NodeList|SubmitLine'
  local first='1|2026-11-01T10:00:00|2026-11-01T11:00:00|FAILED|0:9|gres/gpu=2|n1|sbatch a.sh'
  rm -rf data
  printf '%s\n' "$header" "$first" '2|2026-11-01T10:30:00|Unknown|RUNNING|0:0|gres/gpu=2|n1|sbatch a.sh' >now.txt
  printf '%s\n' "$header" "$first" '2|2026-11-01T10:30:00|2026-11-01T12:00:00|COMPLETED|0:0|gres/gpu=2|n1|sbatch a.sh' >later.txt
  dataset import --sacct now.txt --to data >out 2>err
  grep -q ': 1 run, 2 intervals$' out && grep -q 'note: 1 job left out: not ended yet$' err || fail "$(cat out err)"
  grep -q '"exit_code":137' data/*.jsonl
  dataset import --sacct later.txt --to data >out 2>err
  grep -q ': 1 run, 2 intervals$' out && grep -q 'note: 1 run skipped: in data already$' err || fail "$(cat out err)"
  dataset check data >out && grep -q '^data: 2 files and 8 records, 0 runs open: sound$' out || fail "$(cat out)"
}

what_is_wrong_is_named() {
  rm -rf data && mkdir empty
  refused 1 'nowhere: No such file or directory$' dataset stats nowhere
  refused 1 'empty: no \*.jsonl or \*.jsonl.gz file there$' dataset check empty
  refused 1 'nowhere.txt: .*' dataset import --sacct nowhere.txt --to data
  [ ! -e data ]
  echo 'JobID|Start|End|AllocTRES' >none.txt
  refused 1 'none.txt: has no job with GPUs that ran' dataset import --sacct none.txt --to data
  [ ! -e data ]
  two_runs
  refused 2 '--json and --svg - cannot both be printed' dataset stats data --json --svg -
  refused 1 '/dev/full: cannot be written: No space left on device$' dataset export data --csv /dev/full
  refused 1 '/nowhere/x: cannot be written: No such file or directory$' dataset stats data --svg /nowhere/x
  local status=0
  dataset export data >out 2>err || status=$?
  [ "$status" = 2 ] && grep -q -- --csv err
  status=0
  dataset import --sacct x --to y --users all >out 2>err || status=$?
  [ "$status" = 2 ]
  status=0
  dataset >out 2>err || status=$?
  [ "$status" = 2 ] && grep -q 'needs one of stats, check, export and import' err
  status=0
  dataset foo >out 2>err || status=$?
  [ "$status" = 2 ] && grep -q 'foo is none of stats, check, export and import' err
}

every_option_has_help() {
  local action
  for action in stats check export import; do
    dataset $action --help >out
    grep -q 'Exit code: 0' out || fail "$action: no exit codes"
    # an option's help begins in column 31 of its line, or of the next
    awk '/^  -/ { if (bare != "") exit 1; bare = length($0) > 30 && substr($0, 29, 2) == "  " ? "" : $0; next } substr($0, 1, 30) ~ /^ *$/ && length($0) > 30 { bare = "" } END { exit bare != "" }' out ||
      fail "$action: an option without help: $(cat out)"
  done
}

# Each stands between .EX and .EE, broken into lines.
the_manual_has_an_example_of_every_record() {
  rm -rf data && mkdir data
  sed 's/\\-/-/g' "$top/src/tool/harmony-dataset.5" | awk '/^\.EX/ { within = 1; next } /^\.EE/ { print ""; within = 0 } within { printf "%s", $0 }' >data/a.jsonl
  dataset check data >out && grep -q '^data: 1 file and 8 records, 0 runs open: sound$' out || fail "$(cat out)"
  dataset stats data --json | jq -e '[.records[]] == [1, 1, 1, 1, 1, 1, 1, 1]' >/dev/null
}

the_manual_names_every_column_and_key() {
  two_runs
  { dataset export data --csv - | head -n 1; dataset export data --runs --csv - | head -n 1; } | tr , '\n' >names
  dataset stats data --json | jq -r 'keys[], (.runs, .plan, .pairs, .pairs.pairs[0], .clusters.c1 | keys[])' >>names
  dataset check data --json | jq -r 'keys[]' >>names
  sed 's/[^a-z_]/\n/g' "$top/src/tool/harmony-dataset.1" | sort -u >manual
  [ "$(wc -l <names)" -gt 90 ]
  sort -u names | comm -23 - manual >out
  [ ! -s out ] || fail "not in harmony-dataset(1): $(cat out)"
}

keep stats_say_what_is_there stats_tell_policies_apart stats_count_as_people_do figures_for_programs_have_six_digits stats_are_there_for_programs pairs_are_drawn a_sound_dataset_is_sound a_torn_tail_is_a_note_and_no_fault \
  a_damaged_file_is_told_as_one a_file_that_is_none_is_named_without_a_line \
  faults_are_named_with_file_and_line no_more_than_twenty_faults_are_named what_a_file_holds_cannot_reach_the_terminal intervals_are_exported \
  runs_are_exported what_sacct_knows_is_imported_and_sound what_still_runs_is_imported_when_it_has_ended what_is_wrong_is_named every_option_has_help the_manual_names_every_column_and_key \
  the_manual_has_an_example_of_every_record
