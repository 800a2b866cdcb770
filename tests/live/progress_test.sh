# Jobs tell how far they have come: the owner's comment stays, one report goes out in 10 s, nobody reports for another, and a
# training does not notice when it cannot be reported.
. "$(dirname "$0")/lib.sh"

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -m 1777 "$live_tmp/tmp"
export TMPDIR=$live_tmp/tmp PATH=${HARMONY_BIN%/*}:$PATH
unset XDG_RUNTIME_DIR

progress() { timeout 60 "$HARMONY_BIN" progress "$@"; }

comment() { timeout 10 scontrol show job "$1" | sed -n 's/^ *Comment=//p' | sed 's/ *$//'; }

# claims JOB PATTERN: its comment is like this, or soon will be.
_comment_is() { [[ "$(comment "$1")" =~ $2 ]]; }
claims() { cluster_until "${3:-30}" _comment_is "$1" "$2" || fail "job $1: expected a comment like '$2': '$(comment "$1")'"; }

# runs OPTION...: a job that runs until it is cancelled; sets $job.
runs() { job=$(sleeper 1000 "$@"); await "$job" RUNNING; }

# ends CODE PATTERN COMMAND...: its exit code, and the one line that it prints.
ends() {
  local code=$1 pattern=$2 found=0 text
  shift 2
  text=$("$@" 2>&1) || found=$?
  same "exit code of '$*' ($text)" "$code" "$found"
  same "lines of '$*' ($text)" 1 "$(wc -l <<<"$text")"
  [[ "$text" =~ $pattern ]] || fail "'$*' does not say '$pattern': $text"
}

updates() { timeout 10 sdiag | sed -n 's/.*REQUEST_UPDATE_JOB .*count:\([0-9]*\).*/\1/p'; }

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ timeout 60 "$@"; }

needs_nobody() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  as_nobody test -x "$HARMONY_BIN" || skip "the user nobody cannot reach the build"
}

the_owners_comment_stays_before_the_claim() {
  runs --comment "for the paper; it's 100% \"mine\" <b>"
  progress --job "$job" --epoch 3 --of 90 --samples-per-s 812 --loss 0.41
  claims "$job" "^for the paper; it's 100% \"mine\" <b> harmony\[epoch=3;of=90;samples_per_s=812;loss=0.41;at=[0-9]+\]$" 1
}

five_reports_and_a_change_by_the_owner_leave_the_owners_words() {
  local epoch
  runs --comment "my words"
  for epoch in 1 2 3; do progress --job "$job" --epoch "$epoch" --wait; done
  claims "$job" '^my words harmony\[epoch=3;at=[0-9]+\]$' 1
  timeout 10 scontrol update "JobId=$job" "Comment=other words"
  for epoch in 4 5; do progress --job "$job" --epoch "$epoch" --wait; done
  claims "$job" '^other words harmony\[epoch=5;at=[0-9]+\]$' 1
}

a_batch_script_a_step_an_array_and_a_hetjob_report() {
  local batch step array het first
  batch=$(submit --wrap 'harmony progress --epoch 1; sleep 1000')
  step=$(submit -n 3 --wrap 'srun sh -c "harmony progress --epoch 1\$SLURM_PROCID"; sleep 1000')
  array=$(submit --array=0-2 --comment "an array" --wrap 'harmony progress --epoch 2$SLURM_ARRAY_TASK_ID; sleep 1000')
  claims "$batch" '^harmony\[epoch=1;at=' 60
  claims "$step" '^harmony\[epoch=10;at=' 60 # task 0, and only that
  for first in 0 1 2; do claims "${array}_$first" "^an array harmony\[epoch=2$first;at=" 60; done
  timeout 20 scancel "$batch" "$step" "$array"
  het=$(submit -n 1 : -n 1 --wrap 'srun --het-group=1 harmony progress --epoch 5; sleep 1000')
  claims "$het+0" '^harmony\[epoch=5;at=' 90
  same "comment of the second component" "" "$(comment "$het+1")"
}

tasks_other_than_0_and_ps_are_silent() {
  runs
  SLURM_JOB_ID=$job SLURM_PROCID=1 progress --epoch 1
  SLURM_JOB_ID=$job SLURM_PROCID=0 HARMONY_ROLE=ps progress --epoch 1
  same "comment" "" "$(comment "$job")"
  SLURM_JOB_ID=$job SLURM_PROCID=1 progress --epoch 2 --any-task
  claims "$job" '^harmony\[epoch=2;' 1
}

two_hundred_calls_are_one_report_in_ten_seconds() {
  local before begin epoch seconds sent
  runs --comment "busy"
  before=$(updates)
  begin=$(date +%s%3N)
  for epoch in $(seq 200); do progress --job "$job" --epoch "$epoch"; sleep 0.07; done
  seconds=$((($(date +%s%3N) - begin) / 1000))
  claims "$job" '^busy harmony\[epoch=200;'
  sent=$(($(updates) - ${before:-0}))
  [ "$sent" -ge 2 ] && [ "$sent" -le $((seconds / 10 + 2)) ] || fail "$sent updates for calls of $seconds s"
  echo "200 calls in $seconds s: $sent updates"
}

many_processes_at_once_are_one_report_in_ten_seconds() {
  local before caller begin seconds sent
  runs
  before=$(updates)
  begin=$SECONDS
  for caller in $(seq 20); do progress --job "$job" --epoch "$caller" & done
  wait
  progress --job "$job" --epoch 21 --wait
  seconds=$((SECONDS - begin))
  claims "$job" '^harmony\[epoch=21;' 1
  sent=$(($(updates) - ${before:-0}))
  [ "$sent" -ge 2 ] && [ "$sent" -le $((seconds / 10 + 1)) ] || fail "$sent updates in $seconds s"
}

another_node_that_reported_just_now_is_waited_for() {
  local before
  runs
  progress --job "$job" --epoch 1
  before=$(updates)
  rm -r "$TMPDIR"/harmony-progress-* # as another node, which knows nothing of that
  progress --job "$job" --epoch 2
  same "updates" "$before" "$(updates)"
  claims "$job" '^harmony\[epoch=2;' 15
  same "updates" $((before + 1)) "$(updates)"
}

a_report_that_waits_holds_no_pipe() {
  local begin=$SECONDS
  runs
  { progress --job "$job" --epoch 1; progress --job "$job" --epoch 2; } 2>&1 | cat
  [ $((SECONDS - begin)) -lt 8 ] || fail "the pipe stayed open for $((SECONDS - begin)) s"
  claims "$job" '^harmony\[epoch=2;'
}

nobody_reports_for_another() {
  needs_nobody
  runs --comment "root's"
  ends 1 "^harmony progress: job $job: only its owner can report its progress; nothing was reported$" \
    as_nobody "$HARMONY_BIN" progress --job "$job" --epoch 1
  ! as_nobody scontrol update "JobId=$job" "Comment=harmony[epoch=99;at=1]" || fail "slurmctld let nobody change the comment"
  same "comment" "root's" "$(comment "$job")"
  job=$(cd / && as_nobody sbatch --parsable -o /dev/null --comment "nobody's" --wrap 'sleep 1000')
  await "$job" RUNNING
  ends 1 "only its owner can report" progress --job "$job" --epoch 1
  as_nobody "$HARMONY_BIN" progress --job "$job" --epoch 2
  claims "$job" "^nobody's harmony\[epoch=2;" 1
}

a_directory_of_somebody_else_is_not_used() {
  needs_nobody
  # It goes on in /tmp then, where the next cluster's jobs should not find this one's.
  trap 'rm -f /tmp/harmony-progress-0/*"${live_tmp//\//-}"*; rmdir --ignore-fail-on-non-empty /tmp/harmony-progress-0' EXIT
  rm -rf "$TMPDIR"/harmony-progress-*
  as_nobody mkdir -m 777 "$TMPDIR/harmony-progress-0"
  runs
  progress --job "$job" --epoch 1
  claims "$job" '^harmony\[epoch=1;' 1
  same "files in it" "" "$(ls "$TMPDIR/harmony-progress-0")"
  progress --job "$job" --epoch 2
  claims "$job" '^harmony\[epoch=2;' 20
  rm -r "$TMPDIR/harmony-progress-0"
}

a_comment_without_room_is_left_alone() {
  local long
  long=$(printf 'x%.0s' $(seq 1010))
  runs --comment "$long"
  ends 1 "its Comment has 1010 bytes, and with [0-9]+ more for the progress would be longer than the 1024 that Slurm takes" \
    progress --job "$job" --epoch 1
  same "comment" "$long" "$(comment "$job")"
}

hostile_words_of_the_owner_do_no_harm() {
  runs
  timeout 10 scontrol update "JobId=$job" "Comment=$(printf 'a\nb harmony[epoch=nan;at=1] <script> harmony[harmony[epoch=1;at=1]]')"
  progress --job "$job" --epoch 1
  claims "$job" '^a' 1
  says 'harmony\[harmony\[epoch=1;at=1\]\] harmony\[epoch=1;at=[0-9]{9,}\]' timeout 10 scontrol show job "$job"
  says '^b harmony\[epoch=nan;at=1\] <script>' timeout 10 scontrol show job "$job"
}

wrong_usage_ends_with_2_and_names_the_value() {
  local value
  for value in -1 nan inf 0x10 1e999 1e7 3,5 ' 3' "$(printf '3\n4')" '<b>3</b>'; do
    ends 2 '^harmony progress: --epoch' progress --job 1 --epoch="$value"
  done
  ends 2 '^harmony progress: --of "x": allowed is a number from 0 to 1000000$' progress --job 1 --epoch 1 --of x
  ends 2 '^harmony progress: --loss "nan": allowed is a number from -1000000000 to 1000000000$' progress --job 1 --epoch 1 --loss nan
  ends 2 '^harmony progress: --samples-per-s "-1"' progress --job 1 --epoch 1 --samples-per-s -1
  ends 2 '^harmony progress: not inside a job .* --job ID$' env -u SLURM_JOB_ID "$HARMONY_BIN" progress --epoch 1
  ends 2 'is not the id of a job' progress --epoch 1 --job 17_3
  ends 1 '^harmony progress: job 99999: Invalid job id' progress --epoch 1 --job 99999
}

a_job_goes_on_without_slurmctld() {
  local begin
  job=$(submit -e "$live_tmp/errors" --wrap "until [ -e $live_tmp/go ]; do sleep 0.2; done
    harmony progress --epoch 1; echo \$? >$live_tmp/code; harmony progress --quiet --epoch 2 || true; echo on >$live_tmp/went
    until [ -e $live_tmp/end ]; do sleep 0.2; done; harmony progress --epoch 3 --wait")
  await "$job" RUNNING
  cluster_stop_ctld
  begin=$SECONDS
  touch "$live_tmp/go"
  cluster_until 30 test -e "$live_tmp/went" || fail "the job did not go on"
  [ $((SECONDS - begin)) -le 20 ] || fail "the job was held up for $((SECONDS - begin)) s"
  same "exit code" 1 "$(cat "$live_tmp/code")"
  [[ "$(cat "$live_tmp/errors")" =~ ^"harmony progress: job $job: slurmctld does not answer: "[^$'\n']*"; nothing was reported"$ ]] ||
    fail "it says: $(cat "$live_tmp/errors")"
  cluster_start_ctld
  touch "$live_tmp/end"
  await "$job" COMPLETED
  claims "$job" '^harmony\[epoch=3;' 1
}

the_examples_run_as_written() {
  local first
  first=$(cd "$top" && timeout 20 sbatch --parsable -o /dev/null contrib/progress/example.sbatch)
  await "$first" COMPLETED
  claims "$first" '^an example of progress harmony\[epoch=3;of=3;loss=0.[0-9];at=[0-9]+\]$|^an example of progress harmony\[epoch=3;of=3;at=[0-9]+\]$' 1
  (cd "$top" && cc -pthread -Icontrib/progress -o "$live_tmp/example" contrib/progress/example.c contrib/progress/harmony_progress.c)
  job=$(submit --wrap "srun -n 1 $live_tmp/example")
  await "$job" COMPLETED
  claims "$job" '^harmony\[epoch=3;of=3;' 1
  job=$(submit -D "$top" --wrap "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=contrib/progress srun -n 1 python3 contrib/progress/example.py")
  await "$job" COMPLETED
  claims "$job" '^harmony\[epoch=3;of=3;' 1
}

live_cluster --nodes 3 --scheduler-parameters bf_interval=2,sched_interval=5
keep the_owners_comment_stays_before_the_claim \
  five_reports_and_a_change_by_the_owner_leave_the_owners_words \
  a_batch_script_a_step_an_array_and_a_hetjob_report \
  tasks_other_than_0_and_ps_are_silent \
  two_hundred_calls_are_one_report_in_ten_seconds \
  many_processes_at_once_are_one_report_in_ten_seconds \
  another_node_that_reported_just_now_is_waited_for \
  a_report_that_waits_holds_no_pipe \
  nobody_reports_for_another \
  a_directory_of_somebody_else_is_not_used \
  a_comment_without_room_is_left_alone \
  hostile_words_of_the_owner_do_no_harm \
  wrong_usage_ends_with_2_and_names_the_value \
  a_job_goes_on_without_slurmctld \
  the_examples_run_as_written
