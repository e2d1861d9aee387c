/* graph_views.js - the rest of the page: facts, details of what is selected, search, tables of
   kernels and lines, the roofline, memory, and the schedule below. */
"use strict";

/* ---- what is selected ---- */

function kernelText(x) {
  return `#${x.i} ${x.label} (${x.name})\n${timeText(x.time)} ${timeName}` +
    (D.measured && x.best ? `, ${timeText(x.best)} at best` : "") + `\n${flopsText(x.flops)}, ${bytesText(x.bytes)}, ${digits(x.intensity)} flop/byte` +
    (x.line ? `\n${x.line}` : "") + (x.scope ? ` (${x.scope})` : "");
}
const facts = rows => h("dl", {}, ...rows.filter(r => r && r[1] !== "" && r[1] !== undefined).flatMap(r => [h("dt", {}, r[0]), h("dd", {}, r[1])]));
function row(content, onclick, part, title) {
  return h("div", {class: "row", onclick, title: title || content}, part ? h("span", {class: "fill", style: `width:${(100 * Math.min(1, part)).toFixed(1)}%`}) : null, content);
}
const nodeRow = n => row(`%${n.id} ${n.op}  ${n.type}  ${n.line}`, () => select({node: n}));
const stepRow = (x, most) => row(`${timeOf(x)}  ${x.label}  ${x.line} ${x.scope}`, () => select(x, true), x.time / most, kernelText(x));
const stepsUnder = g => g.items.flatMap(c => c.group ? stepsUnder(c) : [c]);
function longest(list, n) {
  const sorted = [...list].sort((a, b) => b.time - a.time).slice(0, n), most = sorted.length ? sorted[0].time : 1;
  return sorted.map(x => stepRow(x, most));
}
const rates = x => [["operations", flopsText(x.flops)], ["bytes moved", bytesText(x.bytes)], ["intensity", digits(x.bytes ? x.flops / x.bytes : 0) + " flop/byte"]];
function detailStep(x) {
  const uses = x.buffers.map(b => ({i: "argument " + b[1], o: "result " + b[1], t: "temporary at " + b[1], c: "constant"}[b[0]] + `, ${bytesText(b[2])}`));
  const list = (title, want) => { const l = x.buffers.map((b, i) => [b[3], uses[i]]).filter(b => b[0] === want); return l.length ? [h("h3", {}, title), ...l.slice(0, 40).map(b => h("div", {}, b[1]))] : []; };
  return [h("h2", {}, h("span", {class: "dot", style: `margin-left:0;background:${colourOf(x)}`}), `#${x.i} ${x.label}`),
    facts([[timeName, `${timeText(x.time)}, ${percent(share(x))} of the program`], D.measured && ["least", timeText(x.least)], D.measured && ["at best", timeText(x.best)],
      ["of the roofline", x.roof ? percent(x.roof) + (x.roof > 1 ? x.intensity * D.byte_s < D.flop_s ? ": its data is in caches, which are faster than memory" : ": the limit was measured while others had the machine" : "") : ""], ...rates(x), ["line", x.line], ["scope", x.scope], [x.kind, x.name],
      ["hash", x.kernel], ["rounds", x.rounds]]),
    h("h3", {}, `operations, by share of its work`), ...x.nodes.slice(0, 60).map(([id, part]) => { const n = nodes[id]; return n ? row(`${percent(part)}  ${n.op}  ${n.type}  ${n.line} ${n.scope}`, () => select({node: n}), part) : null; }),
    ...(x.regions || []).flatMap(r => [h("h3", {}, r.name), ...r.steps.slice(0, 100).map(y => h("div", {class: "row"}, `${y.costliest || y.name}  ${flopsText(y.flops)}`))]),
    ...list("reads", 0), ...list("writes", 1)];
}
function detailNode(n) {
  const x = n.step >= 0 ? steps[n.step] : null;
  return [h("h2", {}, `%${n.id} ${n.op}`), facts([["type", n.type], ["attributes", n.attributes], ["line", n.line], ["scope", n.scope],
    ["size", bytesText(sizeOf(n.type))], isResult.has(n.id) && ["is", "a result of the program"], n.input && ["is", "an argument of the program"]]),
    ...(x ? [h("h3", {}, n.share ? `computed by (${percent(n.share)} of it)` : "part of"), stepRow(x, x.time)] : []),
    ...(n.operands.length ? [h("h3", {}, "operands"), ...n.operands.slice(0, 100).map(o => nodeRow(nodes[o]))] : []),
    ...(n.users.length ? [h("h3", {}, "read by"), ...n.users.slice(0, 100).map(u => nodeRow(nodes[u]))] : [])];
}
const machine = `${flopsText(D.flop_s)}/s, ${scaled(D.byte_s, 1000, ["B", "kB", "MB", "GB", "TB"])}/s`;
function detailGroup(g) {
  const under = stepsUnder(g);
  return [h("h2", {}, g === root ? "The whole program" : g.path.slice(1).split("\u0001").join(" / ")),
    facts([[timeName, `${timeText(g.time)}` + (g === root ? "" : `, ${percent(share(g))}`)], D.measured && ["at best", timeText(g.best)], D.measured && ["of the roofline", percent(g.time ? g.best / g.time : 0)],
      ...rates(g), ["kernels", g.count], g === root && ["arguments", bytesText(fixed.input)], g === root && ["results", bytesText(fixed.result) + (D.memory.donated.length ? `; ${D.memory.donated.length} more take over an argument` : "")],
      g === root && ["temporaries", bytesText(D.memory.arena)], g === root && haveLimits && ["machine at best", machine], g === root && ["read from", D.source]]),
    h("h3", {}, "kinds of work"), ...KINDS.map((k, i) => { const t = under.filter(x => x.kindNumber === i).reduce((a, x) => a + x.time, 0);
      return t ? h("div", {class: "row"}, h("span", {class: "fill", style: `width:${(100 * t / g.time).toFixed(1)}%;background:${k[2]}`}), `${percent(t / g.time)}  ${k[1]}`) : null; }),
    h("h3", {}, `longest kernels, ${timeName}`), ...longest(under, 40)];
}
function select(item, go) {
  selected = item;
  const x = item && item.node ? (item.node.step >= 0 ? steps[item.node.step] : null) : item;
  byId("detail").replaceChildren(...(!item ? detailGroup(root) : item.node ? detailNode(item.node) : item.group ? detailGroup(item) : detailStep(item)).filter(e => e));
  byId("detail").scrollTop = 0;
  if (x && (go || item.node)) show(x, Boolean(item.node)); else if (scene) highlight();
  if (x && !x.group) moment(x.i);
}

/* ---- tables ---- */

const tables = {};
/* columns: [heading, value for sorting, text, left]; the first sort is by `by`, downward. */
function table(id, columns, rows, by, onclick) {
  const MOST = 1000;
  const t = tables[id] = {by, down: true};
  const draw = () => {
    const value = columns[t.by][1];
    const sorted = [...rows].sort((a, b) => { const x = value(a), y = value(b); return (x < y ? -1 : x > y ? 1 : 0) * (t.down ? -1 : 1); });
    byId(id).replaceChildren(h("thead", {}, h("tr", {}, ...columns.map((c, i) => h("th", {class: c[3] ? "l" : "", onclick: () => { t.down = t.by === i ? !t.down : !c[3]; t.by = i; draw(); }},
      c[0] + (t.by === i ? (t.down ? " \u25be" : " \u25b4") : ""))))),
      h("tbody", {}, ...sorted.slice(0, MOST).map(r => h("tr", {onclick: () => onclick && onclick(r)}, ...columns.map(c => { const v = c[2](r); return h("td", {class: c[3] ? "l" : "", title: c[3] ? String(v) : undefined}, v); })))));
  };
  draw();
}
const part = x => h("span", {}, percent(x), h("span", {class: "bar", style: `width:${(90 * Math.min(1, x)).toFixed(0)}px`}));
function kernelsView() {
  const rate = x => x.time ? x.flops / x.time : 0;
  table("kernels-table", [["#", x => x.i, x => x.i], ["share", x => x.time, x => part(share(x))], [timeName, x => x.time, timeOf],
    ...(D.measured ? [["at best", x => x.best, x => timeText(x.best)], ["of roof", x => x.roof, roofText], ["Gflop/s", rate, x => digits(rate(x))], ["GB/s", x => x.bytes / x.time, x => digits(x.bytes / x.time)]] : []),
    ["operations", x => x.flops, x => flopsText(x.flops)], ["bytes", x => x.bytes, x => bytesText(x.bytes)], ["flop/byte", x => x.intensity, x => digits(x.intensity)],
    ["costliest", x => x.label, x => h("span", {}, h("span", {class: "dot", style: `margin-left:0;background:${colourOf(x)}`}), x.label), true], ["line", x => x.line, x => x.line, true], ["scope", x => x.scope, x => x.scope, true], ["kernel", x => x.name, x => x.name, true], ["hash", x => x.kernel, x => x.kernel, true]],
    steps, 1, x => { tab("graph"); select(x, true); });
}
function linesView() {
  const rows = {line: new Map(), operation: new Map(), scope: new Map()};
  const add = (map, key, n, time, flops) => {
    const r = map.get(key) || {key, time: 0, flops: 0, count: 0, steps: new Set(), node: n};
    r.time += time; r.flops += flops; r.count++; r.steps.add(n.step); map.set(key, r);
  };
  for (const x of steps)
    for (const [id, p] of x.nodes) {
      const n = nodes[id];
      if (!n) continue;
      add(rows.line, n.line || "(no line)", n, p * x.time, p * x.flops);
      add(rows.operation, n.op, n, p * x.time, p * x.flops);
      add(rows.scope, n.scope || "(no scope)", n, p * x.time, p * x.flops);
    }
  for (const k in rows)
    table(k + "-table", [["share", r => r.time, r => part(share(r))], [timeName, r => r.time, timeOf], ["operations", r => r.flops, r => flopsText(r.flops)], ["nodes", r => r.count, r => r.count], ["kernels", r => r.steps.size, r => r.steps.size], [k, r => r.key, r => r.key, true]],
      [...rows[k].values()], 0, r => { byId("search").value = r.key; search(); });
}

/* ---- roofline ---- */

const ticks = (lo, hi) => { const t = []; for (let e = Math.ceil(Math.log10(lo)); e <= Math.log10(hi); e++) t.push(10 ** e); return t; };
function rooflineView() {
  const list = steps.filter(x => x.flops && x.bytes && x.time), box = byId("roofline");
  if (!haveLimits || !list.length) { box.append(h("p", {class: "note"}, haveLimits ? "No kernel has both operations and bytes." : "The limits of the device are not known: there is no roof to draw. A report of lazuli profile --json has those of a processor.")); return; }
  const Wd = 1080, Ht = 600, L = 70, B = 50, R = 20, T = 20, ridge = D.flop_s / D.byte_s;
  const rate = x => x.flops / x.time * 1e9;
  const xs = list.map(x => x.intensity), ys = list.map(rate);
  const x0 = least(xs, ridge) / 2, x1 = most(xs, ridge) * 3, y1 = most(ys, D.flop_s) * 2, y0 = least(ys, D.byte_s * x0) / 2;
  const X = v => L + (Wd - L - R) * Math.log(v / x0) / Math.log(x1 / x0), Y = v => Ht - B - (Ht - B - T) * Math.log(v / y0) / Math.log(y1 / y0);
  const svg = s("svg", {width: Wd, height: Ht});
  for (const v of ticks(x0, x1)) svg.append(s("path", {d: `M${X(v)} ${T}V${Ht - B}`, stroke: "#eef0f3"}), label(X(v), Ht - B + 18, 11, digits(v), {"text-anchor": "middle"}));
  for (const v of ticks(y0, y1)) svg.append(s("path", {d: `M${L} ${Y(v)}H${Wd - R}`, stroke: "#eef0f3"}), label(L - 6, Y(v) + 4, 11, scaled(v, 1000, ["", "k", "M", "G", "T", "P"]), {"text-anchor": "end"}));
  svg.append(s("path", {d: `M${X(x0)} ${Y(x0 * D.byte_s)}L${X(ridge)} ${Y(D.flop_s)}H${Wd - R}`, fill: "none", stroke: "#1c2430", "stroke-width": 2}),
    label(Wd - R - 4, Y(D.flop_s) - 7, 12, flopsText(D.flop_s) + "/s", {"text-anchor": "end"}), label(X(x0) + 8, Y(x0 * D.byte_s) - 14, 12, scaled(D.byte_s, 1000, ["B", "kB", "MB", "GB", "TB"]) + "/s", {}),
    label((L + Wd) / 2, Ht - 10, 12, "operations per byte moved", {"text-anchor": "middle"}), s("text", {transform: `translate(14,${Ht / 2})rotate(-90)`, "text-anchor": "middle", "font-size": 12}, "operations per second"));
  for (const x of [...list].sort((a, b) => b.time - a.time))
    svg.append(s("circle", {cx: X(x.intensity), cy: Y(rate(x)), r: 3 + 26 * Math.sqrt(share(x)), fill: colourOf(x), "fill-opacity": 0.55, stroke: "#1c2430", "stroke-opacity": 0.35, style: "cursor:pointer",
      onclick: () => { tab("graph"); select(x, true); }}, s("title", {}, kernelText(x))));
  const over = list.filter(x => rate(x) > 1.05 * Math.min(D.flop_s, x.intensity * D.byte_s)).length;
  box.append(h("p", {class: "note"}, D.measured ? "A dot is a kernel: how fast it was, against what this machine can do at best with so many operations per byte (the line, measured). Its area is its share of the time." +
    (over ? ` ${over} dots are above the line: what they read and write stays in the caches, which are faster than memory.` : "")
    : "Times are not measured, so every kernel is on the line: what this machine can do at best with so many operations per byte. --profile REPORT shows how fast they were."), svg,
    h("p", {class: "note"}, ...KINDS.flatMap((k, i) => list.some(x => x.kindNumber === i) ? [h("span", {class: "dot", style: `background:${k[2]}`}), k[1]] : [])));
}

/* ---- memory ---- */

const hue = i => `hsl(${(i * 47) % 360} 55% 72%)`;
function memoryView(at) {
  const list = aliveAt(at), box = byId("memory");
  const Wd = 1080, Ht = 260, arena = D.memory.arena || 1, X = i => Wd * i / steps.length, Y = v => Ht * v / arena;
  const svg = s("svg", {width: Wd, height: Ht, style: "background:#f6f7f9;border:1px solid #d5dae2"});
  buffers.forEach((b, i) => { if (b.kind === "temporary" && b.made >= 0 && b.bytes * 600 > arena) svg.append(s("rect", {x: X(b.made), y: Y(b.at), width: Math.max(1, X(b.end + 1) - X(b.made)), height: Math.max(1, Y(b.bytes)), fill: hue(i), stroke: "#fff", "stroke-width": 0.5,
    onclick: () => select(steps[b.made], false)}, s("title", {}, `${bytesText(b.bytes)} at ${b.at}: ${b.what}\nsteps ${b.made} to ${b.end}`))); });
  svg.append(s("path", {d: `M${X(at + 0.5)} 0V${Ht}`, stroke: "#d0343f", "stroke-width": 1.5}));
  box.replaceChildren(h("h2", {}, `At step ${at}${at === peak ? ", the peak" : ""}: ${bytesText(always + (temps[at] || 0))}`),
    h("p", {class: "note"}, `${bytesText(fixed.input)} of arguments, ${bytesText(fixed.result)} of results and ${bytesText(fixed.constant)} of constants are there all the time, and ${bytesText(temps[at] || 0)} of temporaries now, in an arena of ${bytesText(D.memory.arena)}. Below: the arena, address by step. Click into the schedule to see another step.`),
    svg, h("table", {id: "memory-table"}));
  const link = i => i < 0 ? "" : `#${i} ${steps[i].label}`;
  table("memory-table", [["bytes", b => b.bytes, b => bytesText(b.bytes)], ["kind", b => b.kind, b => b.kind, true], ["what", b => b.what, b => b.what, true], ["made by", b => b.made, b => link(b.made), true], ["last read by", b => b.read, b => link(b.read), true]],
    list.slice(0, 300), 0, b => { const i = b.made >= 0 ? b.made : b.read; if (i >= 0) { tab("graph"); select(steps[i], true); } });
}

/* ---- the schedule: memory and time, step by step ---- */

let moment = () => {}, chosen = -1;
function scheduleView() {
  const svg = byId("schedule"), box = svg.getBoundingClientRect(), L = 76, R = 14, T = 16, H1 = 104, T2 = T + H1 + 18, H2 = 56, Wd = box.width;
  const n = Math.max(1, steps.length), X = i => L + (Wd - L - R) * i / n, top = (always + (temps[peak] || 0)) || 1, Y = v => T + H1 - H1 * v / top;
  const longestTime = most(steps.map(x => x.time), 1e-9);
  svg.replaceChildren();
  const area = (from, to, colour, title) => { let up = `M${L} ${Y(to(0))}`, down = ""; for (let i = 0; i < n; i++) { up += `L${X(i)} ${Y(to(i))}H${X(i + 1)}`; down = `L${X(i)} ${Y(from(i))}` + down; down = `L${X(i + 1)} ${Y(from(i))}` + down; }
    svg.append(s("path", {d: up + down + "Z", fill: colour}, s("title", {}, title))); };
  const levels = [[0, fixed.input, "#9db8e0", "arguments"], [fixed.input, fixed.input + fixed.result, "#b9d7b0", "results"], [fixed.input + fixed.result, always, "#d9d9d9", "constants"]];
  for (const [a, b, colour, name] of levels) if (b > a) svg.append(s("rect", {x: L, y: Y(b), width: Wd - L - R, height: Y(a) - Y(b), fill: colour}, s("title", {}, `${name}: ${bytesText(b - a)}`)));
  if (steps.length) area(() => always, i => always + temps[i], "#f2b36b", "temporaries");
  svg.append(label(L - 6, T + 10, 11, bytesText(top), {"text-anchor": "end"}), label(L - 6, T + H1, 11, "0", {"text-anchor": "end"}), label(8, T + H1 / 2, 12, "memory", {"font-weight": 600}),
    label(8, T2 + 34, 12, "time", {"font-weight": 600}), label(L - 6, T2 + 10, 11, timeOf({time: longestTime}), {"text-anchor": "end"}), label(L, T2 + H2 + 13, 11, "step 0"), label(Wd - R, T2 + H2 + 13, 11, `step ${steps.length - 1}`, {"text-anchor": "end"}));
  for (const x of steps) { const high = Math.max(0.7, H2 * x.time / longestTime); svg.append(s("rect", {x: X(x.i), y: T2 + H2 - high, width: Math.max(0.6, X(x.i + 1) - X(x.i) - (n < 400 ? 0.6 : 0)), height: high, fill: colourOf(x)})); }
  const names = levels.filter(l => l[1] > l[0]).map(l => [l[2], l[3]]).concat(temps[peak] ? [["#f2b36b", "temporaries"]] : []);
  let at = peak < n * 0.6 ? Wd - R - names.reduce((w, x) => w + 24 + 6.4 * x[1].length, 0) : L + 8;
  for (const [colour, name] of names) { svg.append(s("rect", {x: at, y: 3, width: 10, height: 10, fill: colour}), label(at + 14, 12, 11, name, {fill: "#475467"})); at += 24 + 6.4 * name.length; }
  if (temps[peak]) { const right = peak < n * 0.6, p = steps[peak];
    svg.append(s("path", {d: `M${X(peak + 0.5)} ${T - 4}V${T + H1}`, stroke: "#d0343f", "stroke-dasharray": "3 2"}),
      label(X(peak + 0.5) + (right ? 6 : -6), 12, 11, `peak ${bytesText(top)} at step ${peak}: ${shorten(p.label + " " + p.line, 60)}`, {fill: "#d0343f", "text-anchor": right ? "start" : "end", "paint-order": "stroke", stroke: "#fff", "stroke-width": 3})); }
  const cursor = s("path", {stroke: "#1f6feb", "stroke-width": 1.5, d: ""});
  svg.append(cursor);
  moment = i => { cursor.setAttribute("d", `M${X(i + 0.5)} ${T - 2}V${T2 + H2}`); chosen = now = i; if (tabNow === "memory") memoryView(i); };
  if (chosen >= 0) moment(chosen);
  const stepAt = e => Math.min(steps.length - 1, Math.max(0, Math.floor((e.clientX - box.left - L) / (Wd - L - R) * n)));
  svg.onmousemove = e => { if (!steps.length) return; const i = stepAt(e), x = steps[i], tip = byId("tip"); tip.textContent = kernelText(x) + `\nalive: ${bytesText(always + temps[i])}`;
    tip.style.display = "block"; tip.style.left = Math.min(e.clientX + 12, innerWidth - 420) + "px"; tip.style.top = e.clientY - 110 + "px"; };
  svg.onmouseleave = () => { byId("tip").style.display = "none"; };
  svg.onclick = e => { if (!steps.length) return; const x = steps[stepAt(e)]; if (tabNow === "memory") moment(x.i); else { tab("graph"); select(x, true); } };
}

/* ---- search ---- */

function search() {
  const want = byId("search").value.trim().toLowerCase();
  if (!want) { select(null); return; }
  const hits = new Set(nodes.filter(n => n && `%${n.id} ${n.op} ${n.type} ${n.scope} ${n.line}`.toLowerCase().includes(want)));
  const kernels = steps.filter(x => `#${x.i} ${x.name} ${x.kernel}`.toLowerCase().includes(want) || (x.top && hits.has(x.top)));
  byId("detail").replaceChildren(h("h2", {}, `${hits.size} operations, ${kernels.length} kernels`), h("h3", {}, "kernels"), ...longest(kernels, 60), h("h3", {}, "operations"), ...[...hits].slice(0, 200).map(nodeRow));
}

/* ---- the page ---- */

let tabNow = "graph", now = peak;
const made = new Set();
const TABS = [["graph", "Graph", () => startGraph()], ["kernels", "Kernels", kernelsView], ["roofline", "Roofline", rooflineView], ["memory", "Memory", () => {}], ["lines", "Lines", linesView]];
function tab(id) {
  tabNow = id;
  for (const [t, , make] of TABS) {
    byId(t).classList.toggle("on", t === id);
    byId("tab-" + t).classList.toggle("on", t === id);
    if (t === id && !made.has(t)) { made.add(t); make(); }
  }
  if (id === "memory") memoryView(now);
}
function start() {
  document.title = `${D.name}: lazuli graph`;
  const fact = (name, v) => h("span", {}, " ", h("em", {}, v), " " + name);
  document.body.append(h("header", {}, h("b", {}, D.name), h("nav", {}, ...TABS.map(t => h("button", {id: "tab-" + t[0], onclick: () => tab(t[0])}, t[1]))),
    h("span", {class: "facts", title: `${D.source}, ${D.function}`}, fact("operations,", String(nodes.filter(n => n && !n.leaf).length)), fact("kernels,", String(steps.length)),
      D.measured || haveLimits ? fact(timeName + ",", timeText(total.time)) : "", D.measured && total.best ? fact("of the roofline,", percent(total.best / total.time)) : "", h("em", {}, " " + flopsText(total.flops)), ", ", fact("at the peak", bytesText(always + (temps[peak] || 0)))),
    h("input", {id: "search", type: "search", placeholder: "search: operation, scope, line, kernel", oninput: search})),
    h("main", {}, h("div", {id: "graph"}), h("div", {id: "kernels", class: "pad"}, h("table", {id: "kernels-table"})), h("div", {id: "roofline", class: "pad"}), h("div", {id: "memory", class: "pad"}),
      h("div", {id: "lines", class: "pad"}, ...["line", "scope", "operation"].flatMap(k => [h("h2", {}, `By ${k}`), h("table", {id: k + "-table"})]))),
    h("aside", {id: "detail"}), h("footer", {}, s("svg", {id: "schedule"})), h("div", {id: "tip"}));
  scheduleView();
  tab("graph");
  select(null);
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (TABS.some(t => t[0] === wanted)) tab(wanted);
  const step = /^step-(\d+)$/.exec(wanted); /* x.html#step-33 */
  if (step && steps[step[1]]) { open.add(steps[step[1]]); drawGraph(); select(steps[step[1]], true); }
  window.addEventListener("resize", scheduleView);
}
start();
