"""Runs the simulator for parts of cells, and keeps what it found."""
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import measured_tables
from evaluation import figures, plan

METRICS = ["mean_jct_s", "median_jct_s", "p95_jct_s", "p99_jct_s", "waiting_s", "running_s", "makespan_s", "slowdown",
           "fairness_mean", "fairness_max", "gpus_allocated", "gpus_useful", "gpus_stranded"]
MODEL_FILES = ["model.pt", "manifest.json"]


class Failed(Exception):
    pass


def sha256(*paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Simulator:
    def __init__(self, options):
        self.options = options
        self.cells = Path(options.cells)
        self.binary = sha256(options.harmony)
        self.tables = ""  # their sha256
        self.running = None
        self.model = ""
        if "learned" in options.policies:
            library = [options.torch_library] if options.torch_library else []
            self.model_sha = sha256(Path(options.model) / "model.pt")
            self.model = sha256(*[Path(options.model) / each for each in MODEL_FILES], *library)
        self.lock = open(self.cells / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"another run writes to {self.cells}; wait for it, or take another --out")
        for left in self.cells.glob("*.part*"):  # of a run that was killed
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if options.has_data:
            self._write_tables()

    def _write_tables(self):
        where = self.cells / "tables"
        measured_tables.write_tables(self.options.data, where)
        for seed in range(1, self._dataset_from() + plan.DATASET_SEEDS):
            measured_tables.write_jobs(where, seed, self.options.count or measured_tables.JOBS)
        self.tables = sha256(*sorted(path for path in where.iterdir() if path.suffix in (".csv", ".json")))

    def _dataset_from(self):
        """The first workload that fitted policies learn from: none that is compared."""
        return max(self.options.seeds, 8) + 1

    def _run(self, arguments):
        command = [self.options.harmony, "sim", "--max-wait", str(plan.MAX_WAIT), *arguments]
        if self.options.threads:
            command += ["--threads", str(self.options.threads)]
        self.running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = self.running.communicate()[1].strip()
        status, self.running = self.running.returncode, None
        if status:
            raise Failed(f"{' '.join(command)}: exit code {status}: {said}")

    def stop(self):
        if self.running:
            self.running.kill()

    def _truth(self, cell, seed=None):
        """What is simulated, as options: of tables one workload at a time."""
        count = ["--count", str(self.options.count)] if self.options.count else []
        if not cell.combine:
            return ["--scenario", cell.scenario, *count]
        where = self.cells / "tables"
        return ["--cluster", str(where / "cluster.json"), "--jobs", str(where / f"jobs-{seed}.csv"), "--speeds", str(where / "speeds.csv"),
                "--contention", str(where / "pairs.csv"), "--combine", cell.combine]

    def _key(self, *facts):
        return hashlib.sha256(json.dumps([self.binary, self.options.count, plan.MAX_WAIT, *facts]).encode()).hexdigest()[:24]

    def part_key(self, part):
        cell = part.cell
        facts = [cell.scenario, cell.load, cell.order, cell.combine, list(part.policies), self.options.seeds, self.options.no_times]
        facts.append(self.tables if cell.combine else "")
        facts.append(self.model if part.kind == "learned" else "")
        facts.append(self._dataset_key(cell) if part.kind == "fitted" else "")
        return self._key(*facts)

    def _dataset_key(self, cell):
        return self._key("dataset, thin", plan.fitted_on(cell.scenario), cell.combine, self.tables if cell.combine else "", self._dataset_from(),
                         plan.DATASET_POLICIES, plan.DATASET_LOAD, plan.DATASET_SEEDS)

    def kept(self, part):
        """What an earlier run found, or None."""
        try:
            return json.loads((self.cells / f"{self.part_key(part)}.json").read_text())
        except (OSError, ValueError):
            return None

    def simulate(self, part):
        cell = part.cell
        arguments = ["--policy", ",".join(part.policies), "--load", cell.load, "--order", cell.order]
        if part.kind == "learned":
            arguments += ["--model", self.options.model]
            arguments += ["--torch-library", self.options.torch_library] if self.options.torch_library else []
        if part.kind == "fitted":
            arguments += ["--dataset", str(self._dataset(cell))]
        if not self.options.no_times:
            arguments.append("--time-decisions")
        name = self.part_key(part)
        raw = self.cells / f"{name}.part-{os.getpid()}"
        comparisons = []
        for seed in range(1, self.options.seeds + 1) if cell.combine else [None]:
            seeds = [] if cell.combine else ["--seeds", str(self.options.seeds)]
            self._run([*self._truth(cell, seed), *seeds, *arguments, "--json", str(raw)])
            comparisons += json.loads(raw.read_text())["comparisons"]
        found = gathered(comparisons)
        raw.write_text(json.dumps(found, indent=1) + "\n")
        raw.rename(self.cells / f"{name}.json")
        return found

    def _dataset(self, cell):
        """A directory with what others did on workloads that are not compared. The simulator counts workloads from 1, so those that
        are compared are simulated too, and thrown away."""
        done = self.cells / f"dataset-{self._dataset_key(cell)}"
        if done.exists():
            return done
        part = self.cells / f"{done.name}.part-{os.getpid()}"
        cell = plan.Cell(plan.fitted_on(cell.scenario), plan.DATASET_LOAD, combine=cell.combine)
        arguments = ["--policy", ",".join(plan.DATASET_POLICIES), "--load", plan.DATASET_LOAD, "--dataset-out"]
        first = self._dataset_from()
        if cell.combine:
            part.mkdir()
            for seed in range(first, first + plan.DATASET_SEEDS):
                self._run([*self._truth(cell, seed), *arguments, f"{part}/{seed}"])
                for file in Path(f"{part}/{seed}").iterdir():
                    file.rename(part / f"{seed}-{file.name}")
                Path(f"{part}/{seed}").rmdir()
        else:
            self._run([*self._truth(cell), "--seeds", str(first + plan.DATASET_SEEDS - 1), *arguments, str(part)])
            for file in part.iterdir():
                if int(file.stem.rsplit("-", 1)[1]) < first:
                    file.unlink()
        for file in part.iterdir():
            thin(file)
        part.rename(done)
        return done


def thin(file):
    """Leaves what policies are fitted from: intervals, without the names of neighbours. It is read anew for every policy and workload, and
    the names are nine tenths of it."""
    with open(file) as lines:
        records = [record for record in map(json.loads, lines) if record["record"] == "interval"]
    with open(file, "w") as out:
        for record in records:
            record.pop("neighbours", None)
            print(json.dumps(record), file=out)


def gathered(comparisons):
    """{policies: {name: {figures: {metric: [mean, half of its interval]}, jct: [of each workload], p50, p99}}, nodes, ...}"""
    first = comparisons[0]
    found = {each: first[each] for each in ("nodes", "gpus", "jobs", "truth")}
    found["policies"] = {}
    for policy in [each["policy"] for each in first["policies"]]:
        means = [each for comparison in comparisons for each in comparison["policies"] if each["policy"] == policy]
        runs = [run for comparison in comparisons for run in comparison["runs"] if run["policy"] == policy]
        one = len(comparisons) == 1
        found["policies"][policy] = {
            "figures": {metric: [means[0][metric]["mean"], means[0][metric].get("interval_95")] if one else
                        figures.with_interval([each[metric]["mean"] for each in means]) for metric in METRICS},
            "jct": [run["mean_jct_s"] for run in runs],
            "p50": [run["decision_us_p50"] for run in runs if "decision_us_p50" in run],
            "p99": [run["decision_us_p99"] for run in runs if "decision_us_p99" in run]}
    return found


def tell(text):
    print(f"evaluate: {text}", file=sys.stderr, flush=True)


def simulate_all(simulator, cells, options):
    """{cell: what gathered() makes, of all its parts}"""
    parts = [part for cell in cells for part in plan.parts_of(cell, options.policies)]
    kept = {part: simulator.kept(part) for part in parts}
    left = sum(part.weight(options.seeds) for part in parts if kept[part] is None)
    done, begun = 0.0, time.monotonic()
    if any(kept.values()):
        tell(f"{sum(each is not None for each in kept.values())} of {len(parts)} parts are there from an earlier run")
    found = {}
    for number, part in enumerate(parts, 1):
        result = kept[part]
        if result is None:
            start = time.monotonic()
            result = simulator.simulate(part)
            now = time.monotonic()
            weight = part.weight(options.seeds)
            done, left = done + weight, left - weight
            rest = f"; about {duration((now - begun) / done * left)} left" if left > 1e-9 else ""
            tell(f"{number} of {len(parts)}: {part.cell.title()}, {part.kind}: {duration(now - start)}{rest}")
        whole = found.setdefault(part.cell, {**result, "policies": {}})
        whole["policies"].update(result["policies"])
    for whole in found.values():
        whole["policies"] = {name: whole["policies"][name] for name in options.policies if name in whole["policies"]}
    return found
