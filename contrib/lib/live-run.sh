# One run of a live comparison: a private cluster, a probe of Slurm's own times, then the workload. Sourced by contrib/compare;
# needs say.sh and the test cluster, and $home, $scenario, $policy, $speedup, $overlay, $harmony and $emulator.

live_max_wait=3600 # of the jobs' clock; as MaxWait is by default
live_patience=900 # real seconds without a start or an end

# live_run stock|ours: in a subshell of its own. Leaves $home/KIND/failed, with the reason, if anything goes wrong.
live_run() {
  local dir=$home/$1
  kind=$1 world=''
  trap 'live_run_end' EXIT
  trap 'exit 130' INT TERM HUP
  exec </dev/null
  runs=()
  live_cluster_up "$dir"
  live_play "$dir" probe probe-
  live_play "$dir" workload ''
  timeout 10 scontrol -o show job >"$dir/jobs"
  live_all_completed "$dir"
}

live_failed() { echo "$*" >"$home/$kind/failed"; exit 1; }

live_run_end() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP
  [ "$status" = 0 ] || [ -e "$home/$kind/failed" ] || echo "it ended early" >"$home/$kind/failed"
  [ -z "$world" ] || kill "$world" 2>/dev/null
  if [ -s "$home/$kind/c/settings" ]; then
    cluster_load "$home/$kind/c" && cluster_stop
    cp "$home/$kind/c/log/slurmctld.log" "$home/$kind" 2>/dev/null
  fi
  exit "$status"
}

# What Slurm does every so often it does as often as it can, because a real second is many of the jobs'. Jobs are not killed at
# their limits: neighbours, and not the jobs, would be to blame.
live_cluster_up() { # DIR
  local ours=() known
  [ "$kind" = stock ] || ours=(--overlay "$overlay" --mode enforce)
  cluster_setup "$1/c" --topology "$scenario" --nodes "$(live_nodes)" "${ours[@]}" \
    --scheduler-parameters batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,bf_resolution=1,bf_continue \
    --extra "OverTimeLimit=UNLIMITED"
  if [ "$kind" = ours ]; then
    echo "optional $overlay/harmony_spank.so synthetic=$scenario" >"$cluster_dir/etc/plugstack.conf"
    live_settings "$1" >"$cluster_dir/etc/harmony.conf"
    cp "$cluster_dir/etc/harmony.conf" "$1"
  fi
  cluster_start || live_failed "the cluster did not start"
  cluster_wait_idle || live_failed "only $(cluster_idle_count) of $cluster_nodes nodes became idle"
  [ "$kind" = stock ] || cluster_until 60 live_topologies_known || live_failed "not every node's topology was published"
  [ "$kind" = stock ] || [ "$policy" != learned ] || live_model_serves
}

live_nodes() { case $scenario in pcie8) echo 16 ;; *) topology_lines "$scenario" nodes ;; esac; }

live_topologies_known() { "$harmony" status --json | grep -q " $cluster_nodes published,"; }

# Who places gangs must not be the heuristic: that would be another comparison.
live_model_serves() {
  cluster_until 60 live_model_is_in_service ||
    live_failed "the shipped model is not in service: $("$harmony" status | sed -n 's/^problem *//p') (--policy NAME compares another policy)"
}
live_model_is_in_service() { "$harmony" status | grep -qE '^  in service +[^ ]+ \(shipped\)$'; }

# The defaults, on the jobs' clock. Where there is no store, the shipped model serves, whatever the site has taken in use.
live_settings() { # DIR
  printf 'Policy=%s\nModelStore=/nonexistent/slurm-harmony\n' "$policy"
  awk -v x="$speedup" -v wait="$live_max_wait" 'BEGIN {
    interval = 10000 / x
    printf "Interval=%dms\nMinInterval=50ms\nMaxWait=%ds\n", interval < 100 ? 100 : interval, wait / x < 1 ? 1 : wait / x + 0.5 }'
  ! "$harmony" --help | grep -qE '^ +dataset ' || echo "Dataset=$1/dataset"
}

# live_play DIR NAME PREFIX: submits the jobs of NAME when their time has come, until all are gone from the world.
live_play() {
  local dir=$1 name=$2 prefix=$3 reports=() begun now at due submitted=0 looked=0 status=0 plan
  mapfile -t plan <"$home/$name.commands"
  "$harmony" --help | grep -qE '^ +progress ' && reports=(--harmony "$harmony")
  "$emulator" world --scenario "$scenario" --workload "$home/$name.csv" --socket "$dir/world" --log "$dir/${prefix}gangs.log" \
    --speedup "$speedup" &
  world=$!
  cluster_until 10 test -S "$dir/world" || live_failed "the world did not begin"
  begun=$(live_us) quiet_since=$SECONDS last_start=$SECONDS events=0
  while kill -0 "$world" 2>/dev/null; do
    now=$(live_us) due=$((now + 300000))
    if [ "$submitted" -lt ${#plan[@]} ]; then
      read -r _ at _ <<<"${plan[submitted]}"
      at=$((begun + 10#${at/./} * 1000)) # milliseconds as the workload has them
      if [ "$at" -le "$now" ]; then
        live_submit "$dir/${prefix}submitted" "${plan[submitted]}" "${reports[@]}"
        submitted=$((submitted + 1))
        continue
      fi
      [ "$at" -ge "$due" ] || due=$at
    fi
    if [ "$SECONDS" != "$looked" ]; then
      looked=$SECONDS
      # Slurm forgets GPUs when a job ends.
      timeout 10 scontrol -o -d show job 2>/dev/null | grep 'JobState=RUNNING' >>"$dir/${prefix}held"
      live_is_alive "$submitted" "$name"
      ! live_any_failed || live_failed "a job failed: $(timeout 10 squeue -h -t F,TO,NF -o '%i %j %T' | head -n 3)"
    fi
    now=$(live_us)
    [ "$due" -le "$now" ] || sleep "$(printf '0.%06d' $((due - now)))"
  done
  wait "$world" || status=$?
  world=''
  [ "$status" = 0 ] || live_failed "not every gang ran to its end"
  cluster_until 20 cluster_queue_empty || live_failed "jobs are left in the queue"
}

# Jobs that ended without a word to the world, or a queue that stands still, would be waited for until the end of days.
live_is_alive() { # SUBMITTED NAME
  if [ "$1" -lt ${#plan[@]} ] || ! cluster_queue_empty; then quiet_since=$SECONDS; fi
  [ $((SECONDS - quiet_since)) -lt 10 ] ||
    live_failed "jobs of the $2 ended without having run: $(tail -qn 2 "$home/$kind"/out-* | head -n 4)"
  [ $((SECONDS - last_start)) -lt "$live_patience" ] || live_failed "no gang of the $2 started or ended within $live_patience s"
  [ "$(live_events)" = "$events" ] || { events=$(live_events) last_start=$SECONDS; }
}
live_events() { cat "$home/$kind"/*gangs.log 2>/dev/null | wc -l; }

live_us() { echo "${EPOCHREALTIME/[.,]/}"; } # microseconds since 1970

live_any_failed() { [ -n "$(timeout 10 squeue -h -t F,TO,NF -o %i 2>/dev/null)" ]; }

# live_submit FILE "ID SECONDS OPTION... | OPTION..." [REPORTS...]: those behind the bar are for our plugins.
live_submit() {
  local file=$1 line=$2 id options annotations='' at slurm_job
  shift 2
  read -r id _ options <<<"${line%%|*}"
  [ "$kind" = stock ] || annotations=${line#*|}
  at=${EPOCHREALTIME/,/.}
  slurm_job=$(timeout 20 sbatch --parsable -D "$home" -o "$home/$kind/out-%j" $options $annotations \
    "$harmony_top/tests/emulator/job.sh" "$emulator" task --world "$home/$kind/world" --job "$id" "$@") || live_failed "sbatch of job $id failed"
  echo "$id $at $slurm_job" >>"$file"
}

live_all_completed() { # DIR
  local bad
  bad=$(grep -v 'JobState=COMPLETED' "$1/jobs" | grep -o '^JobId=[0-9]*.*JobState=[A-Z]*' | head -n 3)
  [ -z "$bad" ] || live_failed "not every job completed: $bad"
}
