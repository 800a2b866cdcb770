#include "src/sim/report/assets.h"

namespace harmony {

// The tables, and what is left when the maps are set up.
const char *report_script() {
  return R"js(
(function() {
'use strict';
function setUpTable(table) {
  table.querySelectorAll('thead th')
      .forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending', body = table.tBodies[0];
        table.querySelectorAll('thead th').forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const key = row => row.cells[column].dataset.v;
        const order = column === 0 ? (a, b) => (key(a) < key(b)   ? -1
                                                : key(a) > key(b) ? 1
                                                                  : 0)
                                   : (a, b) => (key(a) === '' ? Infinity : Number(key(a))) -
                                                   (key(b) === '' ? Infinity : Number(key(b))) ||
                                               0;
        [...body.rows].sort((a, b) => (down ? -1 : 1) * order(a, b)).forEach(row => body.appendChild(row));
      }));
}

// A name that a spreadsheet would take for a formula is made plain text.
function field(text, separator) {
  if (/^[=+@-]/.test(text) && !/^-?[0-9.eE+-]+$/.test(text)) text = "'" + text;
  return separator === ',' && /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text.replace(/[\t\n]/g, ' ');
}

function tableText(table, separator) {
  const heads = [...table.tHead.rows[0].cells ], first = [ 'scenario', 'load' ];
  const lines = [ first.concat(
      ...heads.map((head, i) => i === 0 ? [ head.dataset.key ] : [ head.dataset.key, head.dataset.key + '_half95' ])) ];
  for (const row of table.tBodies[0].rows)
    lines.push([ table.dataset.scenario, table.dataset.load ].concat(
        ...[...row.cells].map((cell, i) => i === 0 ? [ cell.dataset.v ] : [ cell.dataset.v, cell.dataset.h ])));
  return lines.map(line => line.map(text => field(text, separator)).join(separator)).join('\n') + '\n';
}

function copy(text, button) {
  const said = button.parentNode.querySelector('[role=status]');
  const done =
      ok => { said.textContent = ok ? 'Copied.' : 'The browser does not allow copying: select the table instead.'; };
  const byHand = () => {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.appendChild(area);
    area.select();
    let ok = false;
    try {
      ok = document.execCommand('copy');
    } catch (error) { ok = false; }
    area.remove();
    done(ok);
  };
  if (navigator.clipboard && window.isSecureContext)
    navigator.clipboard.writeText(text).then(() => done(true), byHand);
  else
    byHand();
}

document.querySelectorAll('table.figures').forEach(setUpTable);
document.querySelectorAll('button[data-copy]')
    .forEach(button => button.addEventListener('click',
                                               () => copy(button.dataset.copy === 'command'
                                                              ? document.getElementById(button.dataset.of).textContent
                                                              : tableText(document.getElementById(button.dataset.of),
                                                                          button.dataset.copy === 'csv' ? ',' : '\t'),
                                                          button)));
document.querySelectorAll('button[data-unfold]').forEach(button => button.addEventListener('click', () => {
  const folded = document.getElementById(button.dataset.unfold).classList.toggle('folded');
  button.setAttribute('aria-expanded', String(!folded));
  button.textContent = folded ? 'Show all policies at a glance' : 'Hide the small maps';
}));
document.documentElement.dataset.ready = 'yes';
})();
)js";
}

} // namespace harmony
