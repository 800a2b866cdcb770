"""What was reached of each goal."""
from dataclasses import dataclass

from evaluation import figures, plan, words


@dataclass
class Verdict:
    where: str
    goal: str
    best: str
    reached: str
    answer: str  # yes, no or not measured
    sure: str    # whether all of the interval is on that side
    bound: str   # what no interference at all would have brought
    is_stretch: bool = False
    beyond_bound: bool = False

    def row(self):
        return [self.where, self.goal, self.best, self.reached, self.answer if self.answer != "no" else "**no**", self.sure, self.bound]


class Cellwise:
    """One cell, with its best baseline and its bound looked up."""

    def __init__(self, found, judged):
        self.policies = found["policies"]
        self.judged = judged
        self.best = figures.best_baseline(self.policies, lambda name: plan.is_baseline(name, judged))

    def jct(self, policy):
        return self.policies[policy]["jct"] if policy in self.policies else None

    def against_best(self, policy):
        if self.best is None or policy not in self.policies:
            return None
        return figures.ratio(self.jct(policy), self.jct(self.best))

    def gap_closed(self, policy):
        """None: there is no gap, or something is missing."""
        if self.best is None or policy not in self.policies or plan.BOUND not in self.policies:
            return None
        return figures.gap_closed(self.jct(policy), self.jct(self.best), self.jct(plan.BOUND))


def of_ratio(cell, view, goal, most, is_stretch=False):
    """most: the largest ratio to the best baseline that reaches the goal."""
    ratio, bound = view.against_best(view.judged), view.against_best(plan.BOUND)
    verdict = Verdict(cell.title(), goal, view.best or "-", "-", "not measured", "-", words.change(*bound) if bound else "-", is_stretch)
    verdict.beyond_bound = bound is not None and bound[0] > most
    if ratio:
        mean, half = ratio
        verdict.reached = words.change(mean, half)
        verdict.answer = "yes" if mean <= most else "no"
        verdict.sure = "-" if half is None else "yes" if (mean + half <= most if mean <= most else mean - half > most) else "no"
    return verdict


def of_gap(cell, view, least, goal, is_stretch):
    closed = view.gap_closed(view.judged)
    verdict = Verdict(cell.title(), goal, view.best or "-", "-", "not measured", "-", "100 %", is_stretch)
    if closed:
        part, half = closed
        verdict.reached = words.gap(closed)
        verdict.answer = "yes" if part >= least else "no"
        verdict.sure = "-" if half is None else "yes" if (part - half >= least if part >= least else part + half < least) else "no"
    elif view.judged in view.policies and plan.BOUND in view.policies:
        verdict.reached, verdict.answer = "no gap", "no gap"
    return verdict


def ours(found, judged):
    """Verdicts of the table "Ours", cell by cell."""
    verdicts = []
    for cell, result in found.items():
        if cell.scenario not in plan.OURS or cell.order != "submit":
            continue
        view = Cellwise(result, judged)
        goal = plan.GOALS[cell.scenario].get(cell.load)
        if goal is None:
            continue
        verdicts.append(of_ratio(cell, view, f"{goal} % better" if goal else "not worse (1 %)", 1 - goal / 100 if goal else plan.NOT_WORSE))
        if cell.load == "0.9":
            more = plan.STRETCH[cell.scenario]
            verdicts.append(of_ratio(cell, view, f"{more} % better (stretch)", 1 - more / 100, True))
    return verdicts


def gaps(found, judged):
    """Of the gap between the best baseline and the bound, at 0.9."""
    verdicts = []
    for cell, result in found.items():
        if cell.scenario in plan.OURS and cell.order == "submit" and cell.load == "0.9":
            view = Cellwise(result, judged)
            verdicts.append(of_gap(cell, view, plan.GAP_MARK, f"{plan.GAP_MARK:.0%} of the gap".replace("%", " %"), False))
            verdicts.append(of_gap(cell, view, plan.GAP_GOAL, f"{plan.GAP_GOAL:.0%} of the gap (goal)".replace("%", " %"), True))
    return verdicts


def others(found, judged):
    return [of_ratio(cell, Cellwise(result, judged), "within 2 %", plan.WITHIN) for cell, result in found.items()
            if cell.scenario in plan.OTHERS]
