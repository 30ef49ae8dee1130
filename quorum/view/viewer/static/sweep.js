/*
 * The page of a sweep: its runs as a sortable, filterable table with a small plot of every metric; or as a
 * map of seeds by arms. With arms, the metrics come before other settings, and columns that the arm implies are folded.
 */
import { button, el, fill, fitted, say } from "./dom.js";
import { treeOf } from "./graph.js";
import { Picks } from "./picks.js";
import { hasSeeds, seedMap } from "./seeds.js";
import { askSweep, pageOf } from "./sources.js";
import { ended, ends, short, shown } from "./text.js";
import { colour, onTheme, themeSwitch } from "./theme.js";
import { Tree, changeWords, instant } from "./tree.js";

const PLOT = { width: 92, height: 28 };
const BINS = 16;
const FEW = 4;
/** The columns before the outcome. */
const FIRST = ["n", "seed", "arm"];

/** Build the page. */
export async function openSweep(root, { up }) {
  const page = new Sweep(await askSweep(up), up);
  fill(root, page.parts());
  page.update();
  onTheme(() => page.update());
  return page;
}

class Sweep {
  /** @param {import("./contract.js").SweepTable} plain */
  constructor(plain, up) {
    this.plain = plain;
    this.up = up;
    this.metrics = [...plain.shown];
    this.sort = { column: "run", way: 1 };
    this.unfolded = false;
    this.metric = this.metrics.find((name) => differs(plain.rows, name)) ?? this.metrics[0] ?? plain.metrics[0] ?? "";
    this.filter = el("input", { type: "search", placeholder: "filter: words, or n=4 outcome=error", "aria-label": "filter the runs" });
    this.filter.addEventListener("input", () => this.update());
    this.count = el("span", { class: "soft" });
    this.head = el("tr");
    this.body = el("tbody");
    this.more = el("select", { "aria-label": "another metric" });
    this.more.addEventListener("change", () => {
      if (this.more.value) this.metrics.push(this.more.value);
      this.update();
    });
    this.table = el("div", { class: "table", tabIndex: 0, role: "region", "aria-label": "the runs" }, el("table", { class: "runs", "aria-label": "the runs" }, el("thead", {}, this.head), this.body));
    this.which = el("select", { "aria-label": "the metric of the map" }, plain.metrics.map((name) => el("option", { value: name, selected: name === this.metric }, name)));
    this.which.addEventListener("change", () => {
      this.metric = this.which.value;
      this.update();
    });
    this.map = el("div", { class: "table", tabIndex: 0, role: "region", "aria-label": "the runs by seed", hidden: true });
    this.fold = button("", "", () => {
      this.unfolded = !this.unfolded;
      this.update();
    });
    this.view = button("seeds by arms", "show the runs as a map of seeds by arms", () => this.#show(this.map));
    this.picks = new Picks(up);
    this.branches = el("div", { class: "table", hidden: true });
    this.asTree = button("branches", "show the runs with branches as trees", () => this.#show(this.branches));
  }

  parts() {
    const { plain } = this;
    return [
      el("header", {},
        el("h1", { title: plain.name }, plain.name),
        plain.simulated ? el("span", { class: "badge", title: "a simulated model answered in some of these runs" }, "simulated") : null,
        this.count,
        plain.missing ? el("span", { class: "soft" }, `${plain.missing} planned runs are missing`) : null,
        el("span", { class: "spring" }),
        this.filter,
        plain.rows.some(({ off }) => off) ? this.asTree : null,
        hasSeeds(plain) && plain.metrics.length ? this.view : null,
        this.which,
        this.more,
        plain.implied.length ? this.fold : null,
        themeSwitch()),
      plain.problems.length ? el("ul", { class: "problems", "aria-live": "assertive" }, plain.problems.map((problem) => el("li", {}, problem))) : null,
      this.picks.root,
      this.table,
      this.map,
      this.branches,
    ];
  }

  /** Show a part instead of the table, or the table again. */
  #show(part) {
    for (const other of [this.map, this.branches]) other.hidden = other !== part || !other.hidden;
    this.update();
  }

  columns() {
    const { plain } = this;
    const factors = plain.factors.map((name, i) => ({ name, of: (row) => row.factors[i] ?? null }));
    const free = factors.filter(({ name }) => !plain.implied.includes(name));
    const metrics = this.metrics.map((name) => ({ name, metric: true, of: (row) => row.metrics[name] ?? null }));
    const rest = free.filter(({ name }) => !FIRST.includes(name));
    const later = [
      ...(plain.factors.includes("arm") || free.length > FEW ? [...metrics, ...rest] : [...rest, ...metrics]),
      ...(this.unfolded ? factors.filter(({ name }) => plain.implied.includes(name)) : []),
      { name: "remark", of: (row) => row.remark },
    ];
    const varies = ({ of }) => new Set(plain.rows.map(of)).size > 1;
    return [
      { name: "run", of: (row) => row.run },
      ...FIRST.flatMap((name) => free.filter((own) => own.name === name)),
      { name: "outcome", of: (row) => row.outcome },
      ...later.filter(varies), ...later.filter((column) => !varies(column)),
    ];
  }

  /** The columns that a filter may name, including folded ones. */
  #known() {
    return [...this.columns(), ...this.plain.factors.map((name, i) => ({ name, of: (row) => row.factors[i] ?? null }))];
  }

  update() {
    const columns = this.columns();
    const rows = this.plain.rows.filter(matching(this.filter.value, this.#known()));
    const sorted = columns.find(({ name }) => name === this.sort.column) ?? columns[0];
    rows.sort((one, other) => this.sort.way * compare(sorted.of(one), sorted.of(other)));
    const nodes = treeOf(rows).filter(({ row }) => row);
    say(this.count, `${rows.length} of ${this.plain.rows.length} runs`);
    this.#controls();
    if (!this.map.hidden) {
      fill(this.map, [seedMap(this.plain, rows, this.metric, this.up)]);
      return;
    }
    if (!this.branches.hidden) {
      const some = new Set(nodes.filter(({ parent, row }) => parent || row.off).flatMap(({ run, parent }) => [run, parent?.run]));
      fill(this.branches, [new Tree(rows.filter(({ run }) => some.has(run)), this.picks, { up: this.up }).root]);
      return;
    }
    fill(this.more, [el("option", { value: "" }, "+ metric"), this.plain.metrics.filter((name) => !this.metrics.includes(name)).map((name) => el("option", { value: name }, name))]);
    const bounds = columns.map((c) => (c.metric ? extent(this.plain.rows.map(c.of)) : null));
    fill(this.head, columns.map((c, i) => this.#heading(c, rows, bounds[i])));
    fill(this.body, nodes.map((node) => this.#row(node, columns, bounds)));
  }

  #controls() {
    const asMap = !this.map.hidden;
    const asTree = !this.branches.hidden;
    for (const part of [this.table, this.more, this.fold]) part.hidden = asMap || asTree;
    this.which.hidden = !asMap;
    this.view.setAttribute("aria-pressed", String(asMap));
    this.asTree.setAttribute("aria-pressed", String(asTree));
    const number = this.plain.implied.length;
    say(this.fold, this.unfolded ? "fold settings" : `+ ${number} setting${number === 1 ? "" : "s"} of the arms`);
    const title = this.unfolded ? "hide the columns that the arm implies" : `show the columns that the arm implies: ${this.plain.implied.join(", ")}`;
    this.fold.title = title;
    this.fold.setAttribute("aria-label", title);
    this.fold.setAttribute("aria-expanded", String(this.unfolded));
  }

  #heading(column, rows, bounds) {
    const sorted = this.sort.column === column.name;
    const sign = sorted ? (this.sort.way > 0 ? " \u25b2" : " \u25bc") : "";
    const [group, name] = column.name.includes(".") ? split(column.name) : ["\u00a0", column.name];
    const sorting = button([el("small", {}, group), `${name}${sign}`], `sort by ${column.name}`, () => {
      this.sort = { column: column.name, way: sorted ? -this.sort.way : 1 };
      this.update();
    });
    const order = sorted ? (this.sort.way > 0 ? "ascending" : "descending") : "none";
    return el("th", { scope: "col", "aria-sort": order }, sorting, bounds && bounds[1] > bounds[0] ? plot(column, rows, bounds) : null);
  }

  /** A line of the table; a branch is below its run, and shows its change. @param {import("./graph.js").Node} node */
  #row({ row, depth }, columns, bounds) {
    return el("tr", {}, columns.map((column, i) => {
      const value = column.of(row);
      if (i === 0) return this.#name(row, depth);
      if (!column.metric) return el("td", { title: String(value ?? ""), class: column.name === "outcome" && !ended(value) ? "bad" : null }, ends(shown(value)));
      const bar = el("i", { class: "bar" });
      const [low, high] = bounds[i];
      bar.style.width = value === null || high === low ? "0" : `${(88 * (value - Math.min(0, low))) / (high - Math.min(0, low))}%`;
      return el("td", { class: "number" }, bar, el("span", {}, shown(value)));
    }));
  }

  #name(row, depth) {
    const { off } = row;
    const name = el("th", { scope: "row" },
      this.picks.box(row.run),
      el("a", { href: pageOf(row.run, this.up), title: row.run }, ends(row.run)),
      row.simulated ? el("span", { class: "badge" }, "simulated") : null,
      off ? el("div", { class: "branch-of", title: off.change }, `from ${instant(off)}: `, el("bdi", {}, short(changeWords(off.change), 90)), off.draw ? `, draw ${off.draw}` : "", depth ? "" : el("span", {}, "; off ", el("bdi", {}, ends(off.run)))) : null);
    name.style.paddingLeft = `${18 * Math.min(depth, 8)}px`;
    return name;
  }
}

/** A histogram of a metric over the rows in view. */
function plot(column, rows, [low, high]) {
  const canvas = el("canvas", { role: "img", "aria-label": `how ${column.name} is spread: ${shown(low)} to ${shown(high)}` });
  const c = fitted(canvas, PLOT.width, PLOT.height);
  const bins = new Array(BINS).fill(0);
  for (const row of rows) {
    const value = column.of(row);
    if (value !== null) bins[high > low ? Math.min(BINS - 1, Math.floor((BINS * (value - low)) / (high - low))) : 0] += 1;
  }
  const most = Math.max(1, ...bins);
  c.fillStyle = colour("stage-r");
  bins.forEach((count, i) => c.fillRect((i * PLOT.width) / BINS, PLOT.height - 1 - ((PLOT.height - 4) * count) / most, PLOT.width / BINS - 1, ((PLOT.height - 4) * count) / most));
  c.fillStyle = colour("line");
  c.fillRect(0, PLOT.height - 1, PLOT.width, 1);
  return [canvas, el("span", { class: "range" }, `${shown(low)} \u2013 ${shown(high)}`)];
}

function split(name) {
  const at = name.lastIndexOf(".");
  return [name.slice(0, at), name.slice(at + 1)];
}

function extent(values) {
  const numbers = values.filter((value) => value !== null);
  return numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 0];
}

function differs(rows, metric) {
  const [low, high] = extent(rows.map((row) => row.metrics[metric] ?? null));
  return low < high;
}

function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

/** A row passes if it contains every word, and if every pair `column=value` holds. */
function matching(text, columns) {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const [name, value] = word.split("=");
    const column = value === undefined ? null : columns.find((c) => c.name.toLowerCase() === name || c.name.toLowerCase().endsWith(`.${name}`));
    if (column) return (row) => String(column.of(row) ?? "").toLowerCase() === value;
    return (row) => columns.some((c) => String(c.of(row) ?? "").toLowerCase().includes(word));
  });
  return (row) => tests.every((test) => test(row));
}
