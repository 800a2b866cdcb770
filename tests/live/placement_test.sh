# Plans become allocations: each job gets the nodes, cores and GPUs that were planned for it, and what it asked for is kept.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/plans.sh"

# near JOB: all its cores are on the socket of its GPUs (GPUs 0-3: cores 0-15, GPUs 4-7: cores 16-31).
near() {
  local core gpu
  for gpu in $(each_of "$(gpus_of "$1")"); do
    for core in $(each_of "$(cores_of "$1")"); do
      [ $((gpu / 4)) = $((core / 16)) ] || fail "job $1 has GPU $gpu and core $core: $(held "$1")"
    done
  done
}

# in_pairs JOB: its GPUs are those of whole PCIe switches: 0,1 and 2,3 and 4,5 and 6,7.
in_pairs() {
  local gpus gpu
  gpus=" $(each_of "$(gpus_of "$1")") "
  for gpu in $gpus; do
    [[ $gpus == *" $((gpu ^ 1)) "* ]] || fail "job $1 has one GPU of a switch: $(held "$1")"
  done
}

pack_puts_ps_beside_workers_on_the_node_with_least_left() {
  started -w n2 -n 1 --gpus=1
  started --harmony-ps=1 -n 3 -c 2 --gpus=2
  same "roles" n2=2+1 "$(roles "$job")"
  same "nodes" n2 "$(nodes_of "$job")"
  same "GPUs" 2 "$(gpus_in_all "$job")"
  same "cores" 6 "$(count_of "$(cores_of "$job")")"
}

spread_puts_the_ps_apart_and_harmony_run_starts_the_roles_there() {
  planned_with Policy=spread
  local out=$live_tmp/roles.out
  job=$(submit -o "$out" --harmony-type=vgg16 --harmony-ps=1 -n 3 -c 2 --gpus=2 --wrap "echo plan=\$HARMONY_PLAN
    exec $HARMONY_BIN run --ps 'echo ps on \$SLURMD_NODENAME gpus=\$CUDA_VISIBLE_DEVICES; sleep 600' \
      --worker 'echo worker on \$SLURMD_NODENAME gpus=\$CUDA_VISIBLE_DEVICES; until grep -q \"^ps on\" $out; do sleep 0.1; done'")
  await "$job" COMPLETED 120
  same "roles" "n0=1+0 n1=1+0 n2=0+1" "$(roles "$job")"
  same "what became of it" "used true" "$(explained "$job" '"\(.outcome) \(.same_as_plan)"')"
  same "GPUs a node" "n0:0 n1:0 n2:" "$(explained "$job" '.actual | map("\(.node):\(.gpus)") | join(" ")')"
  says '^plan=n0=1\+0,n1=1\+0,n2=0\+1$' cat "$out"
  same "tasks" "ps on n2 gpus=,worker on n0 gpus=0,worker on n1 gpus=0," "$(grep ' on ' "$out" | sort | tr '\n' ',')"
}

spread_keeps_the_number_of_gpus() {
  planned_with Policy=spread
  started --harmony-ps=1 -n 6 -c 2 --gpus=5
  same "GPUs" 5 "$(gpus_in_all "$job")"
  same "nodes" "n0 n1 n2 n3" "$(nodes_of "$job")"
}

all_reduce_spans_two_nodes_when_one_is_too_small() {
  started -n 12 --gpus=12
  same "nodes" 2 "$(nodes_of "$job" | wc -w)"
  same "GPUs" 12 "$(gpus_in_all "$job")"
  same "workers" 12 "$(explained "$job" '[.plan[].workers] | add')"
}

a_task_with_two_gpus_has_them_below_one_switch() {
  local i
  started -w n0 -n 1 --gpus=1
  near "$job"
  for i in 1 2 3; do
    started -w n0 -n 1 -c 2 --gpus=2
    in_pairs "$job"
    near "$job"
  done
}

# GPU 4 alone is taken when three more jobs come: the lowest free GPUs would break the other socket.
jobs_with_one_gpu_leave_a_socket_whole_for_one_with_four() {
  local i first=()
  for i in 0 1 2 3 4; do
    started -w n0 -n 1 --gpus=1
    first[$(gpus_of "$job")]=$job
  done
  timeout 20 scancel "${first[@]:0:4}"
  for i in 0 1 2 3; do await "${first[$i]}" CANCELLED; done
  for i in 1 2 3; do started -w n0 -n 1 --gpus=1; near "$job"; done
  started -w n0 -n 1 -c 4 --gpus=4
  same "GPUs" 0-3 "$(gpus_of "$job")"
  near "$job"
}

a_hetjob_is_packed_on_one_node() {
  started --harmony-ps=1 -n 2 -c 2 --gpus-per-task=1 : -n 1 -c 4
  same "nodes" 1 "$(nodes_of "$job" | wc -w)"
  same "roles" "n0=2+0 n0=0+1" "$(roles "$job")"
  same "the PS's" "$(explained "$job" .plan)" "$(explained "$job+1" .plan)"
}

a_hetjob_is_spread_over_nodes() {
  planned_with Policy=spread
  started --harmony-ps=1 -n 1 -c 2 --gpus-per-task=1 : -n 1 -c 4
  same "roles" "n0=1+0 n1=0+1" "$(roles "$job")"
}

tasks_with_several_gpus_have_switches_of_their_own() {
  started -w n1 -n 1 --gpus=1
  started -w n1 -n 2 -c 2 --gpus-per-task=2
  in_pairs "$job"
  same "GPUs" 4 "$(gpus_in_all "$job")"
}

gpus_per_node_are_kept() {
  started -N 2 --ntasks-per-node=2 --gpus-per-node=2
  same "GPUs a node" "2 2" "$(for list in $(gpus_of "$job"); do count_of "$list"; done | xargs)"
  same "roles" "n0=2+0 n1=2+0" "$(roles "$job")"
}

exclusive_takes_whole_nodes_that_nobody_uses() {
  local node
  started -w n0 -n 1 --gpus=1
  started -N 1 --exclusive --gpus=2
  same "cores" 0-31 "$(cores_of "$job")"
  node=$(nodes_of "$job")
  [ "$node" != n0 ] || fail "it has n0, which was in use"
  started -n 1 --gpus=8 -x n0
  [ "$(nodes_of "$job")" != "$node" ] || fail "another job is on the exclusive node"
}

ranges_of_nodes_are_kept() {
  started -N 2-3 -n 3 --gpus-per-task=1
  same "nodes of -N 2-3" 2 "$(nodes_of "$job" | wc -w)"
  started -N 1-1 -n 4 --gpus=4
  same "nodes of -N 1" 1 "$(nodes_of "$job" | wc -w)"
  planned_with Policy=spread
  started -N 1-2 -n 6 --gpus-per-task=1
  same "nodes of -N 1-2" 2 "$(nodes_of "$job" | wc -w)"
}

nodelist_and_exclude_are_kept() {
  started -w n1 -n 2 --gpus=2
  same "nodes" n1 "$(nodes_of "$job")"
  started -x n0,n1 -n 2 --gpus=2
  same "nodes" n2 "$(nodes_of "$job")"
  started -w n2 -N 2 --gpus-per-node=1 -x n1
  same "nodes" "n0 n2" "$(nodes_of "$job")"
}

constraints_are_kept() {
  timeout 20 scontrol update NodeName=n1 Features=fast,ib
  timeout 20 scontrol update NodeName=n2 Features=ib
  started -C 'fast&ib' -n 2 --gpus=2
  same "nodes" n1 "$(nodes_of "$job")"
  started -C 'fast|ib' -n 8 --gpus=8
  same "nodes" n2 "$(nodes_of "$job")"
  gang -C fast -n 1 --gpus=7
  decided "$job" no_room
  same "nodes that are out" "not eligible 3,busy GPUs 1" "$(explained "$job" '.masked | map("\(.by) \(.nodes)") | join(",")')"
}

a_reservation_keeps_others_off_and_its_own_jobs_in() {
  timeout 20 scontrol create reservation=course starttime=now duration=60 users=root nodes=n0 >/dev/null
  started -n 2 --gpus=2
  same "nodes of a job outside" n1 "$(nodes_of "$job")"
  started --reservation=course -n 2 --gpus=2
  same "nodes of a job inside" n0 "$(nodes_of "$job")"
  started --reservation=course -n 2 --gpus=2
  same "nodes of another one inside" n0 "$(nodes_of "$job")"
  cluster_cancel_jobs
  timeout 20 scontrol delete reservation=course
}

a_second_partition_is_kept() {
  timeout 20 scontrol create PartitionName=small Nodes=n2,n3 State=UP MaxNodes=1
  started -p small -n 2 --gpus=2
  same "nodes" n2 "$(nodes_of "$job")"
  started -p small -n 7 --gpus=7
  same "nodes" n3 "$(nodes_of "$job")"
  cluster_cancel_jobs
  timeout 20 scontrol delete PartitionName=small
}

array_is_running() { [ "$(squeue -h -r -j "$job" -t RUNNING -o %i | wc -l)" = 6 ]; }

each_task_of_an_array_is_planned_and_explained() {
  local task all=
  gang --array=0-5 -n 2 -c 2 --gpus-per-task=2
  cluster_until 60 array_is_running || fail "$(squeue -r)"
  for task in 0 1 2 3 4 5; do
    runs_as_planned "${job}_$task"
    in_pairs "${job}_$task"
    all="$all$(held "${job}_$task" | cut -d' ' -f1,3)
"
  done
  same "places that two tasks have" "" "$(sort <<<"$all" | sed '/^$/d' | uniq -d)"
}

# Nodes complete for a moment after a job has ended, and are nobody's then: that must not be the end of planning.
a_gang_without_room_starts_by_plan_when_a_job_has_ended() {
  local i first
  for i in 1 2 3 4 5; do
    started -N 4 --gpus-per-node=8
    first=$job
    gang -n 2 --gpus=2
    decided "$job" no_room
    sleep 0.5 # by now the next round may come at once, while nodes complete
    timeout 20 scancel "$first"
    await "$job" RUNNING 60
    runs_as_planned "$job"
    leave_no_jobs
  done
}

# Fewest nodes and best fit would put the second beside the first.
distributed_gangs_do_not_share_a_node_where_there_is_another() {
  local first second
  planned_with Policy=one-distributed MaxWait=2s
  started -N 2 --gpus-per-node=2
  first=$(nodes_of "$job")
  started -N 2 --gpus-per-node=2
  second=$(nodes_of "$job")
  same "nodes of both" "n0 n1 n2 n3" "$(echo "$first $second" | xargs -n 1 | sort | xargs)"
  started -n 2 --gpus=2
  same "nodes of one that is not distributed" 1 "$(nodes_of "$job" | wc -w)"
  started -N 2 --gpus-per-node=2
  same "why it started" "waited long enough for nodes without another distributed job" "$(explained "$job" .reason)"
}

only_annotated_jobs_are_planned_unless_all_gpu_jobs_are_managed() {
  local plain status=0
  plain=$(sleeper 1000 -n 1 --gpus=1)
  await "$plain" RUNNING 60
  "$HARMONY_BIN" explain "$plain" >/dev/null 2>&1 || status=$?
  same "exit code of explain" 1 "$status"
  same "comment" "" "$(job_field "$plain" SystemComment)"
  planned_with Manage=gpu
  plain=$(sleeper 1000 -n 1 -c 2 --gpus=2)
  await "$plain" RUNNING 60
  runs_as_planned "$plain"
  in_pairs "$plain"
  plain=$(sleeper 1000 -n 1)
  await "$plain" RUNNING 60
  ! "$HARMONY_BIN" explain "$plain" >/dev/null 2>&1 || fail "a job without GPUs was planned"
}

policy_stock_leaves_all_to_stock() {
  planned_with Policy=stock
  gang -n 2 --gpus=2
  await "$job" RUNNING 60
  is_left_to_stock "$job" "policy stock: no opinion"
  same "plan" "" "$(planned "$job")"
  same "comment" "" "$(job_field "$job" SystemComment)"
}

what_is_not_planned_runs_as_stock_and_says_why() {
  gang --contiguous -N 2 --gpus-per-node=1
  await "$job" RUNNING 60
  is_left_to_stock "$job" "--contiguous is not planned"
  same "nodes" "n0 n1" "$(nodes_of "$job")"
  says 'left to stock: --contiguous is not planned' "$HARMONY_BIN" explain "$job"
}

# A plugin of the user's own may carry the name of ours, and then take any value: slurmctld has to look itself.
a_value_past_the_options_grammar_is_named_and_left_to_stock() {
  mkdir -p "$live_tmp/hostile"
  cat >"$live_tmp/hostile/harmony.c" <<'END'
#include <slurm/spank.h>
SPANK_PLUGIN(harmony, 1)
static int take(int value, const char *text, int remote) { return 0; }
static struct spank_option option = {"harmony-ps", "P", "anything", 1, 0, take};
int slurm_spank_init(spank_t spank, int count, char **arguments) { return spank_option_register(spank, &option); }
END
  cc -shared -fPIC -o "$live_tmp/hostile/harmony.so" "$live_tmp/hostile/harmony.c" || skip "no C compiler, or no slurm/spank.h"
  echo "required $live_tmp/hostile/harmony.so" >"$live_tmp/hostile/plugstack.conf"
  job=$(SLURM_CONF=$(cluster_client_conf "$live_tmp/hostile") \
    submit --harmony-ps=$'4294967297"\n;\e[31m' -n 2 --gpus=2 --wrap 'sleep 1000')
  await "$job" RUNNING 60
  same "verdict" left_to_stock "$(explained "$job" .verdict)"
  says 'left to stock: --harmony-ps=.* is not a whole number from 0 to 1024$' "$HARMONY_BIN" explain "$job"
}

plan_cluster "Policy=pack" --nodes 4
keep pack_puts_ps_beside_workers_on_the_node_with_least_left spread_puts_the_ps_apart_and_harmony_run_starts_the_roles_there \
  spread_keeps_the_number_of_gpus all_reduce_spans_two_nodes_when_one_is_too_small \
  a_task_with_two_gpus_has_them_below_one_switch jobs_with_one_gpu_leave_a_socket_whole_for_one_with_four \
  a_hetjob_is_packed_on_one_node a_hetjob_is_spread_over_nodes tasks_with_several_gpus_have_switches_of_their_own \
  gpus_per_node_are_kept exclusive_takes_whole_nodes_that_nobody_uses ranges_of_nodes_are_kept nodelist_and_exclude_are_kept \
  constraints_are_kept a_reservation_keeps_others_off_and_its_own_jobs_in a_second_partition_is_kept \
  a_gang_without_room_starts_by_plan_when_a_job_has_ended each_task_of_an_array_is_planned_and_explained \
  distributed_gangs_do_not_share_a_node_where_there_is_another \
  only_annotated_jobs_are_planned_unless_all_gpu_jobs_are_managed policy_stock_leaves_all_to_stock \
  what_is_not_planned_runs_as_stock_and_says_why a_value_past_the_options_grammar_is_named_and_left_to_stock
