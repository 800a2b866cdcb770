#include "src/sim/report/assets.h"

namespace harmony {

const char *report_style() {
  return R"css(
:root { color-scheme: light; --ink: #1d2530; --soft: #55606e; --line: #d9dee4; --accent: #005a8c; }
* { box-sizing: border-box; }
html { scroll-padding-top: 3.5rem; }
body { margin: 0; background: #f3f5f7; color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI",
  "Noto Sans", "Liberation Sans", sans-serif; }
main, header > div, footer { max-width: 1340px; margin: 0 auto; padding: 0 1.25rem; }
header { background: #14202e; color: #fff; padding: 1.4rem 0 1.2rem; }
header h1 { margin: 0; font-size: 1.65rem; line-height: 1.2; font-weight: 650; }
header p { margin: .35rem 0 0; color: #c9d3de; }
nav { position: sticky; top: 0; z-index: 5; background: #fff; border-bottom: 1px solid var(--line); }
nav ul { max-width: 1340px; margin: 0 auto; padding: .45rem 1.25rem; display: flex; flex-wrap: wrap;
  gap: .2rem 1.2rem; list-style: none; }
a { color: var(--accent); }
nav a { text-decoration: none; font-weight: 600; font-size: .92rem; }
nav a:hover { text-decoration: underline; }
section { margin: 1.4rem 0 2.2rem; }
h2 { font-size: 1.35rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h3 { font-size: 1.02rem; margin: 0 0 .15rem; }
.card { background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem; margin: 0 0 1rem;
  min-width: 0; }
.card > p, figcaption { margin: 0 0 .5rem; color: var(--soft); font-size: .88rem; }
.finding { border-left: 5px solid var(--accent); }
.finding p { color: var(--ink); font-size: 1.06rem; margin: 0; }
.finding h3 { color: var(--soft); font-weight: 600; font-size: .9rem; }
b { overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: .35rem .5rem; margin: 0 0 .9rem; padding: 0; list-style: none;
  font-size: .88rem; }
.facts li { background: #e6ebf0; border-radius: 4px; padding: .12rem .55rem; overflow-wrap: anywhere; }
.facts span { color: var(--soft); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr)); gap: 0 1rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 290px), 1fr)); gap: .6rem 1rem; }
.panels figure { margin: 0; min-width: 0; }
.panels figcaption { margin: 0; color: var(--ink); font-weight: 600; overflow-wrap: anywhere; }
svg.chart { display: block; width: 100%; height: auto; }
svg.chart text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: 0 0 .5rem; padding: 0; list-style: none;
  font-size: .88rem; }
.key i, .swatch { display: inline-block; width: .85em; height: .85em; margin-right: .4em; border-radius: 2px;
  vertical-align: -.06em; border: 1px solid rgba(0,0,0,.18); }
.key i.line { height: 0; width: 1.3em; border: 0; border-top: 2px solid #111; vertical-align: .28em; border-radius: 0;
  }
.key svg.sample { width: 30px; height: 8px; margin-right: .4em; vertical-align: .1em; }
.key i.dot { border-radius: 50%; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; margin: .3rem 0 .6rem; }
.controls input[type=range] { flex: 1 1 260px; accent-color: var(--accent); height: 1.6rem; }
.controls output { min-width: 6.5em; font-variant-numeric: tabular-nums; font-weight: 600; }
button, select { font: inherit; font-size: .9rem; padding: .22rem .7rem; border: 1px solid #9aa6b2;
  border-radius: 5px; background: #fff; color: var(--ink); cursor: pointer; max-width: 100%; }
button:hover { background: #eef2f6; }
:focus-visible { outline: 3px solid #e69f00; outline-offset: 1px; }
.maps { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: .5rem 1.5rem; }
.maps svg { display: block; width: 100%; height: auto; margin-top: .3rem; }
.maps svg text { font-family: system-ui, "Liberation Sans", sans-serif; pointer-events: none; }
figure.map { margin: 0; }
.maps .said { margin: .2rem 0 0; font-size: .85rem; color: var(--soft); min-height: 2.6em; }
.maps [data-job] { cursor: pointer; }
.dim [data-job]:not(.on) { opacity: .28; }
[data-job].on { stroke: #000; stroke-width: 2; }
#tip { position: fixed; z-index: 9; pointer-events: none; background: #14202e; color: #fff; font-size: .85rem;
  line-height: 1.4; padding: .4rem .6rem; border-radius: 5px; max-width: 22rem; white-space: pre-line;
  overflow-wrap: anywhere; display: none; }
.glance { display: grid; grid-template-columns: minmax(5rem, 9rem) 1fr; gap: .3rem .8rem; align-items: center;
  font-size: .85rem; }
.glance > span { overflow-wrap: anywhere; font-weight: 600; }
.moments { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: .9rem; }
.moments svg { display: block; width: 100%; height: auto; }
.moments small { color: var(--soft); }
.js .glance.folded { display: none; }
html:not(.js) .needs-script { display: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap;
  vertical-align: top; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 8.5rem; max-width: 16rem; font-weight: 600;
  }
thead th { vertical-align: bottom; border-bottom: 2px solid #9aa6b2; white-space: normal; line-height: 1.25;
  font-weight: 600; }
thead button { all: unset; cursor: pointer; font-weight: 600; }
thead button:focus-visible { outline: 3px solid #e69f00; }
thead th[aria-sort] button::after { content: " \25B2"; font-size: .8em; }
thead th[aria-sort=descending] button::after { content: " \25BC"; }
td small { display: block; color: var(--soft); font-size: .92em; }
td.best { background: #e3f0e8; }
tbody tr:hover td { background: #f3f6f9; }
tr.bound td { color: var(--soft); font-style: italic; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .6rem 0; }
pre { margin: 0; padding: .6rem .8rem; background: #14202e; color: #e8eef4; border-radius: 6px; white-space: pre-wrap;
  overflow-wrap: anywhere; font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; }
footer { padding-bottom: 2rem; color: var(--soft); font-size: .88rem; }
@media print {
  @page { size: A4 landscape; margin: 11mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { background: #fff; font-size: 10pt; }
  main, header > div, footer { max-width: none; padding: 0; }
  header { background: none; color: #000; padding: 0 0 .5rem; border-bottom: 2px solid #000; }
  header p { color: #333; }
  nav, .needs-script, #tip, button.needs-script { display: none !important; }
  .js .glance.folded { display: grid; }
  section.scenario { break-before: page; }
  h2, h3, .key, .facts { break-after: avoid; }
  .card { break-inside: avoid; border-color: #bbb; padding: .5rem .7rem; }
  .finding { border-left-color: #000; }
  .card.long { break-inside: auto; }
  .panels figure, .glance > *, tr { break-inside: avoid; }
  .pair { grid-template-columns: 1fr 1fr; }
  .panels { grid-template-columns: repeat(4, 1fr); }
  table { font-size: 6.6pt; }
  th, td { padding: .15rem .2rem; }
  td:first-child { min-width: 0; }
  th:first-child, td:first-child { position: static; }
  thead th[aria-sort] button::after { content: ""; }
  .scroll { overflow: visible; }
  pre { background: #f0f0f0; color: #000; border: 1px solid #bbb; }
}
)css";
}

} // namespace harmony
