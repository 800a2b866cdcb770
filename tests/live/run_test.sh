# harmony run: the roles of a one-job gang, started where they belong, with what they need to find each other; signals in, exit
# codes out.
. "$(dirname "$0")/lib.sh"
: "${HARMONY_BUILD:?run it through tests/live/run}"

out() { cat "$live_tmp/gang.out" 2>/dev/null || true; }

# gang "SBATCH OPTIONS" RUN-ARGUMENT...: submits a job that is one harmony run; sets $job. Its output is in out().
gang() {
  local options=$1
  shift
  rm -f "$live_tmp/gang.out"
  printf '#!/bin/bash\nexec %q run%s\n' "$HARMONY_BIN" "$(printf ' %q' "$@")" >"$live_tmp/gang.sbatch"
  # shellcheck disable=SC2086 # several options
  job=$(timeout 20 sbatch --parsable -o "$live_tmp/gang.out" $options "$live_tmp/gang.sbatch")
}

# ends CODE: the job ended, with this exit code.
ends() {
  await "$job" 'COMPLETED|FAILED|CANCELLED|TIMEOUT' 200
  same "exit code of the gang" "$1:0" "$(job_field "$job" ExitCode)" || { out; return 1; }
}

lines() { out | grep -cE -- "$1" || true; }

printed() { [ "$(lines "$1")" -ge "${2:-1}" ]; }

# prints TIMES PATTERN: what the tasks printed has that many such lines.
prints() { [ "$(lines "$2")" = "$1" ] || fail "expected $1 lines like '$2': $(out)"; }

# soon TIMES PATTERN: it has at least that many, before long.
soon() { cluster_until 120 printed "$2" "$1" || fail "expected $1 lines like '$2': $(out)"; }

no_task_is_left() { [ -z "$(squeue -h -s -j "$job" -o %j | grep -E '^(ps|worker)-')" ]; }

tell='echo "$HARMONY_ROLE $HARMONY_INDEX of $HARMONY_WORKERS+$HARMONY_PS on $SLURMD_NODENAME gpus=${CUDA_VISIBLE_DEVICES-unset} rank=${RANK-none}/${WORLD_SIZE-none}/${LOCAL_RANK-none} dmlc=${DMLC_ROLE-none} workers=$HARMONY_WORKER_HOSTS ps=$HARMONY_PS_HOSTS tf=$TF_CONFIG master=${MASTER_ADDR-none}"'

# A worker that ends ends the PS, which may not have said a word by then.
after_ps() { echo "until [ \"\$(grep -c '^ps ' $live_tmp/gang.out)\" -ge $1 ]; do sleep 0.1; done; $tell"; }

two_workers_and_a_ps_share_a_node() {
  gang "-n3 -N1 --gpus=2" --ps-count=1 --port=23400 --ps "$tell; sleep 600" --worker "$(after_ps 1)"
  ends 0
  local workers=127.0.0.1:23400,127.0.0.1:23401 ps=127.0.0.1:23402
  prints 1 "^ps 0 of 2\+1 on n. gpus= rank=none/none/none dmlc=server workers=$workers ps=$ps tf=.* master=none\$"
  prints 1 "^worker 0 of 2\+1 on n. gpus=[01] rank=0/2/0 dmlc=worker workers=$workers ps=$ps tf=.* master=127.0.0.1\$"
  prints 1 "^worker 1 of 2\+1 on n. gpus=[01] rank=1/2/1 dmlc=worker workers=$workers ps=$ps"
  prints 3 "tf=\{\"cluster\":\{\"ps\":\[\"$ps\"\],\"worker\":\[\"${workers/,/\",\"}\"\]\},\"task\":\{\"index\":[01],\"type\":\"(ps|worker)\"\}\}"
  same "GPUs of the workers" "0 1 " "$(out | sed -n 's/^worker.* gpus=\([^ ]*\) .*/\1/p' | sort | tr '\n' ' ')"
}

two_workers_and_a_ps_over_two_nodes() {
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps "$tell; sleep 600" --worker "$(after_ps 1)"
  ends 0
  prints 1 '^ps 0 of 2\+1 on n0 '
  prints 1 '^worker 0 of 2\+1 on n0 .* rank=0/2/0 '
  prints 1 '^worker 1 of 2\+1 on n1 .* rank=1/2/0 '
}

a_plan_says_where_the_roles_go() {
  export HARMONY_PLAN=n0=1+1,n1=1+1 HARMONY_PS=2
  gang "-N2 --ntasks-per-node=2 --gpus-per-node=2" --ps "$tell; sleep 600" --worker "$(after_ps 2)"
  ends 0
  prints 1 '^ps 0 of 2\+2 on n0 gpus= '
  prints 1 '^ps 1 of 2\+2 on n1 gpus= '
  prints 1 '^worker 0 of 2\+2 on n0 gpus=0,1 '
  prints 1 '^worker 1 of 2\+2 on n1 gpus=0,1 '
}

an_all_reduce_gang_has_workers_only() {
  gang "-N2 --ntasks-per-node=2 --gpus-per-task=1 -c2" --worker "$tell"
  ends 0
  prints 4 '^worker [0-3] of 4\+0 on n[01] gpus=[01] rank=[0-3]/4/[01] dmlc=none .* ps= .* master=127.0.0.1$'
  same "ranks" "0 1 2 3 " "$(out | sed -n 's/^worker \([0-9]\).*/\1/p' | sort | tr '\n' ' ')"
}

a_job_with_memory_a_node_runs_both_roles_at_once() {
  gang "-n3 -N1 --gpus=2 --mem=3000" --ps-count=1 --ps "touch $live_tmp/ps-was-here; sleep 600" \
    --worker "until [ -e $live_tmp/ps-was-here ]; do sleep 0.1; done; echo met"
  ends 0
  prints 2 '^met$'
}

a_failing_worker_ends_the_gang_with_its_exit_code() {
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps "trap 'echo ps was told; exit 0' TERM; echo ps is up; while :; do sleep 0.1; done" \
    --worker "until grep -q 'ps is up' $live_tmp/gang.out; do sleep 0.1; done; [ \$HARMONY_INDEX = 0 ] || exit 3; sleep 600"
  ends 3
  prints 1 '^ps was told$'
}

a_dying_ps_ends_the_gang_with_128_and_its_signal() {
  gang "-n3 -N1 --gpus=2" --ps-count=1 --ps 'sleep 1; kill -SEGV $$' --worker 'sleep 600'
  ends 139
}

a_task_that_ignores_its_end_is_killed() {
  gang "-n3 -N1 --gpus=2" --ps-count=1 --ps 'trap "" TERM; echo up; while :; do sleep 0.2; done' \
    --worker "until grep -q up $live_tmp/gang.out; do sleep 0.1; done"
  ends 0
  no_task_is_left
}

a_gang_that_ends_well_says_nothing_of_errors() {
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps 'exec sleep 600' --worker 'sleep 1; echo done'
  ends 0
  same "what it printed" "done done " "$(out | tr '\n' ' ')"
}

count_usr1='trap "echo $HARMONY_ROLE got USR1" USR1; trap "echo $HARMONY_ROLE got TERM; exit 0" TERM; echo up; while [ ! -e '$live_tmp/enough' ]; do sleep 0.1; done'

signals_of_scancel_reach_the_tasks() {
  rm -f "$live_tmp/enough"
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps "$count_usr1" --worker "$count_usr1"
  soon 3 '^up$'
  timeout 20 scancel --signal=USR1 "$job"
  soon 2 '^worker got USR1$'
  soon 1 '^ps got USR1$'
  touch "$live_tmp/enough"
  ends 0
}

signals_to_the_batch_script_reach_the_tasks() {
  rm -f "$live_tmp/enough"
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps "$count_usr1" --worker "$count_usr1"
  soon 3 '^up$'
  timeout 20 scancel --batch --signal=USR1 "$job"
  soon 2 '^worker got USR1$'
  soon 1 '^ps got USR1$'
  timeout 20 scancel --batch --signal=TERM "$job"
  soon 2 '^worker got TERM$'
  soon 1 '^ps got TERM$'
  ends 0
}

a_cancelled_gang_leaves_no_task() {
  gang "-n3 -N2 --gpus=2" --ps-count=1 --ps 'echo up; sleep 600' --worker 'echo up; sleep 600'
  soon 3 '^up$'
  timeout 20 scancel "$job"
  await "$job" CANCELLED
  cluster_until 30 no_task_is_left || fail "left: $(squeue -h -s -j "$job")"
}

wrong_usage_and_a_wrong_environment_are_refused_by_name() {
  local status text
  refused() { # CODE PATTERN RUN-ARGUMENT...
    local code=$1 pattern=$2
    shift 2
    status=0
    text=$(timeout 20 "$HARMONY_BIN" run "$@" 2>&1) || status=$?
    same "exit code of run $*" "$code" "$status"
    grep -qE -- "$pattern" <<<"$text" || fail "run $* does not say '$pattern': $text"
  }
  refused 2 '--worker'
  refused 1 'SLURM_JOB_ID=\(unset\)' --worker true
  export SLURM_JOB_ID=1 SLURM_JOB_NODELIST='n[0-1]' SLURM_TASKS_PER_NODE='2,1' SLURM_NTASKS=3
  refused 0 'ntasks=2 .*nodelist=n0,n1 ' --dry-run --ps-count 1 --ps 'sleep 9' --worker true
  refused 2 '--ps-count 3: a number from 0 to 2' --ps-count 3 --ps true --worker true
  refused 2 "the gang has 1 PS" --ps-count 1 --worker true
  refused 2 "the gang has no PS" --ps true --worker true
  refused 2 '--port' --port 99999 --worker true
  HARMONY_PS=some refused 1 'HARMONY_PS=some: a number from 0 to 2' --ps true --worker true
  HARMONY_PLAN=n0 refused 1 'HARMONY_PLAN=n0: NODE=WORKERS\+PS' --worker true
  SLURM_TASKS_PER_NODE=2 refused 1 'SLURM_TASKS_PER_NODE=2: .* 2 nodes' --worker true
  SLURM_JOB_NODELIST= refused 1 'SLURM_JOB_NODELIST=\(unset\)' --worker true
}

# loss_fell: worker 0's last loss is below a quarter of its first.
loss_fell() {
  out | awk '/^step [0-9]+ loss / { if (!n++) first = $4; last = $4 } END { print "loss " first " -> " last; exit !(n > 1 && last < first / 4) }' ||
    fail "$(out)"
}

the_example_trains_as_written() {
  mkdir -p "$live_tmp/bin"
  ln -sf "$HARMONY_BIN" "$live_tmp/bin/harmony"
  ln -sf "$HARMONY_BUILD/ps-training" "$live_tmp/bin/ps-training"
  job=$(PATH=$live_tmp/bin:$PATH timeout 20 sbatch --parsable -o "$live_tmp/gang.out" "$cluster_home/../../contrib/examples/ps-training.sbatch")
  ends 0
  loss_fell
}

training_with_two_ps_over_two_nodes_works_too() {
  gang "-n4 -N2 --ntasks-per-node=2 --gpus-per-node=1" --ps-count=2 --ps "$HARMONY_BUILD/ps-training" --worker "$HARMONY_BUILD/ps-training"
  ends 0
  loss_fell
}

training_does_not_hang_when_a_worker_dies() {
  gang "-n3 -N1 --gpus=2" --ps-count=1 --ps "$HARMONY_BUILD/ps-training 1000000" \
    --worker "if [ \$HARMONY_INDEX = 1 ]; then sleep 3; exit 5; fi; exec $HARMONY_BUILD/ps-training 1000000"
  ends 5
}

# Ports come from the job's id: somewhere else on each cluster, because another one may be on this machine.
live_cluster --nodes 2 --extra "FirstJobId=$((RANDOM % 9000 + 1))"
keep two_workers_and_a_ps_share_a_node two_workers_and_a_ps_over_two_nodes a_plan_says_where_the_roles_go \
  an_all_reduce_gang_has_workers_only a_job_with_memory_a_node_runs_both_roles_at_once \
  a_failing_worker_ends_the_gang_with_its_exit_code a_dying_ps_ends_the_gang_with_128_and_its_signal \
  a_task_that_ignores_its_end_is_killed a_gang_that_ends_well_says_nothing_of_errors \
  signals_of_scancel_reach_the_tasks signals_to_the_batch_script_reach_the_tasks a_cancelled_gang_leaves_no_task \
  wrong_usage_and_a_wrong_environment_are_refused_by_name the_example_trains_as_written \
  training_with_two_ps_over_two_nodes_works_too training_does_not_hang_when_a_worker_dies
