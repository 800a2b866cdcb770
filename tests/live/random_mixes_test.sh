# A thousand random jobs, planned and not, fill and drain a cluster; again and again the whole allocation table is checked: nothing
# is given twice, and nobody has less than he asked for. The seed is printed; HARMONY_SEED=N repeats a run's jobs.
. "$(dirname "$0")/lib.sh"

seed=${HARMONY_SEED:-20261116}
here=$(cd "$(dirname "$0")" && pwd)
wanted_jobs=1000 wanted_checks=100

# check FILE: FILE is what scontrol said of all jobs. The nodes are of pcie8.
check() { awk -v cores=32 -v gpus=8 -v memory=256000 -v asked="$live_tmp/asked" -f "$here/check_allocations.awk" "$1"; }

# between LOW HIGH: a random number, in $number; no subshell, which would draw from elsewhere.
between() { number=$(($1 + RANDOM % ($2 - $1 + 1))); }
one_in() { ((RANDOM % $1 == 0)); }

# Sets `options` and `asked` for one random job; for a component of a hetjob with $1.
draw_job() {
  local tasks cpus ps=0 gpus least=1 most=0
  between 1 8; tasks=$number
  between 1 4; cpus=$number
  options=(-n "$tasks" -c "$cpus") asked="cpus=$((tasks * cpus))"
  if one_in 4; then
    between 1 $((tasks < 3 ? tasks : 3)); least=$number
    between "$least" $((tasks < 4 ? tasks : 4)); most=$number
    options+=(-N "$least-$most") asked+=" nodes=$least most_nodes=$most"
  fi
  if ! one_in 4; then
    if one_in 2 && [ "$tasks" -gt 2 ]; then between 0 2; ps=$number; fi
    options+=(--harmony-type=vgg16 --harmony-ps="$ps")
  fi
  case $((RANDOM % 5)) in
  0 | 1) between 1 2; gpus=$((number * (tasks - ps) < 8 ? number * (tasks - ps) : tasks - ps)); gpus=$((gpus < most ? most : gpus))
    options+=(--gpus="$gpus") asked+=" gpus=$gpus" ;;
  2) between 1 $((tasks > 4 ? 1 : 2)); options+=(--gpus-per-task="$number") asked+=" gpus=$((tasks * number))" ;;
  3) between 1 5; options+=(--gpus-per-node="$number") asked+=" gpus_node=$number" ;;
  esac
  case $((RANDOM % 4))$1 in
  0) between 1 60; options+=(--mem="${number}G") asked+=" mem_node=$((number * 1024))" ;;
  1) between 1 4; options+=(--mem-per-cpu="${number}G") asked+=" mem_cpu=$((number * 1024))" ;;
  ?het) ;; # as the first component, says sbatch
  *) asked+=" mem_cpu=100" ;;
  esac
  if one_in 12; then options+=(--exclusive) asked+=" exclusive=1"; fi
}

# A batch script as the player of the nodes reads it.
script() { [ -e "$live_tmp/script.$1" ] || printf '#!/bin/sh\nsleep %s\n' "$1" >"$live_tmp/script.$1"; }

# Writes what each job asks for before it is submitted, by name; counts the records that slurmctld will have.
submit_all() {
  local made=0 name array first
  RANDOM=$seed
  while [ "$made" -lt "$wanted_jobs" ]; do
    name=j$made array=()
    draw_job ''
    echo "$name $asked" >>"$live_tmp/asked"
    made=$((made + 1))
    if one_in 12; then
      first=("${options[@]}")
      draw_job het
      echo "$name.b $asked" >>"$live_tmp/asked"
      made=$((made + 1))
      array=(: -J "$name.b" "${options[@]}") options=("${first[@]}")
    elif one_in 12; then
      between 1 8; array=(--array="0-$number%5") made=$((made + number))
    fi
    between 3 15; number=$((number / 10)).$((number % 10)); script "$number"
    submit -J "$name" "${options[@]}" "${array[@]}" "$live_tmp/script.$number" >/dev/null ||
      { echo "sbatch refused ${options[*]} ${array[*]}" >"$live_tmp/refused"; return 1; }
  done
  echo "$made" >"$live_tmp/made"
}

nothing_is_given_twice_and_nobody_has_less_than_he_asked_for() {
  local checks=0 running=0 count submitting
  : >"$live_tmp/asked"
  submit_all &
  submitting=$!
  while kill -0 "$submitting" 2>/dev/null || ! cluster_queue_empty; do
    [ "$SECONDS" -lt 400 ] || fail "not all jobs ended: $(timeout 10 squeue -o '%i %T %r %N' | head -n 20)"
    timeout 20 scontrol -d -o show job >"$live_tmp/table" 2>/dev/null || [ "$checks" = 0 ]
    check "$live_tmp/table" >"$live_tmp/found" || fail "seed $seed, check $checks: $(cat "$live_tmp/found")"
    read -r _ count _ <"$live_tmp/found"
    checks=$((checks + 1)) running=$((running + count))
    # slurmctld gets a rest in between
    sleep 0.2
  done
  wait "$submitting" || fail "seed $seed: $(cat "$live_tmp/refused")"
  [ "$checks" -ge "$wanted_checks" ] || fail "only $checks checks"
  [ "$running" -ge "$((5 * checks))" ] || fail "only $running running jobs were seen in $checks checks"
  same "jobs in all" "$(cat "$live_tmp/made") JobState=COMPLETED" "$(timeout 20 scontrol -o show job | grep -oE 'JobState=[A-Z_]+' | sort | uniq -c | sed 's/^ *//')"
  echo "seed $seed: $(cat "$live_tmp/made") jobs, $checks checks of $running running jobs; $("$HARMONY_BIN" status --json |
    jq -c '[.statistics.counters.plans_used, (.statistics.fallbacks | with_entries(select(.value > 0)))]')"
  [ "$("$HARMONY_BIN" status --json | jq .statistics.counters.plans_used)" -ge 100 ] || fail "hardly any job started by plan"
}

# found WHAT LINE...: the check of these lines ends with 1 and says WHAT.
found() {
  local what=$1 said
  printf '%s\n' "${@:2}" >"$live_tmp/table"
  ! said=$(check "$live_tmp/table") || fail "nothing was found: $said"
  grep -qF -- "$what" <<<"$said" || fail "no '$what' in: $said"
}

the_check_finds_what_is_wrong() {
  local one='JobId=1 JobName=a JobState=RUNNING x Nodes=p[0-1] CPU_IDs=0-3 Mem=400 GRES=gpu:rtx6000:2(IDX:0-1)'
  local two='JobId=2 JobName=b JobState=RUNNING x Nodes=p'
  printf '%s\n' 'a cpus=8 gpus=4 nodes=2 most_nodes=2 mem_cpu=100' 'b cpus=2 gpus_node=1 mem_node=50' 'c cpus=9' 'd exclusive=1' >"$live_tmp/asked"
  printf '%s\n' "$one" "${two}0 CPU_IDs=4-5 Mem=50 GRES=gpu:2(IDX:3,5)" >"$live_tmp/table"
  same "of a sound table" "checked 2 jobs on 2 nodes" "$(check "$live_tmp/table")"
  found 'core 3 of p1 is given to JobId=1 and JobId=2' "$one" "${two}1 CPU_IDs=3-4 Mem=50 GRES=gpu:2(IDX:3,5)"
  found 'GPU 1 of p0 is given to JobId=1 and JobId=2' "$one" "${two}0 CPU_IDs=4-5 Mem=50 GRES=gpu:2(IDX:1,5)"
  found 'memory of p1: 256001 MB' "$one" "${two}1 CPU_IDs=4-5 Mem=255601 GRES=gpu:2(IDX:3)"
  found 'GPU 8 of p0 does not exist' "${two}0 CPU_IDs=4-5 Mem=50 GRES=gpu:1(IDX:8)"
  found 'asked for 1 a node' "${two}0 CPU_IDs=4-5 Mem=50 GRES="
  found 'asked for 50 a node' "${two}0 CPU_IDs=4-5 Mem=49 GRES=gpu:1(IDX:0)"
  found '8 cores, asked for 9' "${one/=a /=c } SystemComment=harmony: pack p0=2+0"
  found '3 GPUs, asked for 4' "${one/p\[0-1\]/p0}" "JobId=3 JobName=a JobState=RUNNING x Nodes=p2 CPU_IDs=0-7 Mem=800 GRES=gpu:3(IDX:0-2)"
  found '1 nodes, asked for 2' "${one/p\[0-1\]/p0}"
  found '3 nodes, allowed are 2' "${one/p\[0-1\]/p[0-1,7]}"
  found 'has 399 MB for 4 cores' "${one/400/399}"
  found 'is exclusive and has 4 cores' "${one/=a /=d }"
  found 'nobody asked for z' "${one/=a /=z }"
  found 'runs nowhere' 'JobId=1 JobName=a JobState=RUNNING x'
}

cluster_setup "$live_tmp/c0" --nodes 0 --played 16 --topology pcie8 --overlay "$HARMONY_OVERLAY" --mode enforce \
  --scheduler-parameters batch_sched_delay=0,bf_interval=2,sched_interval=1,bf_continue,sched_min_interval=100000
printf 'optional %s/harmony_spank.so\n' "$HARMONY_OVERLAY" >"$cluster_dir/etc/plugstack.conf"
printf 'Policy=%s\nInterval=2s\n' "${HARMONY_POLICY:-pack}" >"$cluster_dir/etc/harmony.conf"
cluster_start
cluster_wait_idle || cluster_die "only $(cluster_idle_count) nodes became idle"
keep the_check_finds_what_is_wrong nothing_is_given_twice_and_nobody_has_less_than_he_asked_for
