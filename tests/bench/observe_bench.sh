#!/usr/bin/env bash
# What watching a step costs: the CPU time of `harmony observe` over a minute, on a node of 16 GPUs (the stand-in for NVML)
# with 200 processes in the step and 200 beside it. Prints a row of the table of tests/bench/run.
set -euo pipefail

usage() { echo "usage: tests/bench/observe_bench.sh [--build DIR] [--seconds N]
Measures DIR/stage/bin/harmony (default: build) for N seconds (default 60)."; }

build=$(dirname "$(readlink -f "$0")")/../../build seconds=60
while [ $# -gt 0 ]; do
  case $1 in
  -h | --help) usage; exit 0 ;;
  --build) build=${2:?--build needs a directory}; shift ;;
  --seconds) seconds=${2:?--seconds needs a number}; shift ;;
  *) usage >&2; exit 2 ;;
  esac
  shift
done
stand_in=${HARMONY_NVML_STAND_IN:-$build/tests/nvml/.libs}
[ -r "$stand_in/libnvidia-ml.so.1" ] || { echo "observe_bench: no stand-in for NVML in $stand_in; make check TESTS=" >&2; exit 1; }

crowds=() watcher=
finish() {
  trap - EXIT
  [ -z "$watcher" ] || kill -KILL "$watcher" 2>/dev/null || true # before it could send anything
  kill "${crowds[@]}" 2>/dev/null || true
  wait
} 2>/dev/null
trap finish EXIT
trap 'exit 130' INT TERM

# crowd: 200 processes that sleep, below one that stands for slurmstepd and takes them with it.
crowd() {
  bash -c 'trap "kill \$(jobs -p); exit" TERM; for i in {1..200}; do sleep 3600 & done; wait' >/dev/null 2>&1 &
  crowds+=("$!")
}
crowd
crowd
step=${crowds[1]}
sleep 2
LD_LIBRARY_PATH=$stand_in HARMONY_NVML_SCENARIO=nvswitch16 "$build/stage/bin/harmony" observe --job 1 --step 0 --pid "$step" --every 10 --node n0 &
watcher=$!
sleep "$seconds"
ticks=$(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$watcher/stat")
printf '%-56s %14s   %s\n' 'watching a step of 200 processes, 16 GPUs, every 10 s' \
  "$(awk "BEGIN { printf \"%.3f %%\", 100 * $ticks / $(getconf CLK_TCK) / $seconds }")" '<= 0.5 % of a core'
