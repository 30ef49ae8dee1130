/* The tree of runs and their branches: its order, and its drawing. */

const SVG = "http://www.w3.org/2000/svg";
const ROOM = 2.5;

/**
 * @typedef {object} Node
 * @property {import("./contract.js").RunLine|null} row null for a missing parent of branches
 * @property {string} run its name
 * @property {Node|null} parent
 * @property {Node[]} children the latest first, so that no line crosses another
 * @property {number} depth
 * @property {number} index its position in the order
 * @property {boolean} again whether the previous branch of the same run is another draw of the same change
 */

/**
 * Order runs so that each is below its parent.
 * @param {import("./contract.js").RunLine[]} rows
 * @param {(one: Node, other: Node) => number} [order] order of runs without a parent; by default, their given order
 * @returns {Node[]}
 */
export function treeOf(rows, order) {
  const nodes = new Map();
  const add = (run, row) => nodes.set(run, { row, run, parent: null, children: [], depth: 0, index: -1, again: false });
  for (const row of rows) add(row.run, row);
  for (const { off } of rows) if (off && !nodes.has(off.run)) add(off.run, null);
  const roots = [];
  for (const node of nodes.values()) {
    const parent = node.row?.off && nodes.get(node.row.off.run);
    if (parent && !isAbove(node, parent)) {
      node.parent = parent;
      parent.children.push(node);
    } else roots.push(node);
  }
  if (order) roots.sort(order);
  const found = [];
  const waiting = roots.reverse();
  while (waiting.length) {
    const node = waiting.pop();
    node.index = found.length;
    node.depth = node.parent ? node.parent.depth + 1 : 0;
    found.push(node);
    node.children.sort(later);
    node.children.forEach((child, i) => {
      child.again = i > 0 && sameChange(node.children[i - 1], child);
    });
    waiting.push(...[...node.children].reverse());
  }
  return found;
}

/** Whether a node is its own ancestor through `node`: untrusted runs may name each other. */
function isAbove(node, other) {
  for (let above = other; above; above = above.parent) if (above === node) return true;
  return false;
}

function later({ row: { off: one } }, { row: { off: other } }) {
  return other.t - one.t || (other.t_hat ?? -1) - (one.t_hat ?? -1) || one.change.localeCompare(other.change, "en") || one.draw - other.draw;
}

function sameChange(one, other) {
  const [a, b] = [one.row.off, other.row.off];
  return a.t === b.t && a.t_hat === b.t_hat && a.change === b.change;
}

/** Whether a run finished its task. @param {Node} node */
export function succeeded({ row }) {
  return row.outcome === "success";
}

/** The last step of a run; null if it is unknown. @param {Node} node */
export function lastStep({ row }) {
  return row?.metrics["outcome.steps"] ?? null;
}

/** The longest of the runs, in steps. @param {Node[]} nodes */
export function longest(nodes) {
  return Math.max(1, ...nodes.map((node) => Math.max(lastStep(node) ?? 0, node.row?.off?.t ?? 0)));
}

/** The position of a step, in percent of the width. */
export function placeOf(t, last) {
  return ROOM + ((100 - 2 * ROOM) * Math.min(t, last)) / last;
}

/** Draw the lines of all nodes: a drawing for each, as wide and as high as its row. @param {Node[]} nodes */
export function drawGraph(nodes) {
  const last = longest(nodes);
  const through = nodes.map(() => new Map());
  for (const node of nodes) {
    if (!node.parent) continue;
    const x = placeOf(node.row.off.t, last);
    for (let i = node.parent.index; i <= node.index; i++) {
      const [top, bottom] = through[i].get(x) ?? [100, 0];
      through[i].set(x, [Math.min(top, i === node.parent.index ? 50 : 0), Math.max(bottom, i === node.index ? 50 : 100)]);
    }
  }
  return nodes.map((node, i) => {
    const from = placeOf(node.row?.off && node.parent ? node.row.off.t : 0, last);
    const end = lastStep(node);
    const done = node.row && succeeded(node);
    const to = placeOf(end ?? (node.row ? node.row.off?.t ?? 0 : last), last);
    return drawing("svg", { class: "graph-line", "aria-hidden": "true" },
      [...through[i]].map(([x, [top, bottom]]) => drawing("line", { x1: `${x}%`, x2: `${x}%`, y1: `${top}%`, y2: `${bottom}%`, class: "stem" })),
      drawing("line", { x1: `${from}%`, x2: `${Math.max(from, to)}%`, y1: "50%", y2: "50%", class: !node.row ? "absent" : done ? "done" : "undone" }),
      node.parent ? drawing("circle", { cx: `${from}%`, cy: "50%", r: 3, class: "joint" }) : null,
      node.row ? (done ? drawing("circle", { cx: `${to}%`, cy: "50%", r: 5, class: "done" }) : drawing("circle", { cx: `${to}%`, cy: "50%", r: 4.5, class: "open" })) : null);
  });
}

/** The step labels above the lines: few enough to be readable. */
export function ticks(nodes) {
  const last = longest(nodes);
  const every = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000].find((k) => last / k <= 6) ?? Math.ceil(last / 6);
  const found = [];
  for (let t = 0; t <= last; t += every) found.push([t, placeOf(t, last)]);
  return found;
}

/** Draw the steps above the lines. @param {Node[]} nodes */
export function drawTicks(nodes) {
  return drawing("svg", { class: "graph-ticks", "aria-hidden": "true" }, ticks(nodes).map(([t, x]) => {
    const text = drawing("text", { x: `${x}%`, y: "75%", "text-anchor": t ? "middle" : "start" });
    text.textContent = t.toLocaleString("en");
    return text;
  }));
}

function drawing(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children.flat().filter(Boolean));
  return element;
}
