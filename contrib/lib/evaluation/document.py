"""docs/evaluation.md."""
import os
import platform
from pathlib import Path

from evaluation import figures, plan, verdicts, words

VERDICT_HEADER = ["cell", "goal", "best baseline", "reached", "goal reached", "whole interval", "bound"]


def cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def policies_table(found, options):
    """Every policy of a cell, all metrics."""
    view = verdicts.Cellwise(found, options.judge)
    header = ["policy", "mean JCT", "against best baseline", "gap closed", "median", "p95", "p99", "waiting", "running", "makespan", "slowdown",
              "fairness mean / max", "GPUs allocated / useful", "stranded"]
    header += [] if options.no_times else ["decision p50 / p99"]
    rows = []
    for name, policy in found["policies"].items():
        mean = {metric: value[0] for metric, value in policy["figures"].items()}
        ratio = view.against_best(name)
        row = [f"**{name}**" if name == options.judge else name, words.with_half(*policy["figures"]["mean_jct_s"])]
        row.append("best" if name == view.best else words.change(*ratio) if ratio else "-")
        row.append("-" if plan.BOUND not in found["policies"] or view.best is None else words.gap(view.gap_closed(name)))
        row += [words.span(mean[each]) for each in ["median_jct_s", "p95_jct_s", "p99_jct_s", "waiting_s", "running_s", "makespan_s"]]
        row += [f"{mean['slowdown']:.2f}", f"{mean['fairness_mean']:.2f} / {mean['fairness_max']:.1f}"]
        row += [f"{words.percent(mean['gpus_allocated'])} / {words.percent(mean['gpus_useful'])}", words.percent(mean["gpus_stranded"])]
        if not options.no_times:
            timed = policy["p50"] and policy["p99"]
            row.append(f"{words.micros(figures.mean(policy['p50']))} / {words.micros(figures.mean(policy['p99']))}" if timed else "-")
        rows.append(row)
    return words.table(header, rows)


def cells_text(found, options, wanted):
    parts = []
    for cell, result in found.items():
        if wanted(cell):
            head = f"### {cell.title()}\n\n{result['nodes']} nodes, {result['gpus']} GPUs, {result['jobs']} jobs a workload, "
            parts.append(head + f"ground truth: {result['truth']}.\n\n" + policies_table(result, options))
    return parts


def count(all_of_them):
    measured = [each for each in all_of_them if each.answer in ("yes", "no")]
    return sum(each.answer == "yes" for each in measured), len(measured)


def headline(ours, gaps, judged):
    if not count(ours)[1]:
        return f"**Not measured: {judged} was left out of this run**, so no goal was reached or missed."
    reached, all_goals = count([each for each in ours if not each.is_stretch])
    further, all_stretch = count([each for each in ours if each.is_stretch])
    told = f"{judged} reached **{reached} of {all_goals} goals**, {further} of {all_stretch} stretch goals"
    marks, all_gaps = count([each for each in gaps if not each.is_stretch])
    if not all_gaps:
        return told + "."
    far = count([each for each in gaps if each.is_stretch])[0]
    return (told + f"; of {all_gaps} scenarios with a gap to the bound at 0.9 it closed {words.percent(plan.GAP_MARK)} of it in {marks} and "
            f"{words.percent(plan.GAP_GOAL)} in {far}.")


def summary(found, options):
    ours, gaps = verdicts.ours(found, options.judge), verdicts.gaps(found, options.judge)
    if not ours:
        return ["No scenario that has a goal was simulated."]
    marks = [each for each in ours if not each.is_stretch]
    parts = [headline(ours, gaps, options.judge)]
    missed = [f"{each.where} (goal: {each.goal}; reached: {each.reached})" for each in marks if each.answer == "no"]
    if missed:
        parts.append("Missed: " + "; ".join(missed) + ".")
    beyond = [f"{each.where} ({each.goal}; the bound: {each.bound})" for each in ours if each.beyond_bound]
    if beyond:
        parts.append("Goals further than the bound, that is more than the best baseline loses by interference in this simulator: "
                     + "; ".join(beyond) + ".")
    parts.append(words.table(VERDICT_HEADER, [each.row() for each in ours + gaps]))
    parts.append("*reached* is mean JCT relative to the best baseline's, workload by workload, mean and 95 % interval; *whole interval* says "
                 "whether all of the interval is on that side of the goal. *bound* is pack in a world where no job ever slows another down: "
                 "what is left to gain by avoiding interference. It does not wait or reorder, so a policy that does may pass it.")
    return parts


def others_summary(found, options):
    told = verdicts.others(found, options.judge)
    if not told:
        return []
    reached, measured = count(told)
    missed = [f"{each.where} ({each.reached})" for each in told if each.answer == "no"]
    words_of_it = f"{options.judge} is within 2 % of the best baseline, or better, in {reached} of {measured} cells."
    parts = ["## What nothing was trained for", words_of_it if measured else f"Not measured: {options.judge} was left out of this run."]
    parts += ["Missed: " + "; ".join(missed) + "."] if missed else []
    return parts + [words.table(VERDICT_HEADER, [each.row() for each in told])]


def load_balancing(found, options):
    rows = []
    for cell, result in found.items():
        policies = result["policies"]
        if cell.order == "submit" and "spread" in policies and options.judge in policies:
            ratio = figures.ratio(policies[options.judge]["jct"], policies["spread"]["jct"])
            rows.append([cell.title(), words.change(*ratio), "yes" if ratio[0] <= 1 - plan.HARMONY / 100 else "**no**"])
    if not rows:
        return []
    return ["## Against load balancing", f"As Harmony (INFOCOM 2019) compared itself, with {plan.HARMONY} % to show for it. Load balancing tears gangs "
            "apart; anything that keeps them together beats it, so this says little.",
            words.table(["cell", f"{options.judge} against spread", f"{plan.HARMONY} % better"], rows)]


def shortest(found, options):
    cells = {cell: result for cell, result in found.items() if cell.order == "shortest"}
    if not cells:
        return []
    rows = []
    for cell, result in cells.items():
        view, plain = verdicts.Cellwise(result, options.judge), found.get(plan.Cell(cell.scenario, cell.load))
        ratio = view.against_best(options.judge)
        before = verdicts.Cellwise(plain, options.judge).against_best(options.judge) if plain else None
        rows.append([cell.title(), view.best or "-", words.change(*ratio) if ratio else "not measured", words.change(*before) if before else "-",
                     words.gap(view.gap_closed(options.judge)) if ratio else "-"])
    return ["## The same with the shortest job first", "Much of a gain under load can be mere order. Here the queue of every policy is ordered by "
            "how long jobs would run at their best.",
            words.table(["cell", "best baseline", f"{options.judge} against it", "first come first", "gap closed"], rows)]


def tables(found, options):
    if plan.TABLES not in options.scenarios:
        return []
    parts = ["## Measured speeds and pairs"]
    if not options.has_data:
        return parts + ["**Left out: the measurements are not on this machine.** They are not part of the project; `--data DIR` says where they are "
                        "(gavel/oracle_throughputs.json of github.com/stanford-futuredata/gavel, chronus/model_info.json of "
                        "github.com/S-Lab-System-Group/ChronusArtifact)."]
    parts.append("The second ground truth: how fast jobs go alone is what Chronus measured by GPUs and nodes (jobs with several GPUs) and Gavel on a V100 "
                 "(jobs with one); what neighbours cost is what Gavel measured of pairs. 16 nodes of 4 GPUs. Three things are assumed "
                 "(contrib/lib/measured_tables.py): nobody measured the neighbours of Chronus's jobs, so each has those of a job of Gavel; pairs "
                 "are of two jobs on one GPU and are taken for two on one node, which is more than node neighbours cost; and of three and more "
                 "neighbours either the worst counts (min) or all of them multiplied (product). Take who wins from it, not by how much.")
    rows = []
    for cell, result in found.items():
        if cell.combine:
            view = verdicts.Cellwise(result, options.judge)
            ratio, bound = view.against_best(options.judge), view.against_best(plan.BOUND)
            rows.append([cell.title(), view.best or "-", words.change(*ratio) if ratio else "not measured", words.change(*bound) if bound else "-"])
    parts.append(words.table(["cell", "best baseline", f"{options.judge} against it", "bound"], rows))
    return parts + cells_text(found, options, lambda cell: cell.combine)


def measured_on(found, options, simulator):
    seeds = f"{options.seeds} workloads of each scenario and load, the same for every policy"
    lines = [f"- made by: `{options.command}`", f"- {seeds}" + (f", of {options.count} jobs: too few to conclude anything from" if options.count else ""),
             f"- MaxWait {plan.MAX_WAIT} s for all policies; loads {', '.join(options.loads)}",
             "- ground truth: the simulator's contention model (harmony-sim(1)) unless a table says otherwise"]
    if any(each in options.policies for each in plan.FITTED):
        lines.append(f"- lif-linear, lif-quadratic and greedy were fitted from what {', '.join(plan.DATASET_POLICIES)} did at load {plan.DATASET_LOAD} in "
                     f"{plan.DATASET_SEEDS} other workloads of the scenario; of mixed64 for {', '.join(plan.OTHERS)}")
    if simulator.model:
        where = Path(options.model).resolve()
        shown = os.path.relpath(where, options.top)
        lines.append(f"- learned: the model {where.name if shown.startswith('..') else shown}, sha256 {simulator.model_sha[:16]} (of model.pt)")
    if not options.no_times:
        lines.append(f"- {cpu()}, {os.cpu_count()} cores; decision times are of a gang in a round, with "
                     f"{options.threads or os.cpu_count()} simulations at a time")
    if not options.has_all:
        lines.append("- **only a part**: scenarios, loads or policies were left out of this run")
    return "\n".join(lines) + "\n"


def text(found, options, simulator):
    parts = ["# How good placement is", "Every policy, the same jobs; written by contrib/evaluate, not by hand. The charts are in evaluation.html."
             if not options.only_text else "Every policy, the same jobs; written by contrib/evaluate, not by hand.",
             measured_on(found, options, simulator), "## What was reached", *summary(found, options), *others_summary(found, options),
             *load_balancing(found, options), *shortest(found, options), "## All figures",
             "Means over the workloads; ± is half of a 95 % interval (Student's t). *against best baseline* is paired: the ratio of mean JCTs in each "
             "workload, then its mean; the best baseline is the policy with the least mean JCT in that table that is no oracle, no bound, not "
             f"learned and not {options.judge}. *gap closed* is the part of the way from there to no interference, over all workloads. The other columns "
             "are those of harmony-sim(1).",
             *cells_text(found, options, lambda cell: not cell.combine), *tables(found, options)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
