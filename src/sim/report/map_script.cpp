#include "src/sim/report/assets.h"

namespace harmony {

// Texts of the page's data reach the document as text nodes only.
const char *report_map_script() {
  return R"js(
(function() {
'use strict';
document.documentElement.classList.add('js');
const SVG = 'http:' +
            '//www.w3.org/2000/svg';
const tip = document.getElementById('tip');

function make(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

function duration(s) {
  if (s < 200) return Math.round(s) + ' s';
  if (s < 7200) return (s / 60).toFixed(0) + ' min';
  if (s < 72 * 3600) return (s / 3600).toFixed(1) + ' h';
  return (s / 86400).toFixed(1) + ' days';
}

// Every domain's corner, and the size of the whole.
function layOut(nodes) {
  const slot = nodes.length <= 24 ? 22 : nodes.length <= 80 ? 15 : nodes.length <= 200 ? 10 : 7;
  const named = slot >= 15, width = 640, margin = named ? 6 : 3;
  const wide = node => {
    let sum = margin;
    for (let i = 1; i < node.length; i += 2) sum += node[i + 1] * slot + margin;
    return sum;
  };
  const widest = Math.max(3 * slot, ...nodes.map(wide)), columns = Math.max(1, Math.floor(width / (widest + margin)));
  const step = width / columns, top = named ? 16 : margin, strip = named ? 12 : 5, high = top + slot + strip;
  const places = nodes.map((node, n) => {
    const x = n % columns * step, y = Math.floor(n / columns) * (high + margin + 2);
    const domains = new Map();
    let at = x + margin;
    for (let i = 1; i < node.length; i += 2) {
      domains.set(node[i], [ at, y + top, node[i + 1] ]);
      at += node[i + 1] * slot + margin;
    }
    return {x, y, domains};
  });
  const rows = Math.ceil(nodes.length / columns);
  const height = rows * (high + margin + 2);
  return {slot, named, step, top, strip, high, margin, places, width, height, box: step - margin};
}

function drawNodes(svg, nodes, plan) {
  plan.places.forEach((place, n) => {
    make(
        svg, 'rect',
        {x : place.x, y : place.y, width : plan.box, height : plan.high, rx : 3, fill : '#f3f5f7', stroke : '#c3cad2'});
    if (plan.named) {
      const room = Math.floor(plan.box / 6.4), name = nodes[n][0];
      make(svg, 'text', {x : place.x + plan.margin, y : place.y + 12, 'font-size' : 11, fill : '#3a4552'},
           name.length > room ? name.slice(0, Math.max(1, room - 1)) + '\u2026' : name);
    }
    for (const [x, y, gpus] of place.domains.values())
      for (let i = 0; i < gpus; ++i)
        make(svg, 'rect', {
          x : x + i * plan.slot + .5,
          y : y + .5,
          width : plan.slot - 2,
          height : plan.slot - 2,
          fill : '#fff',
          stroke : '#d5dbe1'
        });
  });
}

function colourOf(bins, slowdown) { return (bins.find(bin => slowdown <= bin[0]) || bins[bins.length - 1])[1]; }

function jobAt(event) {
  const cell = event.target.closest('[data-job]');
  return cell ? Number(cell.dataset.job) : null;
}

// Calls use(node, domain, job, gpus, ps, slowdown) for each cell.
function eachCell(frame, use) {
  const c = frame.cells;
  for (let i = 0; i < c.length; i += 6) use(c[i], c[i + 1], c[i + 2], c[i + 3], c[i + 4], c[i + 5] / 100);
}

function drawFrame(layer, frame, data, plan) {
  layer.replaceChildren();
  if (!frame) return;
  const taken = new Map(), servers = new Map();
  eachCell(frame, (node, domain, job, gpus, ps, slowdown) => {
    const place = plan.places[node], colour = colourOf(data.bins, slowdown);
    const corner = place && (place.domains.get(domain) || place.domains.get(-1));
    if (gpus > 0 && corner) {
      const key = node + ':' + corner[0], used = taken.get(key) || 0, wide = gpus * plan.slot - 2;
      taken.set(key, used + gpus);
      const x = corner[0] + used * plan.slot + .5, y = corner[1] + .5;
      make(layer, 'rect', {
        x,
        y,
        width : wide,
        height : plan.slot - 2,
        rx : plan.named ? 2 : 0,
        fill : colour,
        stroke : '#56616d',
        'stroke-width' : .7,
        'data-job' : job
      });
      const text = String(job), size = plan.slot >= 20 ? 10.5 : 8.5;
      if (plan.named && text.length * size * .6 <= wide)
        make(layer, 'text', {
          x : x + wide / 2,
          y : y + plan.slot / 2 + 2.6,
          'font-size' : size,
          'text-anchor' : 'middle',
          fill : slowdown > 2 ? '#fff' : '#111'
        },
             text);
    }
    if (ps > 0 && place) {
      const radius = plan.named ? 3.6 : 1.6, from = servers.get(node) || 0;
      for (let i = 0; i < ps; ++i) {
        const x = place.x + plan.margin + radius + (from + i) * (2 * radius + 1.6);
        if (x + radius > place.x + plan.box) break;
        make(layer, 'circle', {
          cx : x,
          cy : place.y + plan.high - plan.strip / 2,
          r : radius,
          fill : colour,
          stroke : '#56616d',
          'stroke-width' : .7,
          'data-job' : job
        });
      }
      servers.set(node, from + ps);
    }
  });
}

function summary(frame, policy, time) {
  if (!frame || time > policy.ends) return 'Every job has ended by then.';
  const jobs = new Map(), nodes = new Map();
  eachCell(frame, (node, domain, job, gpus, ps, slowdown) => {
    jobs.set(job, slowdown);
    if (!nodes.has(node)) nodes.set(node, new Set());
    nodes.get(node).add(job);
  });
  const slowed = [...jobs.values() ].filter(s => s > 1.25).length;
  const shared = [...nodes.values() ].filter(on => on.size > 1).length;
  let worst = null;
  for (const [job, s] of jobs)
    if (!worst || s > worst[1]) worst = [ job, s ];
  return jobs.size + ' jobs on ' + nodes.size + ' nodes, ' + shared + ' of them shared; ' + slowed +
         ' slowed down by more than a quarter' +
         (worst && worst[1] > 1.05 ? '; worst: job ' + worst[0] + ', ' + worst[1].toFixed(2) + ' times.' : '.');
}

function describe(job, frame, data) {
  const known = data.jobs[job], on = new Set(), beside = new Set();
  let slowdown = 1;
  eachCell(frame, (node, domain, other, gpus, ps, s) => {
    if (other === job) {
      on.add(node);
      slowdown = s;
    }
  });
  eachCell(frame, (node, domain, other) => {
    if (other !== job && on.has(node)) beside.add(other);
  });
  const names =
      [...on ].slice(0, 8).map(n => data.nodes[n] ? data.nodes[n][0] : n).join(', ') + (on.size > 8 ? ' \u2026' : '');
  return 'job ' + job +
         (known ? ': ' + data.types[known[0]] + '\n' + known[1] + ' workers' +
                      (known[2] ? ', ' + known[2] + ' PS' : ', all-reduce') + ', ' + known[3] + ' GPUs'
                : '') +
         '\nslowdown ' + slowdown.toFixed(2) + '\non ' + names +
         (beside.size ? '\nbeside ' + [...beside ].slice(0, 10).join(', ') + (beside.size > 10 ? ' \u2026' : '')
                      : '\nno neighbours');
}

// Two policies side by side at the same time: the same job is marked on both sides.
class ClusterMap {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(document.getElementById(figure.dataset.source).textContent);
    this.plan = layOut(this.data.nodes);
    this.slider = figure.querySelector('input');
    this.button = figure.querySelector('.play');
    this.pinned = this.timer = null;
    this.times = [];
    const holders = [...figure.querySelectorAll('.panel') ];
    if (this.data.policies.length < 2) holders.pop().remove();
    this.panels = holders.map((holder, i) => this.panel(holder, i === 0 ? 0 : this.data.beside));
    this.slider.addEventListener('input', () => {
      this.stop();
      this.draw();
    });
    this.button.addEventListener('click', () => this.timer ? this.stop() : this.play());
    this.retime();
  }

  panel(holder, policy) {
    const select = holder.querySelector('select'), said = document.createElement('p');
    this.data.policies.forEach((each, i) => select.add(new Option(each.name, i)));
    select.value = String(policy);
    select.addEventListener('change', () => this.retime());
    const svg =
        make(holder, 'svg',
             {viewBox : '-1 -1 ' + (this.plan.width + 2) + ' ' + (this.plan.height + 2), 'aria-hidden' : 'true'});
    drawNodes(svg, this.data.nodes, this.plan);
    said.className = 'said';
    holder.appendChild(said);
    const made = {select, said, layer : make(svg, 'g', {}), frame : null};
    svg.addEventListener('mousemove', event => this.point(event, made));
    svg.addEventListener('mouseleave', () => {
      tip.style.display = 'none';
      this.mark(this.pinned);
    });
    svg.addEventListener('click', event => {
      const job = jobAt(event);
      this.pinned = job === this.pinned ? null : job;
      this.mark(this.pinned);
    });
    return made;
  }

  // The slider has a step for each moment that one of the two has; it stays near the time that it was at.
  retime() {
    const now = this.times.length ? this.times[this.slider.value] : null, all = new Set();
    for (const panel of this.panels)
      for (const frame of this.data.policies[panel.select.value].frames) all.add(frame.at);
    this.times = [...all ].sort((a, b) => a - b);
    let at = Math.floor(this.times.length / 3);
    if (now !== null)
      this.times.forEach((t, i) => {
        if (Math.abs(t - now) < Math.abs(this.times[at] - now)) at = i;
      });
    this.slider.max = this.times.length - 1;
    this.slider.value = at;
    this.draw();
  }

  draw() {
    const time = this.times[this.slider.value];
    this.figure.querySelector('output').value = duration(time);
    this.slider.setAttribute('aria-valuetext', duration(time));
    for (const panel of this.panels) {
      const policy = this.data.policies[panel.select.value], past = policy.frames.filter(frame => frame.at <= time);
      panel.frame = time > policy.ends ? null : past[past.length - 1];
      drawFrame(panel.layer, panel.frame, this.data, this.plan);
      panel.said.textContent = summary(panel.frame, policy, time);
    }
    this.mark(this.pinned);
  }

  mark(job) {
    this.figure.querySelector('.maps').classList.toggle('dim', job !== null);
    this.figure.querySelectorAll('[data-job]')
        .forEach(cell => cell.classList.toggle('on', job !== null && Number(cell.dataset.job) === job));
  }

  point(event, panel) {
    const job = jobAt(event);
    tip.style.display = job !== null && panel.frame ? 'block' : 'none';
    if (job === null || !panel.frame) return this.mark(this.pinned);
    tip.textContent = describe(job, panel.frame, this.data);
    tip.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)) + 'px';
    this.mark(job);
  }

  play() {
    if (Number(this.slider.value) >= this.times.length - 1) this.slider.value = 0;
    this.button.textContent = '\u275A\u275A Pause';
    this.timer = setInterval(() => {
      if (Number(this.slider.value) >= this.times.length - 1) return this.stop();
      this.slider.value = Number(this.slider.value) + 1;
      this.draw();
    }, 600);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = '\u25B6 Play';
  }
}

document.querySelectorAll('figure.map').forEach(figure => new ClusterMap(figure));
})();
)js";
}

} // namespace harmony
