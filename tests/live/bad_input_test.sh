# Nothing but bad input: each ends in stock behaviour, and slurmctld's log says why in one line.
. "$(dirname "$0")/lib.sh"

# A copy of the overlay that a promise may spoil.
own_overlay() {
  HARMONY_OVERLAY=$(mktemp -d "$live_tmp/overlay.XXXXXX")
  cp "$live_overlay"/*.so "$HARMONY_OVERLAY"
}

# restart_as MODE: slurmctld with that overlay and mode, and a fresh log.
restart_as() {
  cluster_use "$1"
  cluster_stop_ctld
  : >"$cluster_dir/log/slurmctld.log"
  cluster_start_ctld
}

a_job_runs_as_ever() {
  local job
  job=$(sleeper 0.1 --gpus=1 -n 2)
  await "$job" COMPLETED
}

status_is() { # EXIT-CODE WORDS
  local text code=0
  text=$("$HARMONY_BIN" status) || code=$?
  same "exit code of harmony status" "$1" "$code"
  [[ $text == *"$2"* ]] || fail "harmony status does not say '$2': $text"
}

one_line() { logged "$1"; same "lines like '$1'" 1 "$(logged_times "$1")"; }

no_engine_beside_the_overlay_is_stock() {
  own_overlay
  rm "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  one_line "error: harmony: cannot load the engine $HARMONY_OVERLAY/harmony_engine.so: .*left to stock"
  status_is 4 "left to stock"
  a_job_runs_as_ever
}

a_file_that_is_no_library_is_stock() {
  own_overlay
  echo "not an engine" >"$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  one_line "error: harmony: cannot load the engine $HARMONY_OVERLAY/harmony_engine.so: .*left to stock"
  a_job_runs_as_ever
}

a_library_that_is_no_engine_is_stock() {
  own_overlay
  cp "$HARMONY_OVERLAY/sched_backfill.so" "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  one_line "error: harmony: $HARMONY_OVERLAY/harmony_engine.so has no harmony_engine .*left to stock"
  a_job_runs_as_ever
}

an_engine_of_another_version_is_stock() {
  own_overlay
  cp "$HARMONY_BUILD/tests/engines/.libs/other_version.so" "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  one_line "error: harmony: $HARMONY_OVERLAY/harmony_engine.so is version 0.0.1-other .*left to stock"
  status_is 4 "left to stock"
  a_job_runs_as_ever
}

an_engine_that_refuses_its_mode_is_stock() {
  own_overlay
  cp "$HARMONY_BUILD/tests/engines/.libs/refusing.so" "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as shadow
  one_line "error: harmony: the engine refuses mode shadow; everything is left to stock"
  status_is 4 "left to stock"
  a_job_runs_as_ever
}

an_exception_in_the_engine_is_one_line_and_stock() {
  own_overlay
  cp "$HARMONY_BUILD/tests/engines/.libs/throwing.so" "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  a_job_runs_as_ever
  a_job_runs_as_ever
  one_line "error: harmony: job_test: thrown by a test; using stock selection"
}

an_unknown_mode_is_named_and_stock() {
  HARMONY_OVERLAY=$live_overlay
  restart_as enforced
  one_line "error: harmony: SchedulerParameters: harmony_mode=enforced is none of off, shadow, enforce; running as off"
  status_is 4 "harmony_mode is not understood"
  a_job_runs_as_ever
}

an_unknown_mode_at_reconfigure_is_named_and_stock() {
  HARMONY_OVERLAY=$live_overlay
  restart_as enforce
  status_is 0 enforce
  cluster_use enfroce
  timeout 20 scontrol reconfigure
  one_line "error: harmony: SchedulerParameters: harmony_mode=enfroce is none of"
  status_is 4 "harmony_mode is not understood"
  a_job_runs_as_ever
}

a_misspelt_entry_is_named() {
  HARMONY_OVERLAY=$live_overlay
  restart_as shadow,harmony_moed=enforce
  one_line "error: harmony: SchedulerParameters: unknown entry harmony_moed=enforce is ignored"
  status_is 0 shadow
}

# pretend_version FILE: FILE claims to be made for Slurm 22.05.99.
pretend_version() {
  local where
  where=$(readelf -sW "$1" | awk '$8 == "plugin_version" { where = $2 } END { print where }')
  printf '\x63' | dd of="$1" bs=1 seek=$((16#$where)) conv=notrunc status=none
}

# Slurm takes its own plugin then, without an error: harmony status must be loud instead.
an_overlay_for_another_slurm_is_seen_by_status() {
  own_overlay
  pretend_version "$HARMONY_OVERLAY/select_cons_tres.so"
  restart_as enforce
  logged "Incompatible Slurm plugin $HARMONY_OVERLAY/select_cons_tres.so version \(22.05.99\)"
  status_is 3 "NOT LOADED"
  a_job_runs_as_ever
}

a_sched_overlay_for_another_slurm_is_seen_by_status() {
  own_overlay
  pretend_version "$HARMONY_OVERLAY/sched_backfill.so"
  restart_as enforce
  status_is 3 "sched_backfill.so is not"
  a_job_runs_as_ever
}

a_missing_stock_plugin_stops_slurmctld_and_says_where_it_looked() {
  local plugin stock=$live_tmp/half-stock
  HARMONY_OVERLAY=$live_overlay
  for plugin in select_cons_tres.so sched_backfill.so; do
    rm -rf "$stock"
    cp -rs "$cluster_stock_plugins" "$stock"
    rm "$stock/$plugin"
    cluster_use enforce
    cluster_stop_ctld
    sed -i "s,^PluginDir=.*,PluginDir=$HARMONY_OVERLAY:$stock," "$cluster_dir/etc/plugins.conf"
    ! timeout 20 slurmctld -D -f "$SLURM_CONF" >"$live_tmp/ctld.out" 2>&1 || fail "slurmctld ran without a stock $plugin"
    grep -qE "fatal: harmony: no stock $plugin in PluginDir=$HARMONY_OVERLAY:$stock" "$live_tmp/ctld.out" "$cluster_dir/log/slurmctld.log" ||
      fail "no word on where it looked: $(tail -n 3 "$live_tmp/ctld.out")"
  done
  cluster_use enforce
  cluster_start_ctld
  a_job_runs_as_ever
}

# As it stands for a while in an upgrade: the new one first, the old one still listed.
two_overlays_in_plugin_dir_stand_in_a_row() {
  own_overlay
  restart_as enforce
  sed -i "s,^PluginDir=.*,PluginDir=$HARMONY_OVERLAY:$live_overlay:$cluster_stock_plugins," "$cluster_dir/etc/plugins.conf"
  cluster_restart_ctld
  status_is 0 "in front of $live_overlay/select_cons_tres.so"
  a_job_runs_as_ever
}

# Slurm reconfigures its select plugin when a partition changes, too.
a_partition_update_does_not_load_the_engine_again() {
  own_overlay
  rm "$HARMONY_OVERLAY/harmony_engine.so"
  restart_as enforce
  timeout 10 scontrol update PartitionName=train MaxTime=60
  timeout 10 scontrol update PartitionName=train MaxTime=INFINITE
  one_line "cannot load the engine"
}

no_slurmctld_is_said_by_status() {
  cluster_stop_ctld
  status_is 1 "slurmctld does not answer"
  cluster_start_ctld
}

live_overlay=$HARMONY_OVERLAY
live_cluster --nodes 2 --extra 'MessageTimeout=5'
keep no_engine_beside_the_overlay_is_stock a_file_that_is_no_library_is_stock a_library_that_is_no_engine_is_stock \
  an_engine_of_another_version_is_stock an_engine_that_refuses_its_mode_is_stock \
  an_exception_in_the_engine_is_one_line_and_stock an_unknown_mode_is_named_and_stock \
  an_unknown_mode_at_reconfigure_is_named_and_stock a_misspelt_entry_is_named \
  an_overlay_for_another_slurm_is_seen_by_status a_sched_overlay_for_another_slurm_is_seen_by_status \
  a_missing_stock_plugin_stops_slurmctld_and_says_where_it_looked two_overlays_in_plugin_dir_stand_in_a_row \
  a_partition_update_does_not_load_the_engine_again no_slurmctld_is_said_by_status
