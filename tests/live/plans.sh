# What tests of plans share: a cluster whose topologies are published, and what slurmctld did beside what was planned.
# Sourced after lib.sh.

# plan_cluster "LINES OF harmony.conf" [OPTION...]: a cluster of pcie8 nodes (options of cluster_setup), mode enforce unless told
# otherwise; ready when every node's topology is known. Hetjobs start by backfill only, so that has to come often.
plan_cluster() {
  local number
  plan_lines=$1
  shift
  number=$(find "$live_tmp" -maxdepth 1 -name 'c*' | wc -l)
  cluster_setup "$live_tmp/c$number" --overlay "$HARMONY_OVERLAY" --mode enforce --topology pcie8 \
    --scheduler-parameters bf_interval=2,sched_interval=5 "$@"
  printf 'optional %s/harmony_spank.so synthetic=pcie8\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
  printf '%s\n' "$plan_lines" >"$cluster_dir/etc/harmony.conf"
  cluster_start
  all_is_quiet || cluster_die "only $(cluster_idle_count) nodes became idle"
  [ -z "$cluster_overlay" ] || [ "$cluster_mode" = off ] || cluster_until 60 topologies_are_known ||
    cluster_die "not every node's topology was published: $(status_fact HarmonyTopology)"
}

topologies_are_known() { [[ "$(status_fact HarmonyTopology)" == *" $cluster_nodes published,"* ]]; }

all_is_quiet() { cluster_wait_idle "$cluster_nodes" 60; }

_lines_are_there() {
  [ -f "$cluster_dir/etc/harmony.conf" ] && echo "$plan_lines" | cmp -s - "$cluster_dir/etc/harmony.conf"
}

# After each promise the cluster is as plan_cluster made it, whatever the promise did to its configuration.
leave_no_jobs() {
  cluster_cancel_jobs
  all_is_quiet || true
  if ! grep -q "harmony_mode=$cluster_mode" "$cluster_dir/etc/plugins.conf"; then
    cluster_use "$cluster_mode"
    printf '%s\n' "$plan_lines" >"$cluster_dir/etc/harmony.conf"
    cluster_restart_ctld
    all_is_quiet && cluster_until 60 topologies_are_known
  elif [ -n "$(cat "$cluster_dir/etc/extra.conf")" ] || ! _lines_are_there; then
    rm -rf "$cluster_dir/etc/harmony.conf"
    echo >"$cluster_dir/etc/extra.conf"
    planned_with "$plan_lines"
  fi
}

# slurm_conf LINE: slurm.conf has this line too, for one promise.
slurm_conf() { printf '%s\n' "$1" >"$cluster_dir/etc/extra.conf"; reconfigure; }

reconfigure() { timeout 60 scontrol reconfigure; }

# planned_with LINE...: these are the lines of harmony.conf from now on.
planned_with() {
  printf '%s\n' "$@" >"$cluster_dir/etc/harmony.conf"
  reconfigure
}

stats() { "$HARMONY_BIN" status --json | jq -r ".statistics.$1"; }

# gang OPTION...: an annotated job that runs until it is cancelled; sets $job.
gang() { job=$(submit --harmony-type=resnet50 "$@" --wrap 'sleep 1000'); }

# started OPTION...: the same, and it runs; it has exactly what was planned for it.
started() {
  gang "$@"
  await "$job" RUNNING 60
  runs_as_planned "$job"
}

# held JOB: NODE CORES GPUS of each node that Slurm gave it, "-" where it has none; the components of a hetjob together.
held() {
  local nodes cores gpus node
  timeout 10 scontrol -o -d show job "$1" |
    grep -oE ' Nodes=[^ ]+ CPU_IDs=[^ ]* Mem=[^ ]* GRES=[^ ]*' |
    sed -E 's/ Nodes=([^ ]*) CPU_IDs=([^ ]*) Mem=[^ ]* GRES=(.*IDX:([^)]*)\).*)?.*/\1 \2 \4/' |
    while read -r nodes cores gpus; do
      for node in $(scontrol show hostnames "$nodes"); do echo "$node ${cores:--} ${gpus:--}"; done
    done | sort
}

explained() { timeout 20 "$HARMONY_BIN" explain --json "$1" | jq -r "$2"; }

planned() { explained "$1" '.plan[] | [.node, .cores, if .gpus == "" then "-" else .gpus end] | join(" ")' | sort; }

# roles JOB: what the plan makes of each node, such as "n0=2+1 n1=1+0".
roles() { explained "$1" '.plan | map("\(.node)=\(.workers)+\(.ps)") | join(" ")'; }

runs_as_planned() {
  same "verdict on job $1" place "$(explained "$1" .verdict)"
  same "what became of the plan of job $1 ($(explained "$1" .outcome_text))" "used true" \
    "$(explained "$1" '"\(.outcome) \(.same_as_plan)"')"
  same "nodes, cores and GPUs of job $1" "$(planned "$1")" "$(held "$1")"
}

# Nobody planned it: there is no decision, or one that leaves it to stock.
is_left_to_stock() { # JOB REASON
  same "verdict on job $1" left_to_stock "$(explained "$1" .verdict)"
  same "reason" "$2" "$(explained "$1" .reason)"
}

nodes_of() { held "$1" | cut -d' ' -f1 | sort -u | xargs; }
gpus_of() { held "$1" | cut -d' ' -f3 | xargs; }
cores_of() { held "$1" | cut -d' ' -f2 | xargs; }

# each_of LIST: 0-2,5 as 0 1 2 5
each_of() { local part; for part in ${1//,/ }; do [ "$part" = - ] || seq "${part%-*}" "${part#*-}"; done | xargs; }
count_of() { each_of "$1" | wc -w; }

# gpus_in_all JOB: how many GPUs it has on all its nodes.
gpus_in_all() { local list total=0; for list in $(gpus_of "$1"); do total=$((total + $(count_of "$list"))); done; echo "$total"; }

_has_verdict() { [ "$(explained "$1" .verdict 2>/dev/null)" = "$2" ]; }

# decided JOB VERDICT: the latest decision on it is this one, or will be soon.
decided() { cluster_until 60 _has_verdict "$1" "$2" || fail "job $1: expected $2: $("$HARMONY_BIN" explain "$1" 2>&1)"; }
