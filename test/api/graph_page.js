/* graph_page.js - runs the script of a page of lazuli graph outside a browser, on elements that only keep what they are given: every
   tab, the search and the details, of as many kernels as are asked for, copies of the page's own.
       node graph_page.js FILE.html KERNELS */
"use strict";
const [, , path, kernels] = process.argv;
const page = require("fs").readFileSync(path, "utf8");
const data = JSON.parse(/id="data">([^]*?)<\/script>/.exec(page)[1]);
const script = /<script>\n([^]*?)<\/script>/.exec(page)[1];
const own = data.steps;
data.steps = Array.from({length: Number(kernels)}, (_, i) => ({...own[i % own.length], flops: i + 1, bytes: i + 1}));
data.flop_s = 1e11;
data.byte_s = 1e10;

const named = {};
class Element {
  style = {};
  classList = {add() {}, remove() {}, toggle() {}};
  children = [];
  append(...c) { for (const x of c) this.children.push(x); }
  replaceChildren(...c) { this.children = c; }
  setAttribute(name, value) { if (name === "id") named[value] = this; }
  addEventListener() {}
  getBoundingClientRect() { return {width: 1000, height: 600, left: 0, top: 0}; }
  get lastChild() { return this.children.at(-1); }
  remove() {}
}
named.data = {textContent: JSON.stringify(data)};
globalThis.document = {getElementById: id => named[id], createElement: () => new Element(), createElementNS: () => new Element(), body: new Element()};
globalThis.window = {addEventListener() {}};
globalThis.location = {hash: ""};
globalThis.innerWidth = 1000;
(0, eval)(`${script}
for (const t of TABS) tab(t[0]);
byId("search").value = nodes.find(n => n).op;
search();
select(steps[0], true);
select({node: nodes.find(n => n)});
allGroups(true);`);
console.log(`${named.schedule.children.length > kernels ? "good" : "not all is drawn"}`);
