// Appended to a copy of the report by report_test.sh: uses the page as people do, and leaves what it found as
// attributes of the body.
(function() {
'use strict';
const body = document.body, say = (what, found) => { body.dataset[what] = String(found); };
const event = (type, where) => new MouseEvent(type, {bubbles : true, clientX : 300, clientY : 300, ...where});
window.errors = window.errors || 0;
window.addEventListener('error', () => { ++window.errors; });

say('hacked', window.hacked || 'no');
// Only what scrolls inside its own box may be wider than the window.
say('overflow', document.documentElement.scrollWidth - document.documentElement.clientWidth);
say('small', [...document.querySelectorAll('svg.chart text') ]
                 .filter(text => {
                   const height = text.getBoundingClientRect().height;
                   return height > 0 && height < 9;
                 })
                 .length);

const map = document.querySelector('figure.map'), slider = map.querySelector('input');
const drawn = () => [...map.querySelectorAll('.maps g')].map(layer => layer.innerHTML).join();
say('cells', map.querySelectorAll('[data-job]').length);
let before = drawn();
slider.value = slider.max;
slider.dispatchEvent(new Event('input'));
say('slid', drawn() !== before);
before = drawn();
const select = map.querySelector('select');
select.value = String(select.options.length - 1);
select.dispatchEvent(new Event('change'));
say('switched', drawn() !== before);
const cell = map.querySelector('[data-job]');
cell.dispatchEvent(event('mousemove'));
say('tip', document.getElementById('tip').textContent.replace(/\n/g, ' / '));
say('marked', map.querySelectorAll('.on').length > 0 &&
                  [...map.querySelectorAll('.on') ].every(on => on.dataset.job === cell.dataset.job));
const at = slider.value = 0;
slider.dispatchEvent(new Event('input'));
map.querySelector('.play').click();

const table = document.querySelector('table.figures');
const column = () => [...table.tBodies[0].rows].map(row => Number(row.cells[1].dataset.v));
table.tHead.rows[0].cells[1].querySelector('button').click();
const sorted = column();
say('sorted', sorted.every((value, i) => i === 0 || sorted[i - 1] >= value) &&
                  table.tHead.rows[0].cells[1].getAttribute('aria-sort') === 'descending');

// What copying would put on the clipboard, by the way for browsers without one.
let copied = '';
Object.defineProperty(navigator, 'clipboard', {value : undefined});
document.execCommand = () => {
  copied = document.activeElement.value;
  return true;
};
document.querySelector('button[data-copy=csv]').click();
const lines = copied.trim().split('\n');
say('csv', lines.length + ' lines, ' + lines[0].split(',').length + ' columns');
say('head', lines[0].split(',').slice(0, 5).join(' '));
say('formula', /(^|,)"?=/m.test(copied));

document.querySelector('button[data-unfold]').click();
say('pictures', document.querySelectorAll('.glance:not(.folded) .moments svg').length);
setTimeout(() => {
  say('played', Number(slider.value) > at);
  say('fetched', performance.getEntriesByType('resource').length);
  say('errors', window.errors);
  say('probed', 'yes');
}, 1500);
})();
