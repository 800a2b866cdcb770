# What slurmctld records: every gang's start, intervals and end, whatever happens to the gang, to slurmctld and to the disk.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/enforcing.sh"
. "$(dirname "$0")/dataset.sh"

usual="Policy=spread Interval=1s MinInterval=100ms Dataset=$dataset"

a_gang_is_recorded_from_its_start_to_its_end() {
  local job start
  settings "$usual"
  job=$(managed 2 --harmony-ps=1 --harmony-epochs=30 -n 3 -c 2 --gpus=2 -N 1 -t 5); await "$job" COMPLETED
  ended "$job"
  start=$(of_job "$job" 'select(.record == "start")')
  same "what it is" 'vgg16 2 1 2 30 5 spread true' \
    "$(jq -r '"\(.type) \(.workers) \(.ps) \(.gpus) \(.epochs) \(.time_limit_min) \(.policy) \(.by_plan)"' <<<"$start")"
  same "its node" "$(job_field "$job" NodeList)" "$(jq -r '.placement[0].node' <<<"$start")"
  same "its GPUs" "0-1 2" "$(jq -r '.placement[0] | "\(.gpus) \(.workers)"' <<<"$start")"
  same "GPUs of domain 0" "0-1" "$(jq -r '.placement[0].domains[] | select(.domain == 0) | .gpus' <<<"$start")"
  same "how it ended" 'COMPLETED 30 0 0' "$(of_job "$job" 'select(.record == "end") | "\(.state) \(.epochs) \(.requeues) \(.exit_code)"' | tr -d '"')"
  same "its speed is right" true "$(of_job "$job" 'select(.record == "end") | (.mean_speed - .epochs / .elapsed_s | fabs) < 1e-6 and .elapsed_s > 1.5 and .elapsed_s < 60')"
  same "word for its user" 32 "$(jq -r '.user | length' <<<"$start")"
  records 'select(.record == "node") | .topology' | grep -q . || fail "no topology was recorded"
  is_sound
}

neighbours_part_a_run_into_intervals() {
  local long short plain
  settings "$usual"
  long=$(managed_waiter "$live_tmp/go.long" -w n0 -n 1 --gpus=1); await "$long" RUNNING
  sleep 1 # intervals below half a second are not recorded
  short=$(managed 1 -w n0 -n 1 --gpus=1); await "$short" COMPLETED; ended "$short"
  sleep 1
  plain=$(sleeper 1 -w n0 -n 2); await "$plain" COMPLETED
  sleep 1
  touch "$live_tmp/go.long"; await "$long" COMPLETED; ended "$long"
  same "neighbours of its intervals" "[] [$short] [] [$plain] []" \
    "$(of_job "$long" 'select(.record == "interval") | [.neighbours[]?.job]' | xargs)"
  same "types of its neighbours" "vgg16 unknown" "$(of_job "$long" 'select(.record == "interval") | .neighbours[]?.type' | xargs)"
  same "gaps between its intervals" 0 "$(of_job "$long" 'select(.record == "interval") | "\(.begin_s) \(.end_s)"' | tr -d '"' |
    awk 'NR > 1 && ($1 - e > 0.001 || e - $1 > 0.001) { n++ } { e = $2 } END { print n + 0 }')"
  same "neighbour of the short one" "$long" "$(of_job "$short" 'select(.record == "start") | .neighbours[0].job')"
  same "records of the plain one" 0 "$(of_job "$plain" 1 | wc -l)"
  is_sound
}

a_hetjob_is_one_run_and_each_task_of_an_array_its_own() {
  local het array
  settings "$usual"
  het=$(submit --harmony-type=vgg16 --harmony-ps=1 -n 2 --gpus-per-task=1 : -n 1 -c 2 --wrap 'sleep 1')
  await "$het" COMPLETED 60; ended "$het"
  same "the hetjob" "1 2 1 2 true" "$(of_job "$het" 'select(.record == "start") | "\(.components | length - 1) \(.workers) \(.ps) \(.gpus) \(.by_plan)"' | tr -d '"')"
  same "records of its second component" 0 "$(of_job $((het + 1)) 1 | wc -l)"
  array=$(managed 1 --array=1-3 -n 1 --gpus=1)
  cluster_until 60 _array_recorded "$array" || fail "not every task of the array was recorded: $(records "select(.array_job == $array)")"
  same "its tasks" "1 2 3" "$(records "select(.array_job == $array and .record == \"start\") | .array_task" | sort | xargs)"
  same "runs" 3 "$(records "select(.array_job == $array and .record == \"start\") | .job" | sort -u | wc -l)"
  is_sound
}
_array_recorded() {
  local jobs
  jobs=$(records "select(.array_job == $1) | .job" | sort -u | paste -sd,)
  [ "$(records "select(.record == \"end\" and (.job | IN(${jobs:-0})))" | wc -l)" = 3 ]
}

a_restart_of_slurmctld_leaves_the_record_complete() {
  local job how
  settings "$usual"
  for how in restart kill; do
    job=$(managed_waiter "$live_tmp/go.$how" --harmony-epochs=7 --harmony-ps=1 -n 3 -c 2 --gpus=2); await "$job" RUNNING
    recorded "$job" '.record == "start"'
    if [ "$how" = kill ]; then sleep 6; cluster_kill_ctld; cluster_start_ctld; else cluster_restart_ctld; fi
    recorded "$job" '.record == "resume"'
    sleep 1
    touch "$live_tmp/go.$how"; await "$job" COMPLETED; ended "$job"
    same "its records ($how)" "1 1 1" "$(of_job "$job" 'select(.record | IN("start", "resume", "end")) | 1' | xargs)"
    same "its roles ($how)" "2+1" "$(of_job "$job" 'select(.record | IN("start", "resume", "interval")) | "\(.workers)+\(.ps)"' | tr -d '"' | sort -u | xargs)"
    same "its placement ($how)" 1 "$(of_job "$job" 'select(.record | IN("start", "resume")) | .placement' | sort -u | wc -l)"
    same "its time is that since its start ($how)" true \
      "$(of_job "$job" 'select(.record | IN("start", "end")) | .begin_s' | jq -s '(.[0] - .[1] | fabs) < 2')"
    same "its end ($how)" 'COMPLETED 7' "$(of_job "$job" 'select(.record == "end") | "\(.state) \(.epochs)"' | tr -d '"')"
  done
  is_sound
}

a_reconfigure_records_nothing_twice() {
  local job
  settings "$usual"
  job=$(managed_waiter "$live_tmp/go.again" -n 1 --gpus=1); await "$job" RUNNING
  timeout 20 scontrol reconfigure; sleep 2; timeout 20 scontrol reconfigure
  touch "$live_tmp/go.again"; await "$job" COMPLETED; ended "$job"
  same "its records" "1 1" "$(of_job "$job" 'select(.record | IN("start", "resume", "end")) | 1' | xargs)"
}

a_requeued_and_a_preempted_job_have_a_record_a_run() {
  local job victim urgent
  settings "$usual"
  job=$(submit --requeue --harmony-type=vgg16 --harmony-epochs=5 -n 1 --gpus=1 --wrap "until [ -e $live_tmp/go.requeued ]; do sleep 0.2; done")
  await "$job" RUNNING; sleep 1
  timeout 10 scontrol requeue "$job"; ended "$job"
  touch "$live_tmp/go.requeued"; sleep 2
  timeout 10 scontrol update JobId="$job" StartTime=now
  await "$job" COMPLETED 60; ended "$job" 2
  same "its runs" "0:REQUEUED:1:null 1:COMPLETED:1:5" \
    "$(of_job "$job" 'select(.record == "end") | "\(.run):\(.state):\(.requeues):\(.epochs)"' | xargs)"
  same "its starts" "0 1" "$(of_job "$job" 'select(.record == "start") | .run' | xargs)"
  victim=$(managed_waiter "$live_tmp/go.victim2" -p low -N 4 --exclusive --gpus-per-node=2); await "$victim" RUNNING
  urgent=$(managed_waiter "$live_tmp/go.urgent2" -p high -n 8 -c 4 --gpus=8); await "$urgent" RUNNING 60
  ended "$victim"
  same "the victim" "0:PREEMPTED:1" "$(of_job "$victim" 'select(.record == "end") | "\(.run):\(.state):\(.requeues)"' | xargs)"
  is_sound
}

what_a_job_claims_is_recorded_as_its_claim() {
  local job
  settings "$usual"
  job=$(submit --harmony-type=vgg16 --harmony-epochs=30 --comment 'for the paper' -n 1 --gpus=1 \
    --wrap "$HARMONY_BIN progress --epoch 12.5 --of 30 --loss 0.4; until [ -e $live_tmp/go.claim ]; do sleep 0.2; done")
  cluster_until 30 _comment_has "$job" 'epoch=12.5' || fail "the claim did not reach slurmctld: $(job_field "$job" Comment)"
  touch "$live_tmp/go.claim"; await "$job" COMPLETED; ended "$job"
  same "the end" '30 12.5 30 0.4' "$(of_job "$job" 'select(.record == "end") | "\(.epochs) \(.claim.epoch) \(.claim.of) \(.claim.loss)"' | tr -d '"')"
  _comment_has "$job" 'for the paper' || fail "the owner's words are gone: $(timeout 10 scontrol show job "$job" | grep Comment)"
  [ "$(counter claims_taken)" -ge 1 ] || fail "status counts no claim"
  is_sound
}
_comment_has() { timeout 10 scontrol show job "$1" | grep -q "Comment=.*$2"; }

what_a_node_saw_of_a_step_is_recorded() {
  local job plugstack=$cluster_dir/etc/plugstack.conf
  settings "$usual"
  cp "$plugstack" "$live_tmp/plugstack"
  echo "optional $HARMONY_OVERLAY/harmony_spank.so synthetic=servers6 observe=1" >"$plugstack"
  job=$(submit --harmony-type=vgg16 -n 1 --gpus=1 --wrap 'timeout 4 sh -c "while :; do :; done"; true')
  await "$job" COMPLETED; ended "$job"
  cluster_until 20 _has_records "$job" '.record == "usage"' 1 || { cp "$live_tmp/plugstack" "$plugstack"; fail "no usage was recorded: $(timeout 10 scontrol show node n0 | grep Extra)"; }
  cp "$live_tmp/plugstack" "$plugstack"
  same "cores busy" true "$(of_job "$job" 'select(.record == "usage") | .busy_cores > 0.2 and .busy_cores < 1.5')"
  same "its step" batch "$(of_job "$job" 'select(.record == "usage") | .step' | tr -d '"')"
  is_sound
}

each_end_has_slurms_word() {
  local failed timeout cancelled
  settings "$usual"
  failed=$(submit --harmony-type=vgg16 -n 1 --gpus=1 --wrap 'exit 3')
  cancelled=$(managed 100 -n 1 --gpus=1)
  await "$failed" FAILED; await "$cancelled" RUNNING; scancel "$cancelled"
  ended "$failed"; ended "$cancelled"
  same "what failed" 'FAILED 3 null' "$(of_job "$failed" 'select(.record == "end") | "\(.state) \(.exit_code) \(.epochs)"' | tr -d '"')"
  same "what was cancelled" CANCELLED "$(of_job "$cancelled" 'select(.record == "end") | .state' | tr -d '"')"
}

in_mode_shadow_the_plan_is_recorded_beside_what_stock_did() {
  local job
  cluster_use shadow; settings "$usual"; cluster_restart_ctld; cluster_wait_idle
  job=$(managed 1 -n 2 --gpus=2); await "$job" COMPLETED; ended "$job"
  same "whether the plan was used" "false mode shadow" "$(of_job "$job" 'select(.record == "start") | "\(.by_plan) \(.why_stock)"' | tr -d '"')"
  recorded "$job" '.record == "shadow"'
  same "the plan" 'place 2' "$(of_job "$job" 'select(.record == "shadow") | "\(.verdict) \([.plan[].workers] | add)"' | tr -d '"')"
  cluster_use enforce; cluster_restart_ctld; cluster_wait_idle
  is_sound
}

what_is_turned_off_is_not_recorded() {
  local job before
  settings "Policy=spread Interval=1s Dataset=none"
  before=$(records . | wc -l)
  job=$(managed 1 -n 1 --gpus=1); await "$job" COMPLETED
  same "records of it" 0 "$(of_job "$job" 1 | wc -l)"
  same "what status says" "" "$(fact dataset)"
  same "other records" "$before" "$(records . | wc -l)"
}

users_are_named_as_the_site_wants() {
  local job
  settings "$usual DatasetUsers=name"
  job=$(managed 1 -n 1 --gpus=1); ended "$job"
  same "by name" "$(id -un)" "$(of_job "$job" 'select(.record == "start") | .user' | tr -d '"')"
  settings "$usual DatasetUsers=none"
  job=$(managed 1 -n 1 --gpus=1); ended "$job"
  same "not at all" null "$(of_job "$job" 'select(.record == "start") | .user')"
}

nobody_else_reads_the_dataset() {
  same "mode of the directory" 750 "$(stat -c %a "$dataset")"
  find "$dataset" -name '*.jsonl*' -printf '%m\n' | sort -u | grep -qx 640 || fail "$(ls -l "$dataset")"
}

# A directory that cannot be written: jobs run, the log says it once, and status shows it; what waited is written when it can be.
a_dataset_that_cannot_be_written_holds_nothing_up_and_is_told_once() {
  local job lines
  rm -rf "$live_tmp/file"; touch "$live_tmp/file"
  lines=$(logged_times 'harmony: .*dataset' || true)
  settings "Policy=spread Interval=1s MinInterval=100ms Dataset=$live_tmp/file"
  job=$(managed 1 -n 1 --gpus=1); await "$job" COMPLETED
  cluster_until 30 _dataset_has_a_problem || fail "status shows no problem"
  sleep 3
  same "lines about it" 1 "$(($(logged_times 'harmony: .*dataset') - lines))"
  says 'the dataset cannot be written, records wait in memory: ' "$HARMONY_BIN" status
  rm "$live_tmp/file"
  dataset=$live_tmp/file
  cluster_until 60 _has_records "$job" '.record == "end"' 1 || fail "what waited was not written: $(ls -la "$live_tmp/file")"
  same "what is wrong now" "" "$(fact dataset_problem)"
  same "records lost" 0 "$(fact records_lost)"
  is_sound
}
_dataset_has_a_problem() { [ -n "$(fact dataset_problem)" ]; }

enforcing_cluster
keep a_gang_is_recorded_from_its_start_to_its_end neighbours_part_a_run_into_intervals \
  a_hetjob_is_one_run_and_each_task_of_an_array_its_own a_restart_of_slurmctld_leaves_the_record_complete \
  a_reconfigure_records_nothing_twice a_requeued_and_a_preempted_job_have_a_record_a_run what_a_job_claims_is_recorded_as_its_claim what_a_node_saw_of_a_step_is_recorded each_end_has_slurms_word \
  in_mode_shadow_the_plan_is_recorded_beside_what_stock_did what_is_turned_off_is_not_recorded users_are_named_as_the_site_wants \
  nobody_else_reads_the_dataset a_dataset_that_cannot_be_written_holds_nothing_up_and_is_told_once
