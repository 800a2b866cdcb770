# The test cluster itself: what every other live test, the quickstart and the benchmarks stand on.
. "$(dirname "$0")/lib.sh"

sixteen_nodes_are_idle_within_5_s() {
  local start=${EPOCHREALTIME/./}
  cluster_setup "$live_tmp/c9" --nodes 16 --topology mixed --overlay "$HARMONY_OVERLAY" --mode shadow
  cluster_start
  cluster_wait_idle 16 5 || fail "only $(cluster_idle_count) of 16 nodes are idle after 5 s"
  echo "16 nodes idle after $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
  cluster_stop
}

two_clusters_live_side_by_side() {
  local one=$cluster_dir
  cluster_setup "$live_tmp/c8" --nodes 2
  cluster_start
  cluster_wait_idle
  same "nodes of the second" 2 "$(sinfo -h -o %D)"
  cluster_stop
  cluster_load "$one"
  same "nodes of the first" 3 "$(sinfo -h -o %D)"
}

node_state() { timeout 10 sinfo -h -n "$1" -o %T | head -n 1; }
node_is() { [[ $(node_state "$1") == $2 ]]; }

a_killed_node_goes_down_and_comes_back() {
  cluster_kill_node n1
  cluster_until 30 node_is n1 'down*' || fail "n1 is $(node_state n1) after its slurmd was killed"
  cluster_start_node n1
  cluster_until 30 node_is n1 idle || fail "n1 is $(node_state n1) after its slurmd came back"
}

a_node_can_be_added() {
  cluster_add_node
  cluster_wait_idle 4 30 || fail "only $(cluster_idle_count) of 4 nodes are idle"
  same "host of a job on it" n3 "$(timeout 20 srun -w n3 bash -c 'echo $SLURMD_NODENAME')"
}

every_topology_starts() {
  local topology
  for topology in servers6 pcie8 dgx2 mixed; do
    cluster_setup "$live_tmp/c-$topology" --topology "$topology" --overlay "$HARMONY_OVERLAY" --mode off
    cluster_start
    cluster_wait_idle || fail "$topology: only $(cluster_idle_count) nodes are idle"
    same "GPUs of a $topology job" 2 "$(timeout 20 srun -N 1 --gpus=2 bash -c 'tr , "\n" <<<$CUDA_VISIBLE_DEVICES | wc -l')"
    cluster_stop
  done
}

# As the user nobody, with nothing but its own directory to write to.
an_ordinary_user_runs_a_cluster() {
  [ "$(id -u)" = 0 ] || skip "is an ordinary user already"
  nobody_reaches "$cluster_home/../.." || skip "the user nobody cannot reach the checkout"
  mkdir -m 777 "$live_tmp/nobody"
  local as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env "HOME=$live_tmp/nobody" TMPDIR="$live_tmp/nobody")
  "${as_nobody[@]}" "$cluster_home/cluster" setup "$live_tmp/nobody/c" --nodes 2 --overlay "$HARMONY_OVERLAY" --mode shadow
  "${as_nobody[@]}" "$cluster_home/cluster" start "$live_tmp/nobody/c"
  "${as_nobody[@]}" "$cluster_home/cluster" wait-idle "$live_tmp/nobody/c"
  same "who runs the tasks" "nobody nobody" "$(SLURM_CONF=$live_tmp/nobody/c/etc/slurm.conf timeout 30 "${as_nobody[@]}" \
    bash -c 'cd "$HOME" && srun -n 2 --gpus=1 id -un' | tr '\n' ' ' | sed 's/ $//')"
  SLURM_CONF=$live_tmp/nobody/c/etc/slurm.conf timeout 30 "${as_nobody[@]}" "$HARMONY_BIN" status
  "${as_nobody[@]}" "$cluster_home/cluster" stop "$live_tmp/nobody/c"
}

stopping_leaves_no_process_behind() {
  local job left
  job=$(submit -N 2 --wrap 'srun sleep 50099')
  await "$job" RUNNING
  cluster_until 20 pgrep -f 'sleep 50099' >/dev/null
  cluster_stop
  left=$(pgrep -af "$cluster_dir/|sleep 50099" || true)
  same "processes left" "" "$left"
  cluster_start
  cluster_wait_idle
}

live_cluster --nodes 3 --extra 'SlurmdTimeout=4'
keep sixteen_nodes_are_idle_within_5_s two_clusters_live_side_by_side a_killed_node_goes_down_and_comes_back \
  a_node_can_be_added every_topology_starts an_ordinary_user_runs_a_cluster stopping_leaves_no_process_behind
