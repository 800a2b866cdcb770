# The simulator's policy stock says what select/cons_tres would choose. Here it is compared with a real slurmctld, without
# anything of ours in it, in a few hundred random situations. The seed is printed; HARMONY_SEED=N repeats a run's jobs.
. "$(dirname "$0")/lib.sh"

seed=${HARMONY_SEED:-20261116}
situations=${HARMONY_SITUATIONS:-300} hetjobs=${HARMONY_HETJOBS:-12}
# Percent that have to agree: all of the 2,200 that were tried did. The emulation follows the source of Slurm 22.05 step by step, so what is
# missing is a gap in it; another version of Slurm may choose otherwise, and then has to be looked at.
least_nodes=98 least_tasks=98 least_gpus=98
check=$HARMONY_BUILD/stock-agreement
log=$live_tmp/situations

# between LOW HIGH: a random number, in $number; no subshell, which would draw from elsewhere.
between() { number=$(($1 + RANDOM % ($2 - $1 + 1))); }
one_in() { ((RANDOM % $1 == 0)); }

# Sets `options` and `asked` for one random job: the forms in which gangs are submitted.
draw_job() {
  local tasks cpus ps=0 least most few
  between 1 9; tasks=$number
  if one_in 5; then between 10 24; tasks=$number; fi
  cpus=1
  if one_in 3; then between 2 4; cpus=$number; fi
  if one_in 3 && [ "$tasks" -gt 2 ]; then between 1 2; ps=$number; fi
  options=(-n "$tasks" -c "$cpus") asked="tasks=$tasks cpus=$cpus"
  case $((RANDOM % 8)) in
  0 | 1 | 2 | 3) options+=(--gpus=$((tasks - ps))) asked+=" gpus=$((tasks - ps))" ;;
  4) if [ "$tasks" -gt 6 ]; then number=1; else between 1 2; fi
    options+=(--gpus="$((tasks * number))") asked+=" gpus=$((tasks * number))" ;;
  5) between 1 $((tasks > 4 ? 1 : 2)); options+=(--gpus-per-task="$number") asked+=" per_task=$number" ;;
  6) between 1 4; options+=(--gpus-per-node="$number") asked+=" per_node=$number" ;;
  esac
  few=$((tasks - ps < 4 ? tasks - ps : 4)) # Slurm refuses more nodes than --gpus
  if one_in 6 && [ "$few" -gt 1 ]; then
    between 1 "$few"; least=$number
    between "$least" "$few"; most=$number
    options+=(-N "$least-$most") asked+=" least=$least most=$most"
  fi
}

# What a job got, a line a node. scontrol puts nodes alike on one line.
allocation() { # JOB
  timeout 10 scontrol -d -o show job "$1" | tr ' ' '\n' | awk -F= -v job="$1" '
    $1 == "Nodes" { nodes = $2 }
    $1 == "CPU_IDs" { cores = $2 }
    $1 == "GRES" { gpus = "-"; if (match($0, /IDX:[0-9,-]+/)) gpus = substr($0, RSTART + 4, RLENGTH - 4); print nodes, cores, gpus }' |
    while read -r nodes cores gpus; do
      for node in $(scontrol show hostnames "$nodes"); do echo "$node $cores $gpus"; done
    done | sort -V | sed "s/^/alloc $1 /"
}

running=()
# Ends a random third of the jobs, and waits until their nodes are free again.
end_some() {
  local kept=() ended=() job
  for job in "${running[@]}"; do
    if one_in 3; then ended+=("$job"); else kept+=("$job"); fi
  done
  running=("${kept[@]}")
  [ ${#ended[@]} -gt 0 ] || return 0
  timeout 20 scancel "${ended[@]}"
  cluster_until 30 nobody_is_completing || fail "nodes are still completing"
  printf 'ended %s\n' "${ended[@]}" >>"$log"
}
nobody_is_completing() { [ -z "$(timeout 10 squeue -h -t completing -o %i)$(timeout 10 sinfo -h -t completing -o %n)" ]; }

new_weights() {
  local node
  for ((node = 0; node < cluster_nodes; node++)); do
    between 1 3
    scontrol update NodeName="n$node" Weight="$number"
    echo "weight n$node $number" >>"$log"
  done
}

begin_log() { # SEED
  local node
  [ -x "$check" ] || skip "no $check; make it first"
  RANDOM=$1
  : >"$log"
  for ((node = 0; node < cluster_nodes; node++)); do
    echo "node n$node $(topology_of_node "$cluster_topology" "$node")"
    echo "weight n$node $(scontrol -o show node "n$node" | tr ' ' '\n' | sed -n 's/^Weight=//p')"
  done >>"$log"
}

# Prints how often the two agreed, and where not; fails if that is too rare.
judge() {
  local nodes tasks gpus
  [ -z "${HARMONY_KEEP_SITUATIONS:-}" ] || cp "$log" "$HARMONY_KEEP_SITUATIONS"
  "$check" "$cluster_home/topologies" <"$log" >"$live_tmp/found" || fail "$(cat "$live_tmp/found")"
  echo "seed $seed: $(tail -n 1 "$live_tmp/found")"
  read -r nodes tasks gpus < <(tail -n 1 "$live_tmp/found" | sed -E 's/.*nodes ([0-9]+).*tasks ([0-9]+).*GPUs ([0-9]+).*/\1 \2 \3/')
  head -n 30 "$live_tmp/found" | sed '/situations (/d'
  [ "$nodes" -ge "$least_nodes" ] && [ "$tasks" -ge "$least_tasks" ] && [ "$gpus" -ge "$least_gpus" ] ||
    fail "too little: at least $least_nodes, $least_tasks and $least_gpus % are wanted"
}

# Prints the id of a job that started at once; fails, with what salloc said, if none did.
start_now() {
  local said
  said=$(timeout 20 salloc -I --no-shell "$@" 2>&1) || { echo "$said"; return 1; }
  sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p' <<<"$said" | head -n 1
}

the_emulation_of_stock_chooses_as_slurmctld_does() {
  local at job refused=0
  begin_log "$seed"
  for ((at = 0; at < situations; at++)); do
    [ $((at % 60)) != 59 ] || new_weights
    draw_job
    if job=$(start_now "${options[@]}"); then
      { echo "ask $job $asked"; allocation "$job"; echo "started $job"; } >>"$log"
      running+=("$job") refused=0
    else
      grep -qE 'Requested nodes are busy|Unable to allocate|not available' <<<"$job" || fail "salloc ${options[*]} said: $job"
      { echo "ask r$at $asked"; echo "refused r$at"; } >>"$log"
      refused=$((refused + 1))
    fi
    if [ "$refused" -ge 2 ] || one_in 8; then end_some; refused=0; fi
  done
  judge
}

both_run() { [ "$(timeout 10 squeue -h -j "$1" -t running -o %i | wc -l)" = 2 ]; }

# Hetjobs are started by backfill only, a component a role. Other jobs are between them and on their way.
components_of_hetjobs_go_where_slurmctld_puts_them() {
  local at job workers ps cpus asked
  begin_log "$((seed + 1))"
  for ((at = 0; at < hetjobs; at++)); do
    draw_job
    if job=$(start_now "${options[@]}"); then
      { echo "ask $job $asked"; allocation "$job"; echo "started $job"; } >>"$log"
      running+=("$job")
    fi
    between 1 8; workers=$number
    between 1 3; ps=$number
    between 1 2; cpus=$number
    job=$(submit -n "$workers" --gpus="$workers" : -n "$ps" -c "$cpus" --wrap 'sleep 1000')
    asked="tasks=$workers gpus=$workers : tasks=$ps cpus=$cpus"
    if cluster_until 10 both_run "$job"; then
      { echo "ask $job $asked"; allocation "$job"; echo "started $job"; } >>"$log"
      running+=("$job")
    else
      timeout 20 scancel "$job"
      { echo "ask $job $asked"; echo "refused $job"; } >>"$log"
      end_some
    fi
    if one_in 4; then end_some; fi
  done
  judge
}

cluster_setup "$live_tmp/c0" --topology runs --scheduler-parameters bf_interval=1,batch_sched_delay=0
cluster_start
cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
keep the_emulation_of_stock_chooses_as_slurmctld_does components_of_hetjobs_go_where_slurmctld_puts_them
