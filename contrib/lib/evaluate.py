"""The measuring behind contrib/evaluate, which checks the options and knows where things are."""
import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path

import measured_tables
from evaluation import charts, document, plan, simulate


def read_options():
    parser = argparse.ArgumentParser()
    for name in ["harmony", "top", "model", "out", "cells", "data", "judge", "command"]:
        parser.add_argument(f"--{name}", required=True)
    for name in ["scenarios", "loads", "policies", "torch-library"]:
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--seeds", type=int, required=True)
    parser.add_argument("--threads", type=int, default=0)
    for name in ["small", "only-text", "no-times"]:
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    options.has_all = not (options.scenarios or options.loads or options.policies or options.small)
    usual = ["servers6", "pcie8-heavy"] if options.small else plan.OURS + plan.OTHERS + [plan.TABLES]
    options.scenarios = options.scenarios.split(",") if options.scenarios else usual
    options.loads = sorted(set(options.loads.split(","))) if options.loads else ["0.9"] if options.small else plan.LOADS
    options.count = 60 if options.small else 0
    named = options.policies.split(",") if options.policies else []
    options.policies = [each for each in plan.POLICIES if not named or each in named]
    options.policies += sorted(set(named) - set(options.policies))
    has_files = all((Path(options.data) / each).exists() for each in ["gavel/oracle_throughputs.json", "chronus/model_info.json"])
    options.has_data = plan.TABLES in options.scenarios and has_files
    return options


def check(options):
    """What is wrong, or nothing."""
    listed = subprocess.run([options.harmony, "sim", "--list"], capture_output=True, text=True).stdout
    known = {line.split()[0] for line in listed.split("Job types")[0].splitlines() if line.startswith("  ")}
    for policy in options.policies:
        if policy not in known:
            return f"policy '{policy}' is not known; harmony sim --list names them"
    missing = [each for each in simulate.MODEL_FILES if not (Path(options.model) / each).is_file()]
    if "learned" in options.policies and missing:
        return f"{options.model} has no {missing[0]}: give --model DIR, or leave learned out of --policies"
    return ""


def main():
    options = read_options()
    problem = check(options)
    if problem:
        simulate.tell(f"error: {problem}")
        return 1
    simulator = None

    def stop(*_):
        if simulator:
            simulator.stop()
        simulate.tell("interrupted; what is done is kept, and the same command goes on from there")
        sys.exit(130)

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, stop)
    try:
        simulator = simulate.Simulator(options)
        found = simulate.simulate_all(simulator, plan.cells_of(options), options)
        pages = {"evaluation.md": document.text(found, options, simulator)}
        if not options.only_text:
            pages["evaluation.html"] = charts.page(found, options)
        for name, page in pages.items():
            target = Path(options.out) / name
            part = target.with_suffix(".part")
            part.write_text(page)
            part.rename(target)
            simulate.tell(f"wrote {target}")
    except (simulate.Failed, measured_tables.BadData, OSError, json.JSONDecodeError) as problem:
        simulate.tell(f"error: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
