# Topologies travel from the nodes into slurmctld: published, kept, refused, fallen back from.
. "$(dirname "$0")/lib.sh"

publish() { timeout 60 "$HARMONY_BIN" topology --publish --as "$@"; }

seen() { timeout 30 "$HARMONY_BIN" topology --node "$1" --compact 2>/dev/null; }
source_seen() { timeout 30 "$HARMONY_BIN" topology --node "$1" --json 2>/dev/null | jq -r .source; }
sees() { [ "$(seen "$1")" = "$2" ]; }
extra_of() { timeout 10 scontrol show node "$1" | sed -n 's/^ *Extra=//p'; }

without_publishing_gres_conf_is_used() {
  same "source of n3" gres.conf "$(source_seen n3)"
  says 'grtx6000:0:0[+]0[+]0[+]0[+]1[+]1[+]1[+]1' seen n3
  says 'published: nothing in the Extra field' timeout 30 "$HARMONY_BIN" topology --node n3
}

# Nodes of the cluster have 8 GPUs each, so two of the profiles with 8 fit.
nodes_publish_different_topologies_and_slurmctld_sees_each() {
  local profile node
  for node in n0:pcie8 n1:dgx1; do
    profile=${node#*:} node=${node%:*}
    publish "$node" --synthetic "$profile"
    same "$node as slurmctld sees it" "$("$HARMONY_BIN" topology --synthetic "$profile" --compact)" "$(seen "$node")"
    same "source of $node" published "$(source_seen "$node")"
  done
}

publishing_again_changes_nothing() {
  says 'already published' publish n0 --synthetic pcie8
}

a_changed_machine_republishes() {
  says ': published' publish n0 --synthetic dgx1
  sees n0 "$("$HARMONY_BIN" topology --synthetic dgx1 --compact)" || fail "slurmctld sees $(seen n0)"
}

what_others_put_into_extra_is_kept() {
  timeout 10 scontrol update NodeName=n2 Extra='rack=7 owner="lab 3"'
  publish n2 --synthetic pcie8
  same "Extra of n2" "rack=7 owner=\"lab 3\" $("$HARMONY_BIN" topology --synthetic pcie8 --compact)" "$(extra_of n2)"
  publish n2 --synthetic dgx1
  same "Extra of n2" "rack=7 owner=\"lab 3\" $("$HARMONY_BIN" topology --synthetic dgx1 --compact)" "$(extra_of n2)"
}

what_was_published_survives_a_slurmctld_restart() {
  local before
  before=$(seen n1)
  sleep 6 # slurmctld saves its state up to 5 s after a change
  cluster_restart_ctld
  cluster_until 10 sees n1 "$before" || fail "slurmctld sees $(seen n1)"
  same "source of n1" published "$(source_seen n1)"
  cluster_wait_idle
}

an_ordinary_user_cannot_publish() {
  [ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
  nobody_reaches "$cluster_home/../.." || skip "the user nobody cannot reach the checkout"
  local said code=0 before
  before=$(extra_of n3)
  said=$(setpriv --reuid=65534 --regid=65534 --clear-groups timeout 30 "$HARMONY_BIN" topology --publish --as n3 --synthetic pcie8 2>&1) || code=$?
  same "exit code" 1 "$code"
  grep -q 'nothing was published' <<<"$said" || fail "$said"
  same "Extra of n3" "$before" "$(extra_of n3)"
}

a_broken_field_is_refused_in_one_line_and_falls_back() {
  timeout 10 scontrol update NodeName=n3 Extra='HM1:s2;n0:0-15:1/oops;.'
  logged "error: harmony: node n3: the topology in its Extra field is refused at position 17: expected a number; using gres.conf for it"
  same "source of n3" gres.conf "$(source_seen n3)"
  sleep 3
  same "lines about it" 1 "$(logged_times 'node n3: the topology in its Extra field is refused at position 17')"
  timeout 10 scontrol update NodeName=n3 Extra="$(head -c 70000 /dev/zero | tr '\0' a | sed 's/^/HM1:/')"
  logged "node n3: .* refused at position 0: longer than 65536 bytes; using gres.conf"
}

a_lost_gpu_keeps_its_place() {
  timeout 10 scontrol update NodeName=n3 Extra="$("$HARMONY_BIN" topology --synthetic pcie8 --compact | sed 's/:1+1+3+/:1+1x+3+/')"
  cluster_until 10 sees n3 "$(extra_of n3)" || fail "slurmctld sees $(seen n3)"
  same "source of n3" published "$(source_seen n3)"
  says 'GPU 1 .*LOST' timeout 30 "$HARMONY_BIN" topology --node n3
}

another_machines_topology_is_refused() {
  publish n3 --synthetic dgx2
  logged "error: harmony: node n3: .* is not of this machine: it has 16 GPUs, Slurm has 8 for this node; using gres.conf for it"
  same "source of n3" gres.conf "$(source_seen n3)"
  timeout 10 scontrol update NodeName=n3 Extra=
}

nodes_are_read_once_per_change() {
  local before after
  sleep 3
  before=$(status_fact HarmonyTopology)
  sleeper 0.1 >/dev/null
  sleep 3
  after=$(status_fact HarmonyTopology)
  same "what was read" "$before" "$after"
}

an_unknown_node_is_an_error() {
  local said code=0
  said=$(timeout 30 "$HARMONY_BIN" topology --node moon 2>&1) || code=$?
  same "exit code" 1 "$code"
  grep -q 'node moon: slurmctld has no node of that name' <<<"$said" || fail "$said"
}

in_mode_off_what_is_published_is_shown_and_said_to_be_so() {
  cluster_use off
  cluster_restart_ctld
  says 'this is what the node published' timeout 30 "$HARMONY_BIN" topology --node n1
  cluster_use shadow
  cluster_restart_ctld
}

slurmd_publishes_at_its_start_through_spank() {
  printf 'optional %s/harmony_spank.so synthetic=dgx1\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
  timeout 10 scontrol update NodeName=n3 Extra=rack=9
  cluster_stop_node n3
  cluster_start_node n3
  cluster_until 20 sees n3 "$("$HARMONY_BIN" topology --synthetic dgx1 --compact)" || fail "n3 published: $(extra_of n3)"
  grep -q '^rack=9 HM1:' <<<"$(extra_of n3)" || fail "$(extra_of n3)"
  same "a job with the plugin loaded" n3 "$(timeout 20 srun -w n3 bash -c 'echo $SLURMD_NODENAME')"
}

a_wrong_spank_argument_is_named_and_slurmd_runs() {
  printf 'optional %s/harmony_spank.so colour=red\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
  cluster_stop_node n3
  cluster_start_node n3
  cluster_until 10 grep -q 'harmony: plugstack.conf: argument colour=red is none of' "$cluster_dir/log/n3.log" || fail "$(tail -n 3 "$cluster_dir/log/n3.log")"
  same "a job on it" n3 "$(timeout 20 srun -w n3 bash -c 'echo $SLURMD_NODENAME')"
  rm "$cluster_dir/etc/plugstack.conf"
}

this_machine_can_be_published() {
  says ': published' publish n0
}

nothing_is_published_of_a_broken_export() {
  local before said code=0
  before=$(extra_of n1)
  head -c 3000 "$cluster_home/../topologies/pcie8.xml" >"$live_tmp/cut.xml"
  said=$(publish n1 --xml "$live_tmp/cut.xml" 2>&1) || code=$?
  same "exit code" 1 "$code"
  same "lines said" 1 "$(wc -l <<<"$said")"
  same "Extra of n1" "$before" "$(extra_of n1)"
}

live_cluster --topology pcie8 --nodes 4
keep without_publishing_gres_conf_is_used nodes_publish_different_topologies_and_slurmctld_sees_each \
  publishing_again_changes_nothing a_changed_machine_republishes what_others_put_into_extra_is_kept \
  what_was_published_survives_a_slurmctld_restart an_ordinary_user_cannot_publish \
  a_broken_field_is_refused_in_one_line_and_falls_back a_lost_gpu_keeps_its_place another_machines_topology_is_refused \
  nodes_are_read_once_per_change an_unknown_node_is_an_error in_mode_off_what_is_published_is_shown_and_said_to_be_so \
  slurmd_publishes_at_its_start_through_spank a_wrong_spank_argument_is_named_and_slurmd_runs \
  this_machine_can_be_published nothing_is_published_of_a_broken_export
