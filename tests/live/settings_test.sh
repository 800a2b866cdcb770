# harmony.conf: what is wrong in it is named once, and the last good settings stay until it is mended.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"

file() { echo "$cluster_dir/etc/harmony.conf"; }
status() { timeout 30 "$HARMONY_BIN" status "$@"; }

# in_force POLICY: the policy that status names, and by which a gang of two workers is really placed: pack puts both on one
# node, spread does not; where learned does is the model's to say.
in_force() {
  local nodes=1
  same "policy" "$1" "$(stats policy)"
  [ "$1" != learned ] || cluster_until 30 a_model_serves || fail "$(stats model_problem)"
  gang -n 2 --gpus=2
  await "$job" RUNNING 60
  same "policy of the decision" "$1" "$(explained "$job" .policy)"
  [ "$1" != spread ] || nodes=2
  [ "$1" = learned ] || same "nodes" "$nodes" "$(nodes_of "$job" | wc -w)"
  timeout 20 scancel "$job"
  await "$job" CANCELLED
}

a_model_serves() { [ "$(stats model)" != none ]; }

# refused PATTERN LINE...: with these lines in the file, the log names what is wrong, once, and so does status; spread stays.
refused() {
  local pattern=$1 before
  shift
  before=$(stats counters.settings_refused)
  : >"$cluster_dir/log/slurmctld.log"
  planned_with "$@"
  logged "error: harmony: $(file) $pattern; the last good configuration stays$"
  same "lines like '$pattern'" 1 "$(logged_times "harmony: $(file) ")"
  same "policy" spread "$(stats policy)"
  grep -qE "^$(file) $pattern$" <<<"$(stats settings_problem)" || fail "settings_problem: $(stats settings_problem)"
  same "times refused" $((before + 1)) "$(stats counters.settings_refused)"
}

the_file_beside_slurm_conf_counts() {
  same "file" "$(file)" "$(stats settings_file)"
  same "problem" "" "$(stats settings_problem)"
  logged 'harmony: engine .* ready, mode enforce, policy spread'
  in_force spread
}

an_unknown_key_is_named_with_file_line_and_the_keys_that_there_are() {
  refused 'line 2: unknown key "Polcy"; the keys are Policy, Heuristic, Manage, .*, ModelStore, Candidates, BreakerPause, Dataset, DatasetMaxSize, DatasetUsers' \
    Manage=gpu Polcy=pack
  in_force spread
}

a_bad_value_is_named_with_what_is_allowed() {
  refused 'line 1: Policy="fastest" is not allowed; allowed is one of learned, pack, .*, stock' Policy=fastest
  refused 'line 3: MaxWait="2d" is not allowed; allowed is a time from 0s to 168h.*' '# a comment' Policy=pack MaxWait=2d
  refused 'line 1: Interval="1ms" is not allowed; allowed is a time from 100ms to 1h.*' Interval=1ms
  refused 'line 1: MinInterval="20s" is longer than Interval="10s"; allowed is .*' MinInterval=20s
  refused 'line 1: KeepDecisions="-1" is not allowed; allowed is a whole number from 0 to 1000000' KeepDecisions=-1
  refused 'line 1: Candidates="65" is not allowed; allowed is a whole number from 1 to 64' Candidates=65
  refused 'line 2: Policy="pack" is given twice, first on line 1; once is allowed' Policy=lif Policy=pack
  refused 'line 1: Manage has no value; allowed is annotated or gpu' Manage=
  refused 'line 1: MaxWait=\\"2m has no closing quote' 'MaxWait="2m'
  in_force spread
}

what_would_harm_a_terminal_or_the_log_is_not_repeated() {
  refused 'line 1: Policy="[ -~]+" is not allowed; .*' "$(printf 'Policy=\033[31mred\a\\x41')"
  refused 'line 1: the line is longer than 4096 bytes' "Policy=$(printf 'x%.0s' {1..5000})"
  head -c 200000 /dev/urandom >"$(file)"
  : >"$cluster_dir/log/slurmctld.log"
  reconfigure
  logged "harmony: $(file) line [0-9]+: the file is longer than 65536 bytes; the last good"
  same "bytes that are no text" 0 "$(LC_ALL=C grep -cE "harmony: .*[^ -~]" "$cluster_dir/log/slurmctld.log")"
  in_force spread
}

each_of_several_mistakes_has_a_line_of_its_own() {
  : >"$cluster_dir/log/slurmctld.log"
  planned_with Policy=fastest Colour=red MaxWait=-1
  logged 'line 3: MaxWait="-1" is not allowed'
  same "lines" 3 "$(logged_times "error: harmony: $(file) line [123]: ")"
  says "^  settings problem +$(file) line 1: Policy=\"fastest\"" status
}

status_says_what_is_wrong_and_what_to_do() {
  refused 'line 1: unknown key "Colour".*' Colour=red
  status >/dev/null || fail "the overlay is well, but harmony status ends with $?"
  says "^problem +the last good settings stay; mend $(file) and scontrol reconfigure: $(file) line 1: unknown key \"Colour\"" status
  says "^  settings file +$(file)$" status
  says "^  settings problem +$(file) line 1: unknown key \"Colour\"" status
  says '^  settings refused +[1-9]' status
  says '^harmony_settings_good 0$' status --prometheus
  same "health" good "$(status --json | jq -r .health)"
}

a_mended_file_takes_effect() {
  refused 'line 1: unknown key "Colour".*' Colour=red
  planned_with Policy=pack
  same "problem" "" "$(stats settings_problem)"
  in_force pack
  says '^harmony_settings_good 1$' status --prometheus
  ! status | grep -E '^problem|settings problem' || fail "harmony status still has a problem"
}

a_file_in_any_style_is_read() {
  planned_with '' '  # how we plan' 'policy = "Pack"   MAXWAIT=2m \' '  keepdecisions=7 # few' ''
  same "problem" "" "$(stats settings_problem)"
  in_force pack
}

without_a_file_there_are_defaults() {
  rm "$(file)"
  reconfigure
  same "file" none "$(stats settings_file)"
  same "problem" "" "$(stats settings_problem)"
  in_force learned
}

what_cannot_be_read_is_named() {
  local what
  for what in directory loop; do
    rm -rf "$(file)"
    if [ "$what" = loop ]; then ln -s harmony.conf "$(file)"; else mkdir "$(file)"; fi
    : >"$cluster_dir/log/slurmctld.log"
    reconfigure
    logged "error: harmony: $(file) cannot be read, or is no file; the last good configuration stays$"
    same "lines" 1 "$(logged_times "harmony: $(file)")"
    same "problem" "$(file) cannot be read, or is no file" "$(stats settings_problem)"
    in_force spread
  done
  rm -rf "$(file)"
}

# Nobody may ever write to it: slurmctld must not wait for that under its locks.
a_pipe_is_not_waited_for() {
  rm -rf "$(file)"
  : >"$cluster_dir/log/slurmctld.log"
  mkfifo "$(file)"
  if ! reconfigure; then
    timeout 20 bash -c "echo >$(file)" || true # so that it goes on
    rm -f "$(file)"
    fail "slurmctld waits for somebody to write into the pipe"
  fi
  logged "error: harmony: $(file) cannot be read, or is no file; the last good configuration stays$"
  in_force spread
  rm -f "$(file)"
}

# slurm.conf's time of change has seconds; a script that corrects itself is faster.
of_two_reconfigurations_in_one_second_the_last_counts() {
  local try began
  for try in 1 2 3 4 5; do
    reconfigure
    began=$(date +%s)
    echo Policy=pack >"$(file)"
    timeout 60 scontrol reconfigure
    echo Policy=lif >"$(file)"
    timeout 60 scontrol reconfigure
    [ "$(date +%s)" != "$began" ] || { same "policy" lif "$(stats policy)"; return 0; }
  done
  skip "this machine is too slow for two reconfigurations in a second"
}

slurmctld_starts_with_a_bad_file_and_plans_by_the_defaults() {
  echo Policy=fastest >"$(file)"
  cluster_stop_ctld
  : >"$cluster_dir/log/slurmctld.log"
  cluster_start_ctld
  logged "error: harmony: $(file) line 1: Policy=\"fastest\" is not allowed; .*; the last good configuration stays$"
  same "lines" 1 "$(logged_times "harmony: $(file)")"
  all_is_quiet
  date +%s >"$live_tmp/reconfigured"
  in_force learned
  planned_with Policy=spread
  in_force spread
}

jobs_go_on_while_the_file_changes() {
  local first
  started -N 2 --gpus-per-node=8
  first=$job
  gang -n 2 --gpus=2
  decided "$job" no_room
  planned_with Policy=pack
  planned_with Policy=nonsense
  same "the running job" RUNNING "$(job_field "$first" JobState)"
  same "the pending job" PENDING "$(job_field "$job" JobState)"
  runs_as_planned "$first"
  timeout 20 scancel "$first"
  await "$job" RUNNING 60
  same "policy" pack "$(explained "$job" .policy)"
}

plan_cluster "Policy=spread" --nodes 2
keep the_file_beside_slurm_conf_counts an_unknown_key_is_named_with_file_line_and_the_keys_that_there_are \
  a_bad_value_is_named_with_what_is_allowed what_would_harm_a_terminal_or_the_log_is_not_repeated \
  each_of_several_mistakes_has_a_line_of_its_own status_says_what_is_wrong_and_what_to_do a_mended_file_takes_effect \
  a_file_in_any_style_is_read without_a_file_there_are_defaults what_cannot_be_read_is_named a_pipe_is_not_waited_for \
  of_two_reconfigurations_in_one_second_the_last_counts slurmctld_starts_with_a_bad_file_and_plans_by_the_defaults \
  jobs_go_on_while_the_file_changes
