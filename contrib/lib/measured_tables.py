#!/usr/bin/env python3
"""Makes a cluster, workloads, and tables of speeds and pairs for harmony sim out of published measurements.

usage: measured_tables.py DATA OUT [SEED...]

DATA has gavel/oracle_throughputs.json (Narayanan 2020: how fast two jobs go on one V100, MIT) and chronus/model_info.json (Gao
2021: relative speed by GPUs and nodes, MIT). OUT gets speeds.csv, pairs.csv, cluster.json and jobs-SEED.csv.

Jobs with one GPU are Gavel's. Those with several are Chronus's, whose neighbours nobody has measured: each is given the pairs of
the job of Gavel that STAND_IN names, which is assumed. Pairs are of two jobs on one GPU and are taken for two on one node: that
is more than node neighbours cost, so the tables show who gets along with whom rather than how much is at stake.
"""
import json
import math
import random
import sys
from pathlib import Path

# Names as the simulator's own types are called, so that a model meets words it may know.
SINGLE = {"resnet18": "ResNet-18 (batch size 64)", "resnet50": "ResNet-50 (batch size 64)",
          "transformer": "Transformer (batch size 64)", "lstm": "LM (batch size 20)",
          "ncf": "Recommendation (batch size 2048)", "a3c": "A3C", "cyclegan": "CycleGAN"}
SEVERAL = {"alexnet": "alexnet", "vgg16": "vgg16", "resnet101": "resnet101", "mobilenet": "mobilenet_v2",
           "inception3": "inception_v3"}
STAND_IN = {"alexnet": "ResNet-18 (batch size 256)", "vgg16": "ResNet-50 (batch size 128)", "resnet101": "ResNet-50 (batch size 32)",
            "mobilenet": "ResNet-18 (batch size 32)", "inception3": "ResNet-50 (batch size 16)"}

# Assumed, as the shares of pcie8 and mixed64 are.
SIZES = {1: 45, 2: 20, 4: 20, 6: 5, 8: 10}
JOBS = 300
NODES = 16
CPUS = 3
MEDIAN_S, LOG_DEVIATION, LEAST_S, MOST_S = 1800, 1.0, 300, 21600


class BadData(Exception):
    pass


def read(path):
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as problem:
        raise BadData(f"{path}: {problem}")


def ratios(gavel):
    """(victim, aggressor) -> speed beside the other / alone. 0 is "does not fit on one GPU" there and says nothing here."""
    measured = gavel["v100"]
    names = {**SINGLE, **STAND_IN}
    found = {}
    for victim, mine in names.items():
        for aggressor, its in names.items():
            beside = measured[mine].get(its)
            if beside and beside[0] > 0:
                found[victim, aggressor] = min(1.0, beside[0] / measured[mine]["null"])
    return found


def speeds(gavel, chronus):
    """(type, workers, nodes, speed): steps a second of one GPU; of several, relative to all on one node, times their number."""
    rows = [(name, 1, 1, gavel["v100"][its]["null"]) for name, its in SINGLE.items()]
    for name, its in SEVERAL.items():
        for workers, by_nodes in chronus[its].items():
            rows += [(name, int(workers), int(nodes), speed * int(workers)) for nodes, speed in by_nodes.items()]
    return sorted(rows)


def jobs(seed, count=JOBS):
    """Rows of --jobs. How close together they arrive is for --load to say."""
    chance = random.Random(f"measured tables {seed}")
    at, rows = 0.0, []
    for _ in range(count):
        at += chance.expovariate(1 / 60)
        workers = chance.choices(list(SIZES), list(SIZES.values()))[0]
        kind = chance.choice(list(SINGLE if workers == 1 else SEVERAL))
        lasts = 0
        while not LEAST_S <= lasts <= MOST_S:
            lasts = chance.lognormvariate(math.log(MEDIAN_S), LOG_DEVIATION)
        rows.append((f"{at:.3f}", kind, "allreduce", workers, CPUS, f"{lasts:.3f}"))
    return rows


def write_csv(path, header, rows):
    with open(path, "w") as file:
        for row in [header] + list(rows):
            print(*row, sep=",", file=file)


def write_tables(data, out):
    gavel = read(Path(data) / "gavel" / "oracle_throughputs.json")
    chronus = read(Path(data) / "chronus" / "model_info.json")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        pairs = ratios(gavel)
        alone = speeds(gavel, chronus)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise BadData(f"{data}: not as it was published: {problem!r}")
    write_csv(out / "pairs.csv", ("victim", "aggressor", "ratio"), [(*both, f"{some:.6f}") for both, some in sorted(pairs.items())])
    write_csv(out / "speeds.csv", ("type", "workers", "nodes", "speed"), [(*row[:3], f"{row[3]:.6f}") for row in alone])
    group = {"name": "n", "count": NODES, "topology": "quad4", "gpu": "v100", "rack": "r1"}
    (out / "cluster.json").write_text(json.dumps({"name": "tables", "groups": [group]}) + "\n")
    return pairs


def write_jobs(out, seed, count=JOBS):
    path = Path(out) / f"jobs-{seed}.csv"
    write_csv(path, ("submit_s", "type", "arch", "workers", "cpus_per_worker", "duration_s"), jobs(seed, count))
    return path


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        write_tables(sys.argv[1], sys.argv[2])
    except BadData as problem:
        print(f"measured_tables: {problem}", file=sys.stderr)
        return 1
    for seed in sys.argv[3:] or ["1"]:
        write_jobs(sys.argv[2], seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
