# harmony explain says of any job what was decided and why; harmony status what the planner is doing. Both know who may ask.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"

explain() { timeout 30 "$HARMONY_BIN" explain "$@"; }
status() { timeout 30 "$HARMONY_BIN" status "$@"; }

# ends CODE PATTERN COMMAND...: COMMAND's exit code, and a line of what it prints.
ends() {
  local code=$1 pattern=$2 found=0 text
  shift 2
  text=$("$@" 2>&1) || found=$?
  same "exit code of '$*' ($text)" "$code" "$found"
  grep -qE -- "$pattern" <<<"$text" || fail "'$*' does not say '$pattern': $text"
}

as_nobody() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$HARMONY_BIN" || skip "the user nobody cannot reach the build"
  setpriv --reuid=65534 --regid=65534 --clear-groups timeout 30 "$HARMONY_BIN" "$@"
}

# mode MODE: the planner's mode from now on.
mode() { cluster_use "$1"; reconfigure; }

a_running_job_is_explained() {
  started --harmony-ps=1 -n 3 -c 2 --gpus=2
  ends 0 "^job $job +place: fewest nodes that hold it" explain "$job"
  says '^outcome .*: started as planned$' explain "$job"
  says '^decided .* by policy pack, round [0-9]+' explain "$job"
  says '^type +resnet50$' explain "$job"
  says '^ +n0 +2 +1 +0-1 +0-5$' explain "$job"
}

a_finished_job_is_explained_as_before() {
  local before
  started -n 2 --gpus=2
  before=$(explain --json "$job")
  timeout 20 scancel "$job"
  await "$job" CANCELLED
  same "explanation" "$before" "$(explain --json "$job")"
}

a_job_without_room_is_told_what_is_short() {
  started -w n0 -n 1 --gpus=3
  started -w n1 -n 1 --gpus=2
  gang -n 1 --gpus=7
  decided "$job" no_room
  ends 0 '^job [0-9]+ +no room: needs 7 free GPUs for one task; at most 6 are free on any node it may use$' explain "$job"
  says '^outcome +not started yet$' explain "$job"
  says '^masked +2 nodes: busy GPUs$' explain "$job"
  same "state" PENDING "$(job_field "$job" JobState)"
}

a_job_that_waits_is_told_for_what_and_until_when() {
  local first now until
  planned_with Policy=one-distributed MaxWait=10m
  started -N 2 --gpus-per-node=2
  first=$job
  now=$(date +%s)
  gang -N 2 --gpus-per-node=2
  decided "$job" wait
  until=$(explained "$job" .wait_until)
  [ "$until" -ge $((now + 590)) ] && [ "$until" -le $((now + 700)) ] || fail "it waits until $until, now is $now"
  ends 0 '^job [0-9]+ +wait: waits for 2 or more nodes without another distributed job$' explain "$job"
  says "^waits +until $(date -d "@$until" +%FT%T) at the latest; then it starts wherever it fits$" explain "$job"
  cluster_until 60 _comment_says "$job" "waits for a better place, until $(date -d "@$until" +%FT%T) at the latest" || fail "comment: $(comment_of "$job")"
  same "state" PENDING "$(job_field "$job" JobState)"
  timeout 20 scancel "$first"
  await "$job" RUNNING 60
  runs_as_planned "$job"
}

comment_of() { timeout 10 scontrol -o show job "$1" | sed -n 's/.* SystemComment=\(.*\) StdErr=.*/\1/p'; }
_comment_says() { [[ "$(comment_of "$1")" == *"$2"* ]]; }

cons1_waits_for_one_node_that_holds_the_gang() {
  planned_with Policy=cons1 MaxWait=10m
  started -w n0 -n 1 --gpus=5
  local first=$job
  started -w n1 -n 1 --gpus=5
  gang -n 6 --gpus=6
  decided "$job" wait
  ends 0 'wait: waits for one node that holds it$' explain "$job"
  timeout 20 scancel "$first"
  await "$job" RUNNING 60
  runs_as_planned "$job"
  same "nodes" n0 "$(nodes_of "$job")"
}

shadow_mode_records_what_it_would_have_done_and_counts() {
  planned_with Policy=spread
  mode shadow
  status --reset
  gang -n 1 --gpus=1
  await "$job" RUNNING 60
  same "what became of it" "stock true mode shadow" "$(explained "$job" '"\(.outcome) \(.same_as_plan) \(.outcome_text)"')"
  ends 0 'outcome .*: stock chose the place, the same as planned; mode shadow$' explain "$job"
  same "counts" "1 0" "$(stats 'counters | "\(.shadow_same) \(.shadow_other)"')"
  gang -n 2 --gpus=2
  await "$job" RUNNING 60
  same "planned" "n0=1+0 n1=1+0" "$(roles "$job")"
  same "nodes" n0 "$(nodes_of "$job")"
  same "what became of it" "stock false mode shadow" "$(explained "$job" '"\(.outcome) \(.same_as_plan) \(.outcome_text)"')"
  same "counts" "1 1" "$(stats 'counters | "\(.shadow_same) \(.shadow_other)"')"
  same "plans that were used" 0 "$(stats counters.plans_used)"
  same "comment" "" "$(comment_of "$job")"
  says '^allocated +NODE' explain "$job"
  says 'as planned +1$' status
  says 'otherwise +1$' status
}

others_are_kept_out_by_private_data_only() {
  started -n 2 --gpus=2
  ends 0 "^job $job +place" as_nobody explain "$job"
  slurm_conf PrivateData=jobs
  ends 1 'there is no such job, or PrivateData in slurm.conf keeps it from you' as_nobody explain "$job"
  ends 1 'there is no such job, or PrivateData in slurm.conf keeps it from you' as_nobody explain 999999
  ends 0 "^job $job +place" explain "$job"
  slurm_conf ''
  ends 0 "^job $job +place" as_nobody explain "$job"
}

# Two jobs of nobody's: PrivateData keeps no one from what is his own.
private_data_leaves_everyone_his_own() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  slurm_conf PrivateData=jobs
  job=$(cd / && submit --uid=65534 --gid=65534 --harmony-type=bert -n 1 --gpus=1 --wrap 'sleep 1000')
  await "$job" RUNNING 60
  ends 0 '^type +bert$' as_nobody explain "$job"
}

a_job_that_nobody_knows_and_an_id_that_is_none_differ() {
  local id
  ends 1 'Invalid job id' explain 999999
  ends 1 'Invalid job id' explain 999999_3
  for id in x 0 17_ 17+x 1.5 -- 4294967295 '17;id'; do ends 2 . explain "$id"; done
  ends 2 . explain
  job=$(sleeper 1000 -n 1)
  ends 1 'no planning round has decided on this job' explain "$job"
}

only_so_many_decisions_are_kept() {
  planned_with Policy=pack KeepDecisions=2
  started -n 1 --gpus=1
  local first=$job
  started -n 1 --gpus=1
  started -n 1 --gpus=1
  same "decisions kept" 2 "$(stats decisions_kept)"
  ends 0 place explain "$job"
  ends 0 'note: no planning round has decided on this job' explain "$first"
  says "^job $first +harmony: pack n0=1\\+0" explain "$first"
}

json_has_every_key() {
  started -n 2 --gpus=2
  explain --json "$job" | jq -e --argjson job "$job" '.job == $job and .user == 0 and .type == "resnet50" and .policy == "pack"
    and .round > 0 and .decided > 0 and .verdict == "place" and (.reason | length) > 0 and .decisions > 0 and .first_decided > 0
    and (.plan[0] | has("component", "node", "workers", "ps", "cores", "gpus")) and .outcome == "used" and .outcome_at > 0
    and (.candidates[0] | .nodes == "n0 2+0" and (.score | type) == "number" and (.why | length) > 0)
    and (.actual[0] | .node == "n0" and .gpus == "0-1" and .cpus == 2 and .tasks == 2)
    and .same_as_plan and .outcome_text == "" and .masked == [] and .neighbours == [] and .wait_until == 0
    and (.predicted_speed | type) == "number"' >/dev/null || fail "$(explain --json "$job")"
}

after_a_restart_the_jobs_record_still_says_where() {
  started -n 2 --gpus=2
  sleep 6 # slurmctld saves its state up to 5 s after a change
  cluster_restart_ctld
  says "^job $job +harmony: pack n0=2\\+0$" explain "$job"
  same "JSON" "harmony: pack n0=2+0" "$(explained "$job" .summary)"
}

stop_namespace() { kill "$namespace" 2>/dev/null; wait "$namespace" 2>/dev/null || true; }
has_own_network() { [ "$(readlink "/proc/$namespace/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }

# A network namespace is as good as another host: slurmctld's port is in reach, its local socket is not.
from_another_host_there_is_a_summary_and_where_to_ask() {
  [ "$(id -u)" = 0 ] || skip "needs root to make a network namespace"
  local conf name=hm$((RANDOM % 10000))
  local address=169.254.$((RANDOM % 250 + 1)).$((RANDOM % 60 * 4))
  started -n 2 --gpus=2
  unshare -n sleep 120 &
  namespace=$!
  trap stop_namespace EXIT
  cluster_until 5 has_own_network || skip "no network namespaces here"
  ip link add "$name" type veth peer name there netns "$namespace" || skip "no pair of network devices here"
  ip addr add "${address%.*}.$((${address##*.} + 1))/30" dev "$name"
  ip link set "$name" up
  nsenter -t "$namespace" -n ip addr add "${address%.*}.$((${address##*.} + 2))/30" dev there
  nsenter -t "$namespace" -n ip link set there up
  mkdir -p "$live_tmp/elsewhere"
  conf=$(cluster_client_conf "$live_tmp/elsewhere")
  sed -i "s/^SlurmctldHost=\(.*\)(.*/SlurmctldHost=\1(${address%.*}.$((${address##*.} + 1)))/" "$conf"
  elsewhere() { SLURM_CONF=$conf nsenter -t "$namespace" -n timeout 60 "$HARMONY_BIN" "$@"; }
  ends 0 "the whole explanation is available on slurmctld's host, $(hostname -s)" elsewhere explain "$job"
  says "^job $job +harmony: pack n0=2\\+0" elsewhere explain "$job"
  same "JSON" "harmony: pack n0=2+0" "$(elsewhere explain --json "$job" | jq -r .summary)"
  ends 1 'Invalid job id' elsewhere explain 999999
  ends 1 "counts are reset on slurmctld's host" elsewhere status --reset
}

a_client_with_stock_plugins_sees_all_of_it() {
  started -n 2 --gpus=2
  mkdir -p "$live_tmp/stock-client"
  same "explanation" "$(explain --json "$job")" \
    "$(SLURM_CONF=$(cluster_client_conf "$live_tmp/stock-client") explain --json "$job")"
}

mode_off_says_so() {
  started -n 2 --gpus=2
  local planned=$job
  cluster_use off
  cluster_restart_ctld
  job=$(submit --harmony-type=vgg16 -n 1 --gpus=1 --wrap 'sleep 1000')
  await "$job" RUNNING 60
  ends 1 'Slurm has no word of ours on it: harmony_mode is off, nothing is decided now' explain "$job"
  ends 0 "^job $planned +harmony: pack n0=2\\+0" explain "$planned"
  ends 0 '^mode +off$' status
  same "engine" "not needed" "$(status_fact HarmonyEngine)"
}

a_stock_slurmctld_is_named() {
  cluster_use stock
  cluster_restart_ctld
  ends 3 'slurmctld runs its own plugins' explain 1
  ends 3 'NOT LOADED' status
  ends 3 'slurmctld runs its own plugins' status --reset
  ends 3 '^harmony_up 0$' status --prometheus
  cluster_stop_ctld
  ends 1 'slurmctld does not answer' explain 1
  ends 1 '^harmony_health\{state="no-answer"\} 1$' status --prometheus
  cluster_start_ctld
}

status_has_its_sections() {
  local section
  for section in Planner 'Rounds \(since .*\)' 'Times \(microseconds\)' Plans 'Fallbacks to stock'; do says "^$section$" status; done
  says '^  policy +pack$' status
  says "^  settings file +$cluster_dir/etc/harmony.conf$" status
  status --json | jq -e '.health == "good" and .problem == "" and .statistics.policy == "pack" and .statistics.planner == "running"
    and (.statistics.counters | has("rounds", "plans_made", "plans_used", "plans_stale", "waits", "no_room", "left_to_stock", "held"))
    and .statistics.times.round.count > 0 and .statistics.last_round > 0 and (.statistics.fallbacks | length) > 0' >/dev/null ||
    fail "$(status --json)"
}

# The text format of Prometheus: HELP and TYPE once before a family's samples, each sample once, numbers that are numbers.
the_metrics_are_in_the_grammar_of_prometheus() {
  started -n 1 --gpus=1
  status --prometheus | awk '
    function bad(why) { print NR ": " why ": " $0; wrong = 1 }
    /^# HELP [a-z_]+ ./ { if (helped[$3]++) bad("HELP twice"); family = $3; next }
    /^# TYPE [a-z_]+ (counter|gauge|summary)$/ { if (typed[$3]++ || $3 != family) bad("TYPE"); type = $4; next }
    !/^[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? -?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ { bad("grammar"); next }
    { name = $1; sub(/\{.*/, "", name); if (type == "summary") sub(/_(sum|count)$/, "", name)
      if (name != family || !typed[name]) bad("not in its family")
      if (type == "counter" && name !~ /_total$/) bad("a counter without _total")
      sample = $0; sub(/ [^ ]*$/, "", sample); if (seen[sample]++) bad("twice"); samples++ }
    END { if (samples < 30) bad("only " samples " samples"); exit wrong }' >"$live_tmp/metrics" || fail "$(cat "$live_tmp/metrics")"
  says '^harmony_plans_used_total [1-9]' status --prometheus
  says '^harmony_mode_info\{mode="enforce",policy="pack",model=""\} 1$' status --prometheus
}

counts_begin_anew_for_operators_only() {
  started -n 1 --gpus=1
  [ "$(stats counters.plans_used)" -ge 1 ] || fail "no plan was counted"
  if [ "$(id -u)" = 0 ]; then
    ends 1 "only root, SlurmUser and Slurm's operators may reset the counts" as_nobody status --reset
    [ "$(stats counters.plans_used)" -ge 1 ] || fail "nobody has reset the counts"
  fi
  status --reset
  same "counts" "0 0" "$(stats 'counters | "\(.plans_made) \(.plans_used)"')"
  logged 'harmony: counts and times reset by user 0'
}

plan_cluster "Policy=pack" --nodes 2
keep a_running_job_is_explained a_finished_job_is_explained_as_before a_job_without_room_is_told_what_is_short \
  a_job_that_waits_is_told_for_what_and_until_when cons1_waits_for_one_node_that_holds_the_gang \
  shadow_mode_records_what_it_would_have_done_and_counts others_are_kept_out_by_private_data_only \
  private_data_leaves_everyone_his_own a_job_that_nobody_knows_and_an_id_that_is_none_differ only_so_many_decisions_are_kept \
  json_has_every_key after_a_restart_the_jobs_record_still_says_where from_another_host_there_is_a_summary_and_where_to_ask \
  a_client_with_stock_plugins_sees_all_of_it mode_off_says_so a_stock_slurmctld_is_named status_has_its_sections \
  the_metrics_are_in_the_grammar_of_prometheus counts_begin_anew_for_operators_only
