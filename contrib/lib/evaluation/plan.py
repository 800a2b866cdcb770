"""What is simulated, and what it is held against."""
from dataclasses import dataclass

LOADS = ["0.5", "0.7", "0.9"]
TABLE_LOADS = ["0.7", "0.9"]
MAX_WAIT = 3600

OURS = ["servers6-50", "servers6", "pcie8", "pcie8-heavy", "mixed64"]
OTHERS = ["unseen", "shift-load", "shift-mix", "scale512"]  # the slowest last
TABLES = "tables"
COMBINE = ["min", "product"]  # how several neighbours combine; only pairs are measured

RULES = ["stock", "pack", "spread", "tetris", "lif", "one-distributed", "one-distributed-soft", "cons1", "tiresias-skew",
         "optimus-even", "random"]
FITTED = ["lif-linear", "lif-quadratic", "greedy"]
BOUND = "no-interference"
EXHAUSTIVE = "oracle-exhaustive"
POLICIES = RULES + FITTED + ["learned", "oracle-linear", EXHAUSTIVE, BOUND]

# Percent less mean JCT than the best baseline; 0 is "not worse".
GOALS = {
    "servers6-50": {"0.5": 0, "0.7": 3, "0.9": 12},
    "servers6": {"0.5": 0, "0.7": 7, "0.9": 17},
    "pcie8": {"0.5": 0, "0.7": 2, "0.9": 5},
    "pcie8-heavy": {"0.5": 0, "0.7": 6, "0.9": 18},
    "mixed64": {"0.5": 0, "0.7": 1, "0.9": 5},
}
STRETCH = {"servers6-50": 17, "servers6": 29, "pcie8": 9, "pcie8-heavy": 24, "mixed64": 14}
NOT_WORSE = 1.01
WITHIN = 1.02  # of the scenarios that nothing was trained for
GAP_MARK, GAP_GOAL = 0.55, 0.80
HARMONY = 25  # percent, of the paper, against load balancing

# What lif-linear, lif-quadratic and greedy are fitted from: what these did on workloads that are not among those compared.
DATASET_POLICIES = ["pack", "spread", "one-distributed", "random"]
DATASET_LOAD = "0.7"
DATASET_SEEDS = 2

# Seconds for a workload under one policy on two cores, to guess the time left.
WEIGHT = {"servers6": 0.005, "servers6-50": 0.005, "pcie8": 0.05, "pcie8-heavy": 0.05, TABLES: 0.05, "scale512": 6}
USUAL_WEIGHT = 0.1
SLOWER = {"learned": 30, "fitted": 1.5, "oracles": 2.5}
FITTING = {"servers6": 1, "servers6-50": 1}
USUAL_FITTING = 13


def is_baseline(policy, judged):
    return policy not in ("learned", judged, BOUND) and not policy.startswith("oracle-")


@dataclass(frozen=True)
class Cell:
    """One table: all policies on the same jobs."""
    scenario: str
    load: str
    order: str = "submit"
    combine: str = ""  # of tables only

    def title(self):
        words = self.scenario + (f", pairs combined by {self.combine}" if self.combine else "") + f" at {self.load}"
        return words + ("" if self.order == "submit" else f", {self.order} first")


@dataclass(frozen=True)
class Part:
    """What one run of the simulator does for a cell. Apart, so that another model repeats nothing but its own."""
    cell: Cell
    kind: str  # rules, fitted, oracles or learned
    policies: tuple

    def weight(self, seeds):
        some = WEIGHT.get(self.cell.scenario, USUAL_WEIGHT) * len(self.policies) * seeds * SLOWER.get(self.kind, 1)
        return some + (FITTING.get(self.cell.scenario, USUAL_FITTING) if self.kind == "fitted" else 0)


def cells_of(options):
    """All cells in the order of the document."""
    wanted = options.scenarios
    cells = [Cell(each, load) for each in OURS + OTHERS if each in wanted for load in options.loads]
    cells += [Cell(each, "0.9", "shortest") for each in OURS if each in wanted and "0.9" in options.loads]
    if TABLES in wanted and options.has_data:
        loads = [load for load in options.loads if load in TABLE_LOADS] or options.loads
        cells += [Cell(TABLES, load, combine=combine) for combine in COMBINE for load in loads]
    return cells


def parts_of(cell, policies):
    kinds = {"rules": [], "fitted": [], "oracles": [], "learned": []}
    for policy in policies:
        if policy == EXHAUSTIVE and cell.scenario != "servers6":
            continue
        kind = ("fitted" if policy in FITTED else "learned" if policy == "learned" else
                "oracles" if policy.startswith("oracle-") else "rules")
        kinds[kind].append(policy)
    return [Part(cell, kind, tuple(some)) for kind, some in kinds.items() if some]


def fitted_on(scenario):
    """Where a cell's fitted policies come from: where nothing was trained, from what was."""
    return "mixed64" if scenario in OTHERS else scenario
