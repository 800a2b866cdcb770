"""docs/evaluation.html: one page that needs no network, a chart for each scenario."""
import math
from html import escape

from evaluation import figures, plan, verdicts, words

LEFT, PANEL, GAP, ROW, TOP = 150, 230, 24, 17, 40
LEAST, MOST = 0.5, 4.0  # of the axis: mean JCT relative to the best baseline's, logarithmic
TICKS = [0.5, 0.7, 1, 1.5, 2, 3, 4]

STYLE = """
:root { --ground: #fff; --ink: #1c2733; --quiet: #66727e; --line: #dde3e8; --rule: #4a6fa5; --ours: #c2410c; --bound: #6b7280 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14191f; --ink: #e4e9ee; --quiet: #96a2ae; --line: #2c353e; --rule: #7fa6e0; --ours: #fb923c; --bound: #9ca3af } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin: 2em 0 .3em } p { color: var(--quiet); margin: .3em 0 }
.wide { overflow-x: auto } svg { display: block } svg text { font: 12px system-ui, sans-serif; fill: var(--ink) }
svg .quiet { fill: var(--quiet); font-size: 11px } svg .ours { fill: var(--ours); font-weight: 600 }
line.grid { stroke: var(--line) } line.one { stroke: var(--quiet); stroke-dasharray: 3 3 }
.rule { fill: var(--rule); stroke: var(--rule) } .judged { fill: var(--ours); stroke: var(--ours) }
.bound { fill: none; stroke: var(--bound); stroke-width: 1.5 }
"""


def kind(policy, judged):
    return "judged" if policy == judged else "rule" if plan.is_baseline(policy, judged) else "bound"


def at(ratio):
    inside = min(max(ratio, LEAST), MOST)
    return PANEL * math.log(inside / LEAST) / math.log(MOST / LEAST)


def dot(x, y, policy, ratio, judged):
    """A policy in a panel: its mean with the interval, or an arrow with the figure where it is off the axis."""
    mean, half = ratio
    look = kind(policy, judged)
    says = f"<title>{escape(policy)}: {escape(words.change(mean, half))}</title>"
    if mean > MOST:
        return f'<text class="quiet" x="{x + PANEL:.1f}" y="{y + 4:.1f}" text-anchor="end">{mean:.1f} times ▸{says}</text>'
    parts = []
    if half is not None:
        parts.append(f'<line class="{look}" x1="{x + at(mean - half):.1f}" x2="{x + at(mean + half):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(f'<circle class="{look}" cx="{x + at(mean):.1f}" cy="{y:.1f}" r="4">{says}</circle>')
    return "".join(parts)


def axis(x, height, title):
    parts = [f'<text x="{x + PANEL / 2:.1f}" y="14" text-anchor="middle">{escape(title)}</text>']
    for tick in TICKS:
        here = x + at(tick)
        parts.append(f'<line class="{"one" if tick == 1 else "grid"}" x1="{here:.1f}" x2="{here:.1f}" y1="{TOP - 8}" y2="{height}"/>')
        parts.append(f'<text class="quiet" x="{here:.1f}" y="{TOP - 12}" text-anchor="middle">{tick:g}</text>')
    return "".join(parts)


def chart(cells, judged):
    """cells: [(title of the panel, what was found)]; policies from the best to the worst at the highest load."""
    last = [found for title, found in cells if "shortest" not in title][-1]["policies"]
    order = sorted(last, key=lambda name: figures.mean(last[name]["jct"]))
    height = TOP + ROW * len(order)
    width = LEFT + len(cells) * (PANEL + GAP)
    parts = [f'<svg width="{width}" height="{height + 4}" viewBox="0 0 {width} {height + 4}" role="img" aria-label="mean JCT by policy and load">']
    parts += [axis(LEFT + number * (PANEL + GAP), height, title) for number, (title, _) in enumerate(cells)]
    for row, policy in enumerate(order):
        y = TOP + ROW * (row + 0.5)
        ours = ' class="ours"' if policy == judged else ""
        parts.append(f'<text{ours} x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(policy)}</text>')
        for number, (_, found) in enumerate(cells):
            ratio = verdicts.Cellwise(found, judged).against_best(policy)
            if ratio:
                parts.append(dot(LEFT + number * (PANEL + GAP), y, policy, ratio, judged))
    return "".join(parts) + "</svg>"


def page(found, options):
    groups = {}
    for cell, result in found.items():
        name = cell.scenario + (f", pairs combined by {cell.combine}" if cell.combine else "")
        title = f"load {cell.load}" + ("" if cell.order == "submit" else ", shortest first")
        groups.setdefault(name, []).append((title, result))
    parts = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"><title>How good placement is</title>',
             '<meta name="viewport" content="width=device-width">', f"<style>{STYLE}</style></head><body>", "<h1>How good placement is</h1>",
             f"<p>Mean JCT relative to the best baseline of the same load, with 95 % intervals over {options.seeds} workloads; further left is better. "
             f"Filled: baselines, and {escape(options.judge)}; rings: policies that know the truth, and the bound without interference. "
             "All figures are in evaluation.md.</p>"]
    for name, cells in groups.items():
        result = cells[0][1]
        about = f"{result['nodes']} nodes, {result['gpus']} GPUs, {result['jobs']} jobs a workload; truth: {result['truth']}"
        parts.append(f'<h2>{escape(name)}</h2><p>{escape(about)}</p><div class="wide">{chart(cells, options.judge)}</div>')
    return "\n".join(parts) + "\n</body></html>\n"
