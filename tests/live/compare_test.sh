# The live comparison in small: one run of contrib/compare, and what it left is looked at. Then the world of the emulated jobs by
# itself, with tasks that no Slurm started.
. "$(dirname "$0")/lib.sh"

top=$(cd "$cluster_home/../.." && pwd)
export HARMONY_EMULATOR=${HARMONY_EMULATOR:-$HARMONY_BUILD/train-emulator}
data=$live_tmp/data
speedup=80 count=8
compare() { timeout 400 "$top/contrib/compare" "$@"; }
left_behind() { ls -d "$TMPDIR"/harmony-compare.* 2>/dev/null; pgrep -af "$TMPDIR/harmony-compare" || true; }
events() { jq -c "select(.event == \"$2\")" "$data/$1/gangs.log"; }

# The run itself; the other promises are about what it left.
every_job_runs_to_its_end_on_both_clusters() {
  local code=0 kind
  compare --small --jobs "$count" --seed 3 --data "$data" --json "$live_tmp/figures" >"$live_tmp/table" || code=$?
  [ "$code" = 0 ] || [ "$code" = 3 ] || fail "exit code $code: $(cat "$live_tmp/table")"
  echo "$code" >"$live_tmp/code"
  for kind in stock ours; do
    same "gangs that started ($kind)" "$count" "$(events "$kind" start | wc -l)"
    same "gangs that ended ($kind)" "$count" "$(events "$kind" end | wc -l)"
    same "gangs that lost a task ($kind)" 0 "$(events "$kind" lost | wc -l)"
    same "jobs that did not complete ($kind)" 0 "$(grep -vc JobState=COMPLETED "$data/$kind/jobs")"
  done
  same "jobs of ours that started by plan" "$count" \
    "$(grep -oE 'JobId=[0-9]+: plan of round [0-9]+ carried out' "$data/ours/slurmctld.log" | tail -n "$count" | sort -u | wc -l)"
  grep -qE 'harmony: model .* \(shipped\) is in service' "$data/ours/slurmctld.log" || fail "ours was not the shipped model's doing"
  same "gangs that the heuristic placed" 0 "$(grep -cE 'policy pack places such gangs' "$data/ours/slurmctld.log")"
  same "left behind" "" "$(left_behind)"
  cat "$live_tmp/table"
}

# NODE CORES GPUS of each node, as Slurm had it while the job ran.
slurm_says() { # KIND SLURM-JOB
  local nodes cores gpus node first last part total
  grep -m 1 "^JobId=$2 " "$data/$1/held" | grep -oE ' Nodes=[^ ]+ CPU_IDs=[^ ]* Mem=[^ ]* GRES=[^ ]*' |
    sed -E 's/ Nodes=([^ ]*) CPU_IDs=([^ ]*) Mem=[^ ]* GRES=(.*IDX:([^)]*)\).*)?.*/\1 \2 \4/' |
    while read -r nodes cores gpus; do
      total=0
      for part in ${cores//,/ }; do first=${part%-*} last=${part#*-}; total=$((total + last - first + 1)); done
      gpus=$(for part in ${gpus//,/ }; do seq "${part%-*}" "${part#*-}"; done | paste -sd,)
      for node in $(SLURM_CONF=/dev/null expand "$nodes"); do echo "$node $total ${gpus:--}"; done
    done | sort
}
# n[0-2,5] as n0 n1 n2 n5; there is no cluster any more that scontrol could ask.
expand() {
  local part
  [[ $1 == *\[* ]] || { echo "$1"; return; }
  part=${1#*[}
  for part in $(tr ',' ' ' <<<"${part%]}"); do seq -f "${1%%[*}%.0f" "${part%-*}" "${part#*-}"; done
}

tasks_ran_where_slurm_put_them() {
  local kind job said
  for kind in stock ours; do
    for job in $(events "$kind" start | jq .slurm_job); do
      said=$(events "$kind" start | jq -r --argjson job "$job" 'select(.slurm_job == $job) | .where[] |
        "\(.node) \(.cores) \(if .gpus == [] then "-" else .gpus | join(",") end)"' | sort)
      [ -n "$said" ] || fail "job $job ($kind) was nowhere"
      same "nodes, cores and GPUs of job $job ($kind)" "$(slurm_says "$kind" "$job")" "$said"
    done
    same "workers and PS of all jobs ($kind)" "$(awk -F, 'NR > 1 { w += $4; p += $5 } END { print w, p }' "$data/workload.csv")" \
      "$(events "$kind" start | jq -s -r '[.[].where[]] | "\(map(.workers) | add) \(map(.ps) | add)"')"
  done
}

# near WHAT A B: within half a percent and a second.
near() { awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 1 + 0.005 * b) }' || fail "$1: $2 and $3"; }
figure() { jq -r ".$1" "$live_tmp/figures"; }

the_figures_are_those_of_the_runs() {
  local kind run
  for run in live simulated; do
    for kind in stock ours; do
      near "JCT of $kind ($run), and waiting and running" "$(figure $run.$kind.mean_jct_s)" \
        "$(figure "$run.$kind | .waiting_s + .running_s")"
    done
    near "the ratio of $run means" "$(figure "$run | 1000 * .ratio.mean_jct")" "$(figure "$run | 1000 * .ours.mean_jct_s / .stock.mean_jct_s")"
  done
  for kind in stock ours; do
    near "mean time running of $kind, and what its log says" "$(figure live.$kind.running_s)" "$(jq -s \
      "[group_by(.job)[] | (map(select(.event == \"end\").at) | add) - (map(select(.event == \"start\").at) | add)] | add / length * $speedup" \
      "$data/$kind/gangs.log")"
  done
}

# Of so few jobs the error is chance; that the runs are the ones that were simulated shows in the time running.
how_far_the_simulator_is_off_is_printed_and_is_the_exit_code() {
  grep -qE '^  stock: mean JCT simulated [0-9]+ s, live [0-9]+ s: [0-9.]+ % off' "$live_tmp/table" || fail "$(cat "$live_tmp/table")"
  case $(cat "$live_tmp/code") in
  0) grep -q '^  within 10 %: yes' "$live_tmp/table" && same "JSON" true "$(figure prediction.within)" ;;
  3) grep -q '^  within 10 %: NO' "$live_tmp/table" && same "JSON" false "$(figure prediction.within)" ;;
  esac
  same "mean JCTs less than 30 % off" "true true" "$(figure 'prediction | "\(.stock.mean_jct_error < 0.3) \(.ours.mean_jct_error < 0.3)"')"
}

workload() { # FILE SEED
  "$HARMONY_EMULATOR" workload --scenario servers6 --jobs "$count" --load 0.9 --speedup "$speedup" --seed "$2" \
    --csv "$1" --commands "$1.commands"
}

the_same_seed_makes_the_same_jobs() {
  workload "$live_tmp/again" 3
  workload "$live_tmp/other" 4
  cmp "$live_tmp/again" "$data/workload.csv"
  cmp "$live_tmp/again.commands" "$data/workload.commands"
  ! cmp -s "$live_tmp/other" "$data/workload.csv" || fail "another seed makes the same jobs"
}

# task JOB RANK NODE GPUS: of an all-reduce job of two workers, as srun would start it.
task() {
  SLURM_JOB_ID=$1 SLURM_PROCID=$2 SLURM_NTASKS=2 SLURM_CPUS_PER_TASK=2 SLURMD_NODENAME=$3 SLURM_STEP_GPUS=$4 \
    timeout 60 "$HARMONY_EMULATOR" task --world "$live_tmp/world" --job "$1"
}
logged_event() { jq -c "select(.event == \"$1\" and .job == $2)" "$live_tmp/world.log" 2>/dev/null | grep -q .; }

# Job 1 would take an hour, and dies; job 2 then has a node to itself, which is the best for it.
a_gang_that_loses_a_task_leaves_the_world_and_the_others_go_on() {
  local world first code=0
  printf 'job_id,type,workers,ps,cpus_per_worker,duration_s\n1,vgg16,2,0,2,3600\n2,vgg16,2,0,2,3\n' >"$live_tmp/two.csv"
  "$HARMONY_EMULATOR" world --scenario servers6 --workload "$live_tmp/two.csv" --socket "$live_tmp/world" \
    --log "$live_tmp/world.log" 2>"$live_tmp/world.said" &
  world=$!
  cluster_until 10 test -S "$live_tmp/world"
  task 1 0 n0 0 2>/dev/null &
  first=$!
  ! logged_event start 1 || fail "a gang started before it was whole"
  SLURM_JOB_ID=1 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_CPUS_PER_TASK=2 SLURMD_NODENAME=n1 SLURM_STEP_GPUS=0 \
    "$HARMONY_EMULATOR" task --world "$live_tmp/world" --job 1 2>/dev/null & # itself: it is to be killed
  local second=$!
  cluster_until 10 logged_event start 1 || fail "the gang did not start: $(cat "$live_tmp/world.said")"
  printf 'nonsense\n' | timeout 5 socat - "UNIX-CONNECT:$live_tmp/world" 2>/dev/null || true # sent away, if there is a socat
  kill -KILL "$second"
  wait "$first" && fail "a task of a broken gang ended with 0"
  cluster_until 10 logged_event lost 1 || fail "the broken gang is not in the log"
  task 2 0 n0 0,1 &
  task 2 1 n0 0,1 || fail "a task of the second gang failed"
  wait "$world" || code=$?
  same "exit code of a world that lost a gang" 1 "$code"
  logged_event end 2 || fail "the second gang did not end"
  near "seconds that the second gang ran, by 100" "$(jq -s 'map(select(.job == 2)) | (.[1].at - .[0].at) * 100' "$live_tmp/world.log")" 300
}

# Five minutes of the jobs' clock, told of as five epochs.
rank_0_reports_its_epochs() {
  printf 'job_id,type,workers,ps,cpus_per_worker,duration_s\n1,vgg16,1,0,2,300\n' >"$live_tmp/one.csv"
  printf '#!/bin/sh\necho "$@" >>%s\n' "$live_tmp/reported" >"$live_tmp/harmony"
  chmod 755 "$live_tmp/harmony"
  "$HARMONY_EMULATOR" world --scenario servers6 --workload "$live_tmp/one.csv" --socket "$live_tmp/world" \
    --log "$live_tmp/world.log" --speedup 100 --report 0.2 &
  cluster_until 10 test -S "$live_tmp/world"
  SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_CPUS_PER_TASK=2 SLURMD_NODENAME=n0 SLURM_STEP_GPUS=1 \
    timeout 60 "$HARMONY_EMULATOR" task --world "$live_tmp/world" --job 1 --harmony "$live_tmp/harmony"
  wait $!
  cluster_until 5 grep -qx 'progress --epoch 4 --of 5' "$live_tmp/reported" || fail "$(cat "$live_tmp/reported")"
  same "reports out of order" "" "$(sort -c "$live_tmp/reported" 2>&1)"
}

an_interrupt_takes_both_clusters_down() {
  "$top/contrib/compare" --small >"$live_tmp/interrupted" 2>&1 & # itself, not a function's subshell: it gets the signal
  local pid=$! code=0
  cluster_until 60 world_listens || fail "$(cat "$live_tmp/interrupted")"
  kill -TERM "$pid"
  wait "$pid" || code=$?
  same "exit code" 130 "$code"
  same "left behind" "" "$(left_behind)"
}
world_listens() { compgen -G "$TMPDIR/harmony-compare.*/ours/world" >/dev/null; }

wrong_usage_is_told_apart() {
  local code words
  for words in '--jobs 1' '--jobs many' '--load 9' '--scenario moon' '--speedup 0' '--policy ../x' '--seed -1' '--frob' \
    "--data $live_tmp" '--json'; do
    code=0
    compare $words >/dev/null 2>"$live_tmp/err" || code=$?
    same "exit code of $words" 2 "$code"
    grep -q '^compare: ' "$live_tmp/err" || fail "$words: $(cat "$live_tmp/err")"
  done
}

export TMPDIR=$live_tmp/tmp
mkdir -p "$TMPDIR"
leave_no_jobs() { :; }
keep every_job_runs_to_its_end_on_both_clusters tasks_ran_where_slurm_put_them the_figures_are_those_of_the_runs \
  how_far_the_simulator_is_off_is_printed_and_is_the_exit_code the_same_seed_makes_the_same_jobs \
  a_gang_that_loses_a_task_leaves_the_world_and_the_others_go_on rank_0_reports_its_epochs an_interrupt_takes_both_clusters_down wrong_usage_is_told_apart
