/* The page of a sweep: its runs as a table that can be sorted and filtered, with a small plot of every metric. */
import { button, el, fill, fitted, say } from "./dom.js";
import { ask } from "./sources.js";
import { short, shown } from "./text.js";
import { colour, onTheme, themeSwitch } from "./theme.js";

const PLOT = { width: 92, height: 28 };
const BINS = 16;

/** Build the page. */
export async function openSweep(root, { up }) {
  const page = new Sweep(await ask(`${up}api/sweep`), up);
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
    this.sort = { column: 0, way: 1 };
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
        this.more,
        themeSwitch()),
      plain.problems.length ? el("ul", { class: "problems", role: "alert" }, plain.problems.map((problem) => el("li", {}, problem))) : null,
      el("div", { class: "table" }, el("table", { class: "runs" }, el("thead", {}, this.head), this.body)),
    ];
  }

  columns() {
    const { plain } = this;
    return [
      { name: "run", of: (row) => row.run },
      { name: "outcome", of: (row) => row.outcome },
      ...plain.factors.map((name, i) => ({ name, of: (row) => row.factors[i] ?? null })),
      ...this.metrics.map((name) => ({ name, metric: true, of: (row) => row.metrics[name] ?? null })),
      { name: "remark", of: (row) => row.remark },
    ];
  }

  update() {
    const columns = this.columns();
    const rows = this.plain.rows.filter(matching(this.filter.value, columns));
    const { column, way } = this.sort;
    rows.sort((one, other) => way * compare(columns[column].of(one), columns[column].of(other)));
    say(this.count, `${rows.length} of ${this.plain.rows.length} runs`);
    fill(this.more, [el("option", { value: "" }, "+ metric"), this.plain.metrics.filter((name) => !this.metrics.includes(name)).map((name) => el("option", { value: name }, name))]);
    const bounds = columns.map((c) => (c.metric ? extent(this.plain.rows.map(c.of)) : null));
    fill(this.head, columns.map((c, i) => this.#heading(c, i, rows, bounds[i])));
    fill(this.body, rows.map((row) => this.#row(row, columns, bounds)));
  }

  #heading(column, index, rows, bounds) {
    const sorted = this.sort.column === index;
    const sign = sorted ? (this.sort.way > 0 ? " \u25b2" : " \u25bc") : "";
    const [group, name] = column.name.includes(".") ? split(column.name) : ["\u00a0", column.name];
    const sorting = button([el("small", {}, group), `${name}${sign}`], `sort by ${column.name}`, () => {
      this.sort = { column: index, way: sorted ? -this.sort.way : 1 };
      this.update();
    });
    const order = sorted ? (this.sort.way > 0 ? "ascending" : "descending") : "none";
    return el("th", { scope: "col", "aria-sort": order }, sorting, bounds && bounds[1] > bounds[0] ? plot(column, rows, bounds) : null);
  }

  #row(row, columns, bounds) {
    return el("tr", {}, columns.map((column, i) => {
      const value = column.of(row);
      if (i === 0) return el("th", { scope: "row" }, el("a", { href: `${this.up}run/${encodeURIComponent(row.run)}` }, row.run), row.simulated ? el("span", { class: "badge" }, "simulated") : null);
      if (!column.metric) return el("td", { title: String(value ?? ""), class: column.name === "outcome" && value !== "completed" ? "bad" : null }, short(shown(value), 60));
      const bar = el("i", { class: "bar" });
      const [low, high] = bounds[i];
      bar.style.width = value === null || high === low ? "0" : `${(88 * (value - Math.min(0, low))) / (high - Math.min(0, low))}%`;
      return el("td", { class: "number" }, bar, el("span", {}, shown(value)));
    }));
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

function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

/** A row passes when it has every word, and when `column=value` holds for every such pair. */
function matching(text, columns) {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const [name, value] = word.split("=");
    const column = value === undefined ? null : columns.find((c) => c.name.toLowerCase() === name || c.name.toLowerCase().endsWith(`.${name}`));
    if (column) return (row) => String(column.of(row) ?? "").toLowerCase() === value;
    return (row) => columns.some((c) => String(c.of(row) ?? "").toLowerCase().includes(word));
  });
  return (row) => tests.every((test) => test(row));
}
