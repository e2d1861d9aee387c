/* graph_tree.js - the graph: name scopes that fold, in them kernels, in those their operations. A
   box's items are in layers: an item is below those that it reads, as far as they come before it in
   the schedule; what a group gives back to an earlier one is drawn dashed. One pass over items and
   edges, whatever is open. */
"use strict";
const open = new Set([root]);
let selected = null;
const W = 196, GROUP_H = 50, KERNEL_H = 46, NODE_H = 24, GAP_X = 18, GAP_Y = 26, PAD = 12, HEAD = 30, WIDEST = 1500;

/* The groups in which most of the time is are open at first, as long as the picture stays small. */
(function openSome() {
  let shown = root.items.length;
  for (;;) {
    let best = null;
    for (const g of open)
      for (const c of g.groups.values())
        if (!open.has(c) && c.items.length <= 14 && shown + c.items.length <= 26 && (!best || c.time > best.time)) best = c;
    if (!best) return;
    open.add(best);
    shown += best.items.length;
  }
})();

/* ---- layout ---- */

/* Layers of items that are in schedule order; edges: Map of Map. */
function layersOf(items, edges) {
  const order = new Map(items.map((x, i) => [x, i]));
  const rank = new Array(items.length).fill(0), layers = [];
  items.forEach((x, i) => {
    for (const to of edges.get(x)?.keys() || []) {
      const k = order.get(to);
      if (k > i) rank[k] = Math.max(rank[k], rank[i] + 1);
    }
    (layers[rank[i]] ||= []).push(x);
  });
  return layers.filter(l => l);
}
/* Places items from (0, 0) on; the size of all. Sizes are there already. */
function place(items, edges) {
  const centre = new Map(), sum = new Map();
  let y = 0, width = 0;
  const rows = [];
  for (const layer of layersOf(items, edges)) {
    for (const x of layer) { const t = sum.get(x); centre.set(x, t ? t[0] / t[1] : 0); }
    layer.sort((a, b) => centre.get(a) - centre.get(b));
    for (let i = 0; i < layer.length;) { /* a wide layer is several rows */
      const row = [];
      let w = 0, high = 0;
      for (; i < layer.length && (row.length === 0 || w + layer[i].w <= WIDEST); i++) {
        row.push(layer[i]);
        w += layer[i].w + GAP_X;
        high = Math.max(high, layer[i].h);
      }
      w -= GAP_X;
      let x = -w / 2;
      for (const item of row) {
        item.x = x; item.y = y;
        for (const to of edges.get(item)?.keys() || []) {
          const t = sum.get(to) || [0, 0];
          t[0] += x + item.w / 2; t[1]++;
          sum.set(to, t);
        }
        x += item.w + GAP_X;
      }
      y += high + GAP_Y;
      width = Math.max(width, w);
      rows.push(row);
    }
  }
  for (const row of rows) for (const item of row) item.x += width / 2;
  return {w: width, h: Math.max(0, y - GAP_Y)};
}
/* The operations of a kernel that are shown, and what goes between them. */
const MOST_NODES = 150;
function openKernel(x) {
  if (!x.boxes) {
    x.boxes = x.members.slice(0, MOST_NODES).map(id => ({node: nodes[id], w: Math.min(W + 90, Math.max(90, 7 * (nodes[id].op.length + nodes[id].type.length) + 26)), h: NODE_H}));
    const of = new Map(x.boxes.map(b => [b.node.id, b]));
    x.inner = new Map();
    for (const b of x.boxes)
      for (const u of b.node.users)
        if (of.has(u)) { if (!x.inner.has(b)) x.inner.set(b, new Map()); x.inner.get(b).set(of.get(u), sizeOf(b.node.type)); }
  }
  const size = place(x.boxes, x.inner);
  x.w = Math.max(W, size.w + 2 * PAD);
  x.h = KERNEL_H + size.h + PAD + (x.members.length > MOST_NODES ? 16 : 0);
}
function measure(item) { /* as deep as scopes nest */
  if (!item.group) {
    item.w = W; item.h = KERNEL_H;
    if (open.has(item)) openKernel(item);
    return;
  }
  if (!open.has(item)) { item.w = W; item.h = GROUP_H; return; }
  for (const c of item.items) measure(c);
  const size = place(item.items, item.edges);
  item.w = Math.max(W, size.w + 2 * PAD);
  item.h = size.h + HEAD + PAD;
}

/* ---- drawing ---- */

/* What is drawn of an item (of a node: by the node): its box, and the edges at it. */
const drawn = new Map(), edgesAt = new Map();
const keyOf = x => x.node || x;
function note(map, key, e) { const l = map.get(key); if (l) l.push(e); else map.set(key, [e]); return e; }
let hot = [];
function highlight() {
  for (const e of hot) e.classList.remove("hot");
  hot = selected ? [...(drawn.get(keyOf(selected)) || []), ...(edgesAt.get(keyOf(selected)) || [])] : [];
  for (const e of hot) e.classList.add("hot");
}

const heat = x => `hsl(32 95% ${(97 - 32 * Math.min(1, Math.sqrt(x))).toFixed(0)}%)`;
function drawEdges(g, items, edges, dx, dy) {
  for (const a of items)
    for (const [b, bytes] of edges.get(a) || []) {
      const back = b.y < a.y + a.h - 1;
      const x1 = dx + a.x + a.w / 2, y1 = dy + a.y + (back ? 0 : a.h), x2 = dx + b.x + b.w / 2, y2 = dy + b.y + (back ? b.h : 0);
      const bend = back ? -20 : Math.max(12, (y2 - y1) / 2);
      const line = s("path", {class: "edge" + (back ? " back" : ""), "stroke-width": (1 + Math.log2(1 + bytes / 65536) / 3).toFixed(1),
        d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, "marker-end": "url(#arrow)"},
        s("title", {}, bytesText(bytes)));
      note(edgesAt, keyOf(a), line);
      note(edgesAt, keyOf(b), line);
      g.append(line);
    }
}
function label(x, y, size, content, more = {}) { return s("text", {x, y, "font-size": size, ...more}, content); }
function drawNode(g, b, dx, dy) {
  const n = b.node, e = s("g", {class: "node", transform: `translate(${dx + b.x},${dy + b.y})`,
    style: "cursor:pointer", onclick: ev => { ev.stopPropagation(); select({node: n}); }},
    s("rect", {width: b.w, height: b.h}), label(9, 16, 12, n.op), label(b.w - 9, 16, 11, shorten(n.type, 26), {"text-anchor": "end", fill: "#667085"}),
    s("title", {}, `%${n.id} ${n.op} ${n.type}\n${n.attributes}\n${n.line} ${n.scope}`));
  g.append(note(drawn, n, e));
}
function drawKernel(g, x, dx, dy) {
  const isOpen = open.has(x);
  const e = s("g", {class: "kernel" + (isOpen ? " open" : ""), transform: `translate(${dx + x.x},${dy + x.y})`});
  const head = s("g", {style: "cursor:pointer", onclick: ev => { ev.stopPropagation(); select(x); }, ondblclick: ev => { ev.stopPropagation(); toggle(x); }});
  e.append(s("rect", {class: "box", width: x.w, height: x.h, fill: isOpen ? undefined : heat(share(x))}));
  head.append(s("rect", {width: x.w, height: KERNEL_H, fill: "transparent"}), s("rect", {width: 5, height: x.h, fill: colourOf(x)}),
    label(13, 17, 12.5, shorten(x.label + (x.members.length > 1 ? ` +${x.members.length - 1}` : ""), 24), {"font-weight": 600}),
    label(13, 35, 11, timeOf(x) + "  \u00b7  " + (x.roof > 1 ? above(x) : x.roof ? percent(x.roof) + " of roof" : share(x) >= 0.001 ? percent(share(x)) : ""), {fill: "#475467"}),
    label(x.w - 26, 35, 10.5, "#" + x.i, {"text-anchor": "end", fill: "#98a2b3"}),
    s("title", {}, kernelText(x)));
  e.append(head, fold(x, x.w - 22, 7));
  if (isOpen) {
    const inner = s("g", {});
    drawEdges(inner, x.boxes, x.inner, PAD, KERNEL_H);
    for (const b of x.boxes) drawNode(inner, b, PAD, KERNEL_H);
    if (x.members.length > MOST_NODES) inner.append(label(PAD, x.h - 7, 11, `and ${x.members.length - MOST_NODES} more operations`, {fill: "#667085"}));
    e.append(inner);
  }
  g.append(note(drawn, x, e));
}
/* + or - in a corner. */
function fold(x, left, top) {
  return s("g", {transform: `translate(${left},${top})`, style: "cursor:pointer", onclick: ev => { ev.stopPropagation(); toggle(x); }},
    s("rect", {width: 15, height: 15, fill: "#fff", stroke: "#98a2b3", rx: 3}),
    s("path", {d: open.has(x) ? "M4 7.5H11" : "M4 7.5H11M7.5 4V11", stroke: "#344054", "stroke-width": 1.4}));
}
function drawGroup(g, x, dx, dy) {
  const isOpen = open.has(x), e = s("g", {class: "group" + (isOpen ? " open" : ""), transform: `translate(${dx + x.x},${dy + x.y})`});
  e.append(s("rect", {width: x.w, height: x.h, style: isOpen ? undefined : "fill:" + heat(share(x))}));
  const head = s("g", {style: "cursor:pointer", onclick: ev => { ev.stopPropagation(); select(x); }, ondblclick: ev => { ev.stopPropagation(); toggle(x); }},
    s("rect", {width: x.w, height: isOpen ? HEAD : x.h, fill: "transparent"}), label(12, 19, 13, shorten(x.name, isOpen ? Math.max(22, x.w / 9) : 22), {"font-weight": 700}),
    s("title", {}, `${x.name}: ${x.count} kernels, ${timeText(x.time)} ${timeName}`));
  const said = `${timeOf(x)}  \u00b7  ${percent(share(x))}`;
  head.append(isOpen ? label(x.w - 32, 19, 11, said, {"text-anchor": "end", fill: "#475467"})
    : label(12, 38, 11, `${said}  \u00b7  ${x.count} kernel${x.count > 1 ? "s" : ""}`, {fill: "#475467"}));
  if (isOpen && x.w < 330) head.lastChild.remove();
  e.append(head, fold(x, x.w - 24, 8));
  if (isOpen) { const inner = s("g", {}); drawItems(inner, x, PAD, HEAD); e.append(inner); }
  g.append(note(drawn, x, e));
}
function drawItems(g, x, dx, dy) {
  drawEdges(g, x.items, x.edges, dx, dy);
  for (const c of x.items) (c.group ? drawGroup : drawKernel)(g, c, dx, dy);
}

/* ---- moving about ---- */

const view = {x: 0, y: 0, k: 1};
let scene = null, moved = false;
const applyView = () => scene.setAttribute("transform", `translate(${view.x},${view.y})scale(${view.k})`);
function drawGraph() {
  measure(root);
  drawn.clear();
  edgesAt.clear();
  scene.replaceChildren();
  drawItems(scene, root, 0, 0);
  highlight();
}
function fit() {
  const box = byId("graph").getBoundingClientRect();
  view.k = Math.min(1.1, Math.max(0.18, (box.width - 40) / root.w), Math.max(0.55, (box.height - 90) / root.h));
  view.x = Math.max(20, (box.width - root.w * view.k) / 2);
  view.y = 54;
  applyView();
}
function positionOf(item) { /* in the scene */
  let x = item.x, y = item.y;
  for (let p = item.parent; p && p !== root; p = p.parent) { x += p.x + PAD; y += p.y + HEAD; }
  return [x + item.w / 2, y + Math.min(item.h, 200) / 2];
}
function show(item, inside) { /* opens what it is in, with `inside` itself, and goes there */
  const before = open.size;
  for (let p = inside ? item : item.parent; p; p = p.parent) open.add(p);
  if (open.size > before) drawGraph(); else highlight();
  const box = byId("graph").getBoundingClientRect(), [x, y] = positionOf(item);
  view.k = Math.max(view.k, 0.7);
  view.x = box.width / 2 - x * view.k;
  view.y = box.height / 2 - y * view.k;
  applyView();
}
function toggle(x) { /* the box stays where it is */
  const before = positionOf(x);
  if (open.has(x)) open.delete(x); else open.add(x);
  drawGraph();
  const after = positionOf(x);
  view.x += (before[0] - after[0]) * view.k;
  applyView();
}
function allGroups(on) {
  const list = [...root.groups.values()];
  open.clear(); open.add(root);
  while (list.length && on) { const g = list.pop(); open.add(g); for (const c of g.groups.values()) list.push(c); }
  drawGraph(); fit();
}
function startGraph() {
  scene = s("g", {});
  const svg = s("svg", {}, s("defs", {}, s("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto",
    markerUnits: "userSpaceOnUse"}, s("path", {d: "M0 1L7 4L0 7z", fill: "#8c98a9"}))), scene);
  svg.addEventListener("wheel", e => {
    e.preventDefault();
    const box = svg.getBoundingClientRect(), k = Math.min(4, Math.max(0.03, view.k * Math.exp(-e.deltaY * 0.0015)));
    view.x = e.clientX - box.left - (e.clientX - box.left - view.x) * k / view.k;
    view.y = e.clientY - box.top - (e.clientY - box.top - view.y) * k / view.k;
    view.k = k;
    applyView();
  }, {passive: false});
  let from = null;
  svg.addEventListener("pointerdown", e => { from = [e.clientX - view.x, e.clientY - view.y, e.clientX, e.clientY]; moved = false; });
  window.addEventListener("pointermove", e => {
    if (!from) return;
    moved ||= Math.hypot(e.clientX - from[2], e.clientY - from[3]) > 4;
    view.x = e.clientX - from[0]; view.y = e.clientY - from[1];
    if (moved) applyView();
  });
  window.addEventListener("pointerup", () => { from = null; });
  svg.addEventListener("click", e => { if (moved) e.stopPropagation(); else select(null); }, true);
  const used = new Set(steps.map(x => x.kindNumber));
  byId("graph").append(svg, h("div", {class: "tools"}, h("button", {onclick: fit}, "fit"), h("button", {onclick: () => allGroups(true)}, "open scopes"),
    h("button", {onclick: () => allGroups(false)}, "fold scopes")),
    h("div", {class: "legend"}, ...KINDS.flatMap((k, i) => used.has(i) ? [h("i", {style: `background:${k[2]}`}), k[1]] : []),
      h("i", {style: `background:${heat(0.6)}`}), "share of the time", " \u00a0 + opens a scope, or a kernel's operations"));
  drawGraph();
  fit();
}
