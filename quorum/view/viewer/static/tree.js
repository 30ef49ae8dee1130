/* A run and its branches: a line for each, on one axis of steps, with its change and its outcome. */
import { button, el, fill } from "./dom.js";
import { drawGraph, drawTicks, succeeded, treeOf } from "./graph.js";
import { pageOf } from "./sources.js";
import { ends, short, shown } from "./text.js";

export class Tree {
  /**
   * @param {import("./contract.js").RunLine[]} rows
   * @param {import("./picks.js").Picks} picks
   * @param {{ up: string, run?: string }} where address of the front page, and the current run
   */
  constructor(rows, picks, { up, run }) {
    this.nodes = treeOf(rows);
    this.picks = picks;
    this.up = up;
    this.run = run;
    this.folded = new Set();
    this.groups = groupsOf(this.nodes);
    this.root = el("div", { class: "tree", tabIndex: 0, role: "region", "aria-label": "tree of branches" });
    this.#draw();
  }

  #draw() {
    const nodes = this.nodes.filter((node) => !hidden(node, this.groups, this.folded)); // a fold also hides descendants of a draw
    const placed = nodes.map((node) => ({ ...node }));
    const byRun = new Map(placed.map((node) => [node.run, node]));
    placed.forEach((node, index) => Object.assign(node, { index, parent: node.parent && byRun.get(node.parent.run) }));
    const lines = drawGraph(placed);
    fill(this.root, [el("table", { "aria-label": "a run and its branches" },
      el("thead", {}, el("tr", {}, [["graph", [drawTicks(placed), el("span", { class: "unseen" }, "step")]], ["what", "change"], ["from", "from"], ["came", "outcome, goals"], ["number", "steps"], ["number score", "score"], ["", el("span", { title: "two of them side by side" }, "pick")]].map(([kind, text]) => el("th", { scope: "col", class: kind || null }, text)))),
      el("tbody", {}, placed.map((node, i) => this.#row(node, lines[i]))))]);
  }

  #row(node, line) {
    const { row } = node;
    const graph = el("td", { class: "graph" }, line);
    if (!row) return el("tr", { class: "absent" }, graph, el("th", { scope: "row", class: "what" }, el("span", { class: "soft" }, el("bdi", {}, ends(node.run, 80)), ", which is not in this folder")), ["from", "came", "number", "number score", ""].map((kind) => el("td", { class: kind || null })));
    const { off } = row;
    const here = row.run === this.run;
    const words = wordsOf(node);
    const link = here ? el("b", { title: row.run, "aria-current": "page" }, el("bdi", {}, words)) : el("a", { href: `${pageOf(row.run, this.up)}${off ? `#t=${off.t}` : ""}`, title: `${row.run}${off?.change ? `: ${off.change}` : ""}` }, el("bdi", {}, words));
    const group = this.groups.get(node.run);
    const fold = group && group[0].run === node.run ? this.#fold(group) : null;
    const what = el("th", { scope: "row", class: "what" }, link, here ? el("span", { class: "soft" }, " (this run)") : null, fold, row.simulated && !off ? el("span", { class: "badge" }, "simulated") : null);
    what.style.paddingLeft = `${12 + 14 * Math.min(node.depth + (node.again ? 1 : 0), 9)}px`;
    const done = succeeded(node);
    return el("tr", { class: here ? "here" : null, "data-run": row.run },
      graph, what,
      el("td", { class: "from" }, off ? instant(off) : ""),
      el("td", { class: done ? "came" : "came bad", title: row.remark }, outcomeWords(row)),
      el("td", { class: "number" }, shown(row.metrics["outcome.steps"] ?? null)),
      el("td", { class: "number score" }, shown(row.metrics["outcome.score"] ?? null)),
      el("td", {}, this.picks.box(row.run, `${words} ${off ? `from ${instant(off)}` : ""}`)));
  }

  #fold(group) {
    const key = group[0].run;
    const folded = this.folded.has(key);
    const done = group.filter(succeeded).length;
    return button(folded ? `${group.length} draws, ${done} to the goal` : `${group.length} draws`, folded ? "show each draw" : "fold the draws", () => {
      if (folded) this.folded.delete(key);
      else this.folded.add(key);
      this.#draw();
      this.root.querySelector(`tr[data-run="${CSS.escape(key)}"] button`)?.focus();
    }, { class: "link fold", "aria-expanded": String(!folded) });
  }
}

/** The instant of a branch, in the format of `quorum branch --at`. @param {{ t: number, t_hat: number|null }} off */
export function instant({ t, t_hat: tHat }) {
  return tHat === null ? `t = ${shown(t)}` : `t = ${shown(t)}, t^ = ${shown(tHat)}`;
}

/** The label of a run in its tree: its change. */
function wordsOf({ row: { run, off }, again }) {
  if (!off) return short(run, 80);
  if (again) return off.draw ? `draw ${off.draw}` : "the same again";
  return short(changeWords(off.change), 110);
}

/** The outcome of a run. @param {import("./contract.js").RunLine} row */
function outcomeWords({ outcome, metrics }) {
  const share = metrics["outcome.completion"] ?? null;
  return share === null ? outcome : `${outcome}, ${Math.floor(100 * share)} %`;
}

/** The change of a branch, in words. @param {string} change */
export function changeWords(change) {
  return change.replaceAll("agents.members.", "") || "no change";
}

/** The draws of one change, by the name of each of them. */
function groupsOf(nodes) {
  const found = new Map();
  for (const { children } of nodes) {
    let group = [];
    for (const child of children) {
      group = child.again ? group : [];
      group.push(child);
      if (group.length > 1) for (const { run } of group) found.set(run, group);
    }
  }
  return found;
}

/** Whether a node is in a fold, or descends from a folded node. */
function hidden(node, groups, folded) {
  for (let above = node; above; above = above.parent) {
    const group = groups.get(above.run);
    if (group && group[0].run !== above.run && folded.has(group[0].run)) return true;
  }
  return false;
}
