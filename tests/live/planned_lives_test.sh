# What else happens in the life of a job under mode enforce: preemption, backfill, reservations, arrays, requeue, and so on.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/enforcing.sh"

a_gang_preempts_and_the_victim_runs_again() {
  local victim urgent
  settings "$usual"
  victim=$(managed_waiter "$live_tmp/go.victim" -p low -N 4 --exclusive --gpus-per-node=2); await "$victim" RUNNING
  urgent=$(managed_waiter "$live_tmp/go.urgent" -p high -n 8 -c 4 --gpus=8); await "$urgent" RUNNING 60
  same "restarts of the victim" 1 "$(job_field "$victim" Restarts)"
  same "its CPUs" 32 "$(job_field "$urgent" NumCPUs)"
  says 'Nodes=n\[0-3\] CPU_IDs=0-7 .* GRES=gpu:gtx1080ti:2\(IDX:0-1\)' timeout 10 scontrol -d show job "$urgent"
  touch "$live_tmp/go.urgent" "$live_tmp/go.victim"
  await "$urgent" COMPLETED
  sleep 2 # slurmd takes a start within the second of the end for the old one
  timeout 10 scontrol update JobId="$victim" StartTime=now # Slurm holds a requeued job back for two minutes
  await "$victim" COMPLETED 60
  planned_start "$victim" 2
}

# Whoever is behind a large job may go first only if that does not make it wait longer.
backfilled_gangs_do_not_delay_a_large_job() {
  local running large small long start
  settings "$usual"
  running=$(waiter "$live_tmp/go.fill" -t 10 -N 1 --exclusive); await "$running" RUNNING
  for options in "--harmony-type=vgg16" ""; do
    large=$(sleeper 0.1 -t 10 -N 4 --exclusive $options)
    cluster_until 60 has_start "$large" || fail "Slurm shows no start of the large job"
    start=$(job_field "$large" StartTime)
    long=$(managed 30 -t 60 -n 2 --gpus=2)
    for small in 1 2 3; do small=$(managed 1 -t 2 -n 2 --gpus=2); await "$small" COMPLETED 60; planned_start "$small"; done
    same "a job that would delay the large one" PENDING "$(state_of "$long")"
    [[ ! $(job_field "$large" StartTime) > $start ]] || fail "the large job was to start at $start, now at $(job_field "$large" StartTime)"
    scancel "$large" "$long"
  done
}
has_start() { [[ $(job_field "$1" StartTime) == 20* ]]; }

a_reservation_that_begins_soon_keeps_its_node() {
  local longer shorter
  settings "$usual"
  timeout 10 scontrol create reservation ReservationName=soon StartTime=now+10minutes Duration=60 Users=daemon Nodes=n1 >/dev/null
  longer=$(managed 30 -t 60 -N 3 --gpus-per-node=2); await "$longer" RUNNING
  shorter=$(managed 30 -t 2 -N 1 --gpus-per-node=2); await "$shorter" RUNNING
  planned_start "$longer"; planned_start "$shorter"
  same "node of the short job" n1 "$(job_field "$shorter" NodeList)"
  scancel "$longer" "$shorter"
  longer=$(managed 30 -t 60 -N 4); round_comes; round_comes
  same "state of a long job on all nodes" PENDING "$(state_of "$longer")"
  timeout 10 scontrol delete ReservationName=soon
  await "$longer" RUNNING 60
}

an_array_keeps_its_limit() {
  local job most=0 now
  settings "$usual"
  job=$(managed 1 --array=0-7%2 -n 2 --gpus=2)
  until array_done "$job" 8; do
    now=$(timeout 10 squeue -h -r -t R -j "$job" | wc -l); most=$((now > most ? now : most))
    [ "$most" -le 2 ] || fail "$most tasks at once"
  done
  same "tasks at once" 2 "$most"
  same "tasks that started by plan" 8 "$(logged_times "JobId=${job}_[0-7]\([0-9]+\): plan of round")"
}
array_done() { [ "$(timeout 10 scontrol -o show job "$1" | grep -c JobState=COMPLETED)" = "$2" ]; }

# A component with the options beside one without is not to keep the hetjob, and with it everybody, waiting.
a_hetjob_that_is_described_in_part_starts_like_others() {
  local job
  settings "$usual"
  job=$(submit -n 2 -c 2 : --harmony-type=vgg16 -n 1 --gpus-per-task=1 --wrap 'sleep 1')
  await "$job" 'RUNNING|COMPLETED' 60
  job=$(submit --harmony-type=vgg16 --harmony-ps=1 -n 2 --gpus-per-task=1 : -n 1 -c 2 --wrap 'sleep 1')
  await "$job" 'RUNNING|COMPLETED' 60
}

nodes_that_a_job_gave_back_are_planned_again() {
  local job next
  settings "$usual"
  cd "$live_tmp"
  job=$(managed_waiter "$live_tmp/go.shrink" -N 4 --exclusive --gpus-per-node=2); await "$job" RUNNING
  next=$(managed 30 -N 3 --gpus-per-node=2)
  timeout 10 scontrol update JobId="$job" NumNodes=1 >/dev/null
  await "$next" RUNNING 60
  round_comes
  same "all nodes are in use" "4" "$(scontrol show hostnames "$(job_field "$job" NodeList),$(job_field "$next" NodeList)" | sort -u | wc -l)"
  scancel "$next"; await "$next" CANCELLED
  next=$(managed 30 -N 3 --gpus-per-node=2); await "$next" RUNNING
  planned_start "$next"
}

a_requeued_gang_gets_a_plan_of_its_own_for_each_run() {
  local job first blocker
  settings "$usual"
  job=$(submit --requeue --harmony-type=vgg16 --harmony-ps=1 -n 3 --gpus=2 -N 1 \
    --wrap "echo \$HARMONY_PLAN >$live_tmp/plan.\${SLURM_RESTART_COUNT:-0}; until [ -e $live_tmp/go.requeue ]; do sleep 0.2; done")
  await "$job" RUNNING
  cluster_until 20 test -s "$live_tmp/plan.0" || fail "no plan in the first run"
  first=$(job_field "$job" NodeList)
  same "first plan" "$first=2+1" "$(cat "$live_tmp/plan.0")"
  timeout 10 scontrol requeue "$job"
  await "$job" PENDING
  blocker=$(sleeper 60 -w "$first" --exclusive); await "$blocker" RUNNING
  touch "$live_tmp/go.requeue"
  sleep 2 # as above
  timeout 10 scontrol update JobId="$job" StartTime=now
  await "$job" COMPLETED 60
  [ "$(job_field "$job" NodeList)" != "$first" ] || fail "the second run was on $first, which is in use"
  same "second plan" "$(job_field "$job" NodeList)=2+1" "$(cat "$live_tmp/plan.1")"
  planned_start "$job" 2
}

a_suspended_gang_keeps_its_gpus_and_resumes() {
  local job other
  settings "$usual"
  job=$(managed_waiter "$live_tmp/go.suspend" -w n0 -n 1 --gpus=1); await "$job" RUNNING
  timeout 10 scontrol suspend "$job"; await "$job" SUSPENDED
  other=$(managed 30 -w n0 -n 1 --gpus=1); await "$other" RUNNING
  same "distinct GPUs on n0" 2 "$(for each in "$job" "$other"; do timeout 10 scontrol -d show job "$each" | grep -oE 'IDX:[0-9]'; done | sort -u | wc -l)"
  scancel "$other"; timeout 10 scontrol resume "$job"
  touch "$live_tmp/go.suspend"
  await "$job" COMPLETED
  planned_start "$job"
}

a_held_chain_of_jobs_waits_for_its_release_and_runs_in_order() {
  local first second third
  settings "$usual"
  first=$(managed 0.5 -H -n 2 --gpus=2)
  second=$(managed 0.5 -d "afterok:$first" -n 2 --gpus=2)
  third=$(managed 0.5 -d "afterok:$second" -n 2 --gpus=2)
  round_comes; round_comes
  same "states" "PENDING PENDING PENDING" "$(state_of "$first") $(state_of "$second") $(state_of "$third")"
  timeout 10 scontrol hold "$third"
  timeout 10 scontrol release "$first"
  await "$second" COMPLETED 60
  round_comes
  same "state of what is held" PENDING "$(state_of "$third")"
  timeout 10 scontrol release "$third"
  await "$third" COMPLETED 60
  for job in "$first" "$second" "$third"; do planned_start "$job"; done
  [[ ! $(job_field "$second" StartTime) < $(job_field "$first" EndTime) && ! $(job_field "$third" StartTime) < $(job_field "$second" EndTime) ]] ||
    fail "they did not run in order"
}

# jobs_in_mode MODE: the same submissions on an empty cluster; prints what each got.
jobs_in_mode() {
  local job options
  cluster_cancel_jobs; cluster_use "$1"; cluster_restart_ctld
  cluster_wait_idle || fail "only $(cluster_idle_count) nodes are idle"
  while read -r options; do
    job=$(managed 60 $options); await "$job" RUNNING
    allocation "$job"
  done <<'JOBS'
-n 1 --gpus=1
--harmony-ps=1 -n 3 --gpus=2
-n 3 -c 2 --gpus-per-task=1
-N 1 --gpus-per-node=1 --mem=2000
-n 5 -c 1
JOBS
}

in_mode_shadow_jobs_get_what_they_get_in_mode_off() {
  settings 'Policy=spread Interval=1s MinInterval=100ms'
  jobs_in_mode off >"$live_tmp/off"
  jobs_in_mode shadow >"$live_tmp/shadow"
  diff "$live_tmp/off" "$live_tmp/shadow" || fail "mode shadow changed an allocation"
  [ "$(grep -c ' Nodes=' "$live_tmp/off")" -ge 5 ] || fail "nothing was compared: $(cat "$live_tmp/off")"
  [ "$(counter plans_made)" -gt 0 ] || fail "no plans were made in mode shadow"
  same "jobs held or started by plan" "0 0" "$(counter held) $(counter plans_used)"
}

enforcing_cluster
keep a_gang_preempts_and_the_victim_runs_again backfilled_gangs_do_not_delay_a_large_job \
  a_reservation_that_begins_soon_keeps_its_node an_array_keeps_its_limit \
  a_hetjob_that_is_described_in_part_starts_like_others nodes_that_a_job_gave_back_are_planned_again \
  a_requeued_gang_gets_a_plan_of_its_own_for_each_run a_suspended_gang_keeps_its_gpus_and_resumes \
  a_held_chain_of_jobs_waits_for_its_release_and_runs_in_order in_mode_shadow_jobs_get_what_they_get_in_mode_off
