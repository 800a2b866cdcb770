# The dataset when the disk is slow, full or broken, when slurmctld is killed, when jobs come in crowds, and when an owner means ill:
# slurmctld does not notice, nothing corrupt is ever read back, and what was lost is counted.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"
. "$(dirname "$0")/dataset.sh"

disk=$live_tmp/disk.now # what the disk is like (tests/dataset/slow_disk.c); a good one if there is no such file
lines=("Policy=pack" "Interval=1s" "MinInterval=20ms" "Dataset=$dataset" "Manage=annotated")

# script SECONDS: a batch script as the player of nodes reads it.
script() { printf '#!/bin/sh\nsleep %s\n' "$1" >"$live_tmp/script"; echo "$live_tmp/script"; }

# crowd COUNT: so many gangs of a second each; prints the array's id.
crowd() { submit --harmony-type=resnet50 --harmony-epochs=3 --array=1-"$1" -n 2 --gpus=2 "$(script 1)"; }
crowd_done() { cluster_until 120 _all_completed "$1" "$2" || fail "$(_completed "$1") of $2 jobs completed"; }
_completed() { timeout 20 scontrol -o show job "$1" | grep -c JobState=COMPLETED; }
_all_completed() { [ "$(_completed "$1")" = "$2" ]; }
runs_of() { records "select(.array_job == $1 and .record == \"start\") | .job" | sort -u; }
ends_of() { local jobs; jobs=$(runs_of "$1" | paste -sd,); records "select(.record == \"end\" and (.job | IN(${jobs:-0}))) | .job"; }
_all_ended() { [ "$(ends_of "$1" | sort -u | wc -l)" = "$2" ]; }

leave_no_jobs() {
  rm -f "$disk"
  cluster_cancel_jobs
  all_is_quiet || true
}

# How long slurmctld takes to answer, the longest of ten, in ms.
longest_answer() {
  local begin most=0 took
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    begin=${EPOCHREALTIME/./}
    timeout 20 squeue -h >/dev/null || fail "slurmctld does not answer"
    took=$(((${EPOCHREALTIME/./} - begin) / 1000))
    most=$((took > most ? took : most))
  done
  echo "$most"
}

of_500_short_jobs_in_a_minute_every_run_is_recorded_whole() {
  local array begin=$SECONDS
  array=$(crowd 500); crowd_done "$array" 500
  [ $((SECONDS - begin)) -le 60 ] || echo "note: they took $((SECONDS - begin)) s"
  cluster_until 20 _all_ended "$array" 500 || fail "$(ends_of "$array" | wc -l) ends"
  same "starts" 500 "$(runs_of "$array" | wc -l)"
  same "events and records lost" "0 0" "$(stats counters.events_lost) $(fact records_lost)"
  is_sound
}

a_slow_disk_holds_nobody_up() {
  local array good slow
  good=$(longest_answer)
  echo "MS 3000" >"$disk"
  array=$(crowd 40); crowd_done "$array" 40
  slow=$(longest_answer)
  echo "the longest of ten answers: $good ms with a good disk, $slow ms with one of 3 s a write"
  [ "$slow" -lt 2000 ] || fail "slurmctld waits for the disk"
  rm "$disk"
  cluster_until 60 _all_ended "$array" 40 || fail "$(ends_of "$array" | wc -l) of 40 runs were recorded in the end"
  is_sound
}

a_full_and_a_broken_disk_hold_nobody_up_and_tear_nothing() {
  local array error
  for error in ENOSPC EIO EROFS; do
    array=$(crowd 20)
    sleep 0.5; echo "ERROR $error" >"$disk"
    crowd_done "$array" 20
    [ "$(longest_answer)" -lt 2000 ] || fail "slurmctld waits for the disk ($error)"
    cluster_until 20 _dataset_has_a_problem || fail "status says nothing of it ($error)"
    rm "$disk"
    cluster_until 60 _all_ended "$array" 20 || fail "$error: $(ends_of "$array" | wc -l) of 20 runs were recorded in the end; lost: $(fact records_lost)"
    same "what is wrong afterwards ($error)" "" "$(fact dataset_problem)"
    is_sound
  done
}
_dataset_has_a_problem() { [ -n "$(fact dataset_problem)" ]; }

slurmctld_killed_at_any_moment_leaves_nothing_corrupt() {
  local array round
  for round in 1 2 3 4; do
    array=$(crowd 30)
    sleep "0.$((RANDOM % 9))"
    cluster_kill_ctld
    is_sound
    cluster_start_ctld
    cluster_until 60 all_is_quiet || true
    leave_no_jobs
  done
  is_sound
}

a_slurmctld_that_is_stopped_has_written_everything() {
  local array
  array=$(crowd 60); crowd_done "$array" 60
  cluster_restart_ctld
  same "ends" 60 "$(ends_of "$array" | sort -u | wc -l)"
  all_is_quiet
}

# The owner may write anything into the job's comment.
a_malicious_owner_leaves_a_clean_dataset_and_log() {
  local job word before
  before=$(logged_times error || true)
  job=$(submit --harmony-type=resnet50 --harmony-epochs=4 -n 2 --gpus=2 "$(script 30)"); await "$job" RUNNING
  for word in 'harmony[epoch=-3;at=1]' 'harmony[epoch=nan;at=1]' 'harmony[epoch=1e999;at=1]' 'harmony[epoch=3;loss=inf;at=1]' \
    $'harmony[epoch=3\n{"record":"end"};at=1]' '<script>alert(1)</script> harmony[epoch=<b>;at=1]' 'harmony[epoch=3;epoch=4;at=1]' \
    "harmony[epoch=$(printf '9%.0s' {1..200});at=1]" 'harmony[harmony[epoch=1;at=1]'; do
    timeout 10 scontrol update JobId="$job" Comment="$word" || true
    sleep 1.2 # a round sees it
  done
  [ "$(stats counters.claims_refused)" -ge 5 ] || fail "only $(stats counters.claims_refused) claims were refused"
  same "claims taken" 0 "$(stats counters.claims_taken)"
  timeout 20 scontrol update JobId="$job" Comment="$(head -c 120000 /dev/zero | tr '\0' x)harmony[epoch=3;at=1]" || true
  sleep 1.2
  timeout 10 scontrol update JobId="$job" Comment="mine harmony[epoch=1e6;of=1;at=99]"
  cluster_until 20 _claim_taken || fail "a sound claim was not taken"
  scancel "$job"; ended "$job"
  same "the claim is told as a claim" 'CANCELLED null 1000000' "$(of_job "$job" 'select(.record == "end") | "\(.state) \(.epochs) \(.claim.epoch)"' | tr -d '"')"
  ! records . | grep -q '<script>' || fail "HTML is in the dataset"
  same "errors in the log" "$before" "$(logged_times error)"
  is_sound
}
_claim_taken() { [ "$(stats counters.claims_taken)" -ge 1 ]; }

export LD_PRELOAD="$HARMONY_BUILD/tests/dataset/.libs/slow_disk.so" SLOW_DISK_DIR=$dataset SLOW_DISK_SWITCH=$disk
[ -e "$LD_PRELOAD" ] || { unset LD_PRELOAD; cluster_die "tests/dataset/slow_disk.so is not built; make check TESTS= builds it"; }
plan_cluster "$(printf '%s\n' "${lines[@]}")" --nodes 0 --played 64 --extra "MaxArraySize=2000"
unset LD_PRELOAD
keep of_500_short_jobs_in_a_minute_every_run_is_recorded_whole a_slow_disk_holds_nobody_up \
  a_full_and_a_broken_disk_hold_nobody_up_and_tear_nothing a_malicious_owner_leaves_a_clean_dataset_and_log \
  a_slurmctld_that_is_stopped_has_written_everything slurmctld_killed_at_any_moment_leaves_nothing_corrupt
