/* graph_model.js - what the page shows: nodes, steps and name scopes, read from the data. A node is
   shown in the first step that computes it; what no step names (views, which cost nothing) with the
   step that reads it. A step is in the scope of its costliest node. */
"use strict";
const D = JSON.parse(document.getElementById("data").textContent);

/* ---- numbers ---- */

/* Of lists of any length, which no call takes as its arguments. */
const least = (list, first) => list.reduce((a, b) => Math.min(a, b), first);
const most = (list, first) => list.reduce((a, b) => Math.max(a, b), first);

function digits(v, n = 3) {
  return v === 0 ? "0" : v >= 1000 ? v.toFixed(0) : Number(v.toPrecision(n)).toString();
}
function scaled(v, base, units) {
  let i = 0;
  for (; v >= base && i < units.length - 1; i++) v /= base;
  return digits(v) + " " + units[i];
}
const bytesText = v => scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const flopsText = v => scaled(v, 1000, ["flop", "kflop", "Mflop", "Gflop", "Tflop"]);
const timeText = ns => ns ? scaled(ns, 1000, ["ns", "\u00b5s", "ms", "s"]) : "-";
const percent = x => digits(100 * x, x < 0.1 ? 2 : 3) + " %";

/* ---- elements; texts are never markup ---- */

const SVG = "http://www.w3.org/2000/svg";
function fill(e, attributes, children) {
  for (const k in attributes)
    if (k.startsWith("on")) e.addEventListener(k.slice(2), attributes[k]);
    else if (attributes[k] !== undefined) e.setAttribute(k, attributes[k]);
  for (const c of children) if (c !== null && c !== undefined) e.append(c);
  return e;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = id => document.getElementById(id);
function shorten(text, n) {
  return text.length <= n ? text : text.slice(0, Math.ceil(n * 0.6)) + "\u2026" + text.slice(-Math.floor(n * 0.4 - 1));
}

/* ---- kinds of work, by the class of the costliest operation ---- */

const KINDS = [
  ["dot", "products, convolutions", "#3b7dd8"], ["reduce", "reductions", "#2a9d6f"],
  ["elementwise", "elementwise", "#e0a11b"], ["move", "data movement", "#9a6fd0"],
  ["control", "control flow, calls", "#d0568e"], ["other", "other", "#7b8794"]];
const KIND_OF = {dot: 0, window: 0, reduce: 1, elementwise: 2, rng: 2, move: 3, index: 3, leaf: 3, control: 4, call: 4, collective: 4};
const kindOf = cls => KIND_OF[cls] ?? 5;
const colourOf = step => KINDS[step.kindNumber][2];

/* ---- nodes ---- */

const text = (table, i) => i < 0 ? "" : table[i];
const nodes = D.nodes.map((n, id) => n && {
  id, op: D.operations[n[0]][0], cls: D.operations[n[0]][1], type: text(D.types, n[1]), scope: text(D.scopes, n[2]),
  line: text(D.lines, n[3]), operands: n[4], attributes: n[5], users: [], step: -1, share: 0,
  input: id < D.parameters, leaf: id < D.parameters || D.operations[n[0]][0] === "constant"});
for (const n of nodes)
  if (n) for (const o of new Set(n.operands)) nodes[o].users.push(n.id);
const isResult = new Set(D.results);

/* ---- steps ---- */

const runs = (() => { /* of the program: most launches run once in each */
  const calls = D.steps.map(x => x.calls || 0).filter(c => c).sort((a, b) => a - b);
  return calls.length ? calls[calls.length >> 1] : 1;
})();
/* A step's time in a run of the program; of control flow that of what it runs. */
function measured(x) {
  let ns = x.ns ? x.ns * x.calls / runs : 0;
  for (const r of x.regions || []) for (const y of r.steps) ns += measured(y);
  return ns;
}
const haveLimits = D.flop_s > 0 && D.byte_s > 0;
const steps = D.steps.map((x, i) => {
  const step = Object.assign({}, x, {
    i, best: x.estimate_ns || 0, time: D.measured ? measured(x) : x.estimate_ns || Math.max(x.flops / 10, x.bytes),
    least: x.least_ns || 0, intensity: x.bytes ? x.flops / x.bytes : 0, members: []});
  for (const [id, share] of x.nodes) {
    const n = nodes[id];
    if (!n) continue;
    if (n.step < 0) { n.step = i; n.share = share; }
  }
  const top = x.nodes.length ? nodes[x.nodes[0][0]] : null;
  step.top = top;
  step.scope = top ? top.scope : "";
  step.line = top ? top.line : "";
  step.label = top ? top.op : x.name;
  step.kindNumber = x.kind === "kernel" && top ? kindOf(top.cls) : x.kind === "routine" ? 5 : 4;
  step.roof = D.measured && step.time && step.best ? step.best / step.time : 0;
  return step;
});
for (let id = nodes.length - 1; id >= 0; id--) { /* views: with what reads them */
  const n = nodes[id];
  if (!n || n.step >= 0 || n.leaf) continue;
  let first = Infinity;
  for (const u of n.users) if (nodes[u].step >= 0) first = Math.min(first, nodes[u].step);
  if (first < Infinity) n.step = first;
}
for (const n of nodes) { /* results that are views */
  if (!n || n.step >= 0 || n.leaf) continue;
  for (const o of n.operands) if (nodes[o].step >= 0 && n.step < 0) n.step = nodes[o].step;
}
for (const n of nodes) if (n && n.step >= 0) steps[n.step].members.push(n.id);
const total = {time: 0, best: 0, flops: 0, bytes: 0};
for (const x of steps) { total.time += x.time; total.best += x.best; total.flops += x.flops; total.bytes += x.bytes; }
const share = x => total.time ? x.time / total.time : 0;
const timeName = D.measured ? "measured" : haveLimits ? "at best" : "estimated";
const timeOf = x => D.measured || haveLimits ? timeText(x.time) : percent(share(x));

/* More than the roofline allows is never said without a word. */
const above = x => x.roof <= 1 ? "" : x.intensity * D.byte_s < D.flop_s ? "in caches" : "limit too low";
const roofText = x => !x.roof ? "-" : percent(x.roof) + (x.roof > 1 ? `, ${above(x)}` : "");

/* ---- name scopes ---- */

/* "transpose(net/blocks.0.up)": transpose(net), blocks.0, up. Groups are walked by recursion: what
   is deeper is in one. */
const DEEPEST = 100;
function scopePath(scope) {
  let marks = 0;
  while (scope.startsWith("transpose(") && scope.endsWith(")")) { scope = scope.slice(10, -1); marks++; }
  const path = [];
  let depth = 0, from = 0;
  for (let i = 0; i <= scope.length; i++) {
    if (scope[i] === "(") depth++;
    else if (scope[i] === ")") depth--;
    if (i === scope.length || (scope[i] === "/" && depth <= 0)) {
      if (i > from) for (const part of scope.slice(from, i).split(/\.(?=\D)/)) path.push(part);
      from = i + 1;
    }
  }
  if (path.length) path[0] = "transpose(".repeat(marks) + path[0] + ")".repeat(marks);
  if (path.length > DEEPEST) path.push(path.splice(DEEPEST - 1).join("/"));
  return path;
}
function newGroup(name, parent) {
  return {group: true, name, parent, path: parent ? parent.path + "\u0001" + name : "", groups: new Map(), items: [],
    time: 0, best: 0, flops: 0, bytes: 0, count: 0, first: Infinity, edges: new Map(), depth: parent ? parent.depth + 1 : 0};
}
const root = newGroup("", null);
/* Steps without a scope are together by their lines. */
const pathOf = x => x.scope ? scopePath(x.scope) : x.line ? [x.line.replace(/^.*\//, "")] : [];
for (const x of steps) {
  let g = root;
  for (const name of pathOf(x)) {
    if (!g.groups.has(name)) { const c = newGroup(name, g); g.groups.set(name, c); g.items.push(c); }
    g = g.groups.get(name);
  }
  x.parent = g;
  x.depth = g.depth + 1;
  g.items.push(x);
  for (; g; g = g.parent) {
    g.time += x.time; g.best += x.best; g.flops += x.flops; g.bytes += x.bytes; g.count++;
    g.first = Math.min(g.first, x.i);
  }
}
const first = item => item.group ? item.first : item.i;
(function sort(g) { g.items.sort((a, b) => first(a) - first(b)); for (const c of g.groups.values()) sort(c); })(root);

/* An edge is kept where both ends are in one group: between two of its items. */
const sizeOf = t => { /* bytes of "f32[2,3]" */
  const m = /^([a-z]+)(\d*)\w*\[([\d,]*)\]/.exec(t);
  if (!m) return 0;
  return (m[3] ? m[3].split(",").reduce((a, b) => a * b, 1) : 1) * (m[1] === "bool" || m[1] === "pred" ? 1 : (m[2] || 32) / 8);
};
function addEdge(from, to, bytes) {
  let a = from, b = to;
  while (a.depth > b.depth) a = a.parent;
  while (b.depth > a.depth) b = b.parent;
  while (a.parent !== b.parent) { a = a.parent; b = b.parent; }
  if (a === b) return;
  const edges = a.parent.edges;
  if (!edges.has(a)) edges.set(a, new Map());
  edges.get(a).set(b, (edges.get(a).get(b) || 0) + bytes);
}
for (const n of nodes) {
  if (!n || n.step < 0) continue;
  const readers = new Set(n.users.map(u => nodes[u].step).filter(x => x >= 0 && x !== n.step));
  for (const r of readers) addEdge(steps[n.step], steps[r], sizeOf(n.type));
}

/* ---- memory ---- */

const buffers = D.memory.buffers.map(b => ({kind: b[0], at: b[1], bytes: b[2], made: b[3], read: b[4], end: b[5], what: b[6]}));
const fixed = {input: 0, result: 0, constant: D.memory.constants};
for (const b of buffers) if (b.kind !== "temporary") fixed[b.kind] += b.bytes;
const always = fixed.input + fixed.result + fixed.constant;
const temps = (() => { /* bytes of temporaries at each step */
  const change = new Float64Array(steps.length + 1);
  for (const b of buffers)
    if (b.kind === "temporary" && b.made >= 0) { change[b.made] += b.bytes; change[Math.min(b.end, steps.length - 1) + 1] -= b.bytes; }
  let now = 0;
  return Array.from(steps, (_, i) => now += change[i]);
})();
const peak = temps.reduce((best, v, i) => v > temps[best] ? i : best, 0);
const aliveAt = i => buffers.filter(b => b.kind !== "temporary" || (b.made <= i && i <= b.end)).sort((a, b) => b.bytes - a.bytes);
