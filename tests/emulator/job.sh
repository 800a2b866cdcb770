#!/bin/bash
# The batch script of every emulated job: COMMAND..., once for each task that Slurm allocated, on the node that it was allocated
# on. srun by itself would deal the tasks out evenly; a node named once a task, in arbitrary distribution, is the one way to have
# unequal numbers.
set -eu
mapfile -t names < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
list='' tasks=0 index=0
for part in ${SLURM_TASKS_PER_NODE//,/ }; do # such as 3(x2),1
  count=${part%%[(]*} times=1
  [[ $part != *x* ]] || { times=${part##*x} times=${times%)}; }
  while [ "$times" -gt 0 ]; do
    for _ in $(seq "$count"); do list+=${list:+,}${names[index]}; done
    tasks=$((tasks + count)) index=$((index + 1)) times=$((times - 1))
  done
done
exec srun --mpi=none --quiet --kill-on-bad-exit=1 --nodes="${#names[@]}" --ntasks="$tasks" --distribution=arbitrary \
  --nodelist="$list" "$@"
