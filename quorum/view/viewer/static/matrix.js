/* Who wrote to whom, as a table: a row for each sender, a column for each recipient. */
import { el, fill } from "./dom.js";
import { Sums } from "./traffic.js";

const SHADES = 5;
const MOST_NUMBERED = 24;

export class Matrix {
  /** @param open called with the sender and the recipient of the selected cell. */
  constructor(open) {
    this.open = open;
    this.root = el("div", { class: "matrix" });
    this.root.addEventListener("click", (event) => this.#choose(event.target.closest("td")));
    this.root.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show the sums by `sender * names.length + recipient`; also for participants without messages. */
  show(names, sums, chosen) {
    this.names = names;
    const n = names.length;
    const most = Math.max(1, ...[...sums.values()].map(({ sent }) => sent));
    const numbered = n <= MOST_NUMBERED;
    const brief = names.map(shortName);
    const head = el("tr", {}, el("th", { class: "corner", scope: "col" }, "from \u2193 to \u2192"), names.map((name, i) => el("th", { scope: "col", title: name, "aria-label": name, class: numbered || i % 4 === 0 ? null : "between" }, brief[i])));
    const rows = names.map((name, sender) => el("tr", {}, el("th", { scope: "row", title: name }, name), names.map((other, recipient) => {
      const sum = sums.get(sender * n + recipient);
      const properties = { tabIndex: -1, role: "gridcell", "data-pair": `${sender} ${recipient}`, title: `${name} to ${other}: ${(sum ?? new Sums()).words()}` };
      if (sender === recipient) return el("td", { ...properties, class: "self", title: "" });
      if (!sum) return el("td", properties);
      const marked = sum.never ? " never" : sum.passedOver ? " late" : "";
      const picked = chosen && chosen[0] === sender && chosen[1] === recipient;
      return el("td", { ...properties, class: `shade-${Math.ceil((SHADES * sum.sent) / most)}${marked}`, "aria-selected": String(Boolean(picked)) }, numbered ? String(sum.sent) : "");
    })));
    fill(this.root, [el("table", { role: "grid", "aria-label": "messages: senders in rows, recipients in columns", class: numbered ? null : "small" }, el("thead", {}, head), el("tbody", {}, rows))]);
    const first = this.root.querySelector("td[aria-selected=true]") ?? this.root.querySelector("td[class^=shade]") ?? this.root.querySelector("td");
    if (first) first.tabIndex = 0;
  }

  #choose(cell) {
    if (!cell?.dataset.pair || !cell.className.startsWith("shade")) return;
    this.open(...cell.dataset.pair.split(" ").map(Number));
  }

  #key(event) {
    const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const cell = event.target.closest("td");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.#choose(cell);
    } else if (event.key in ways) {
      event.preventDefault();
      event.stopPropagation();
      const [down, right] = ways[event.key];
      const [sender, recipient] = cell.dataset.pair.split(" ").map(Number);
      const next = this.root.querySelector(`td[data-pair="${sender + down} ${recipient + right}"]`);
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
  }
}

/** agent_12 -> 12 */
function shortName(name) {
  return /\d+$/.exec(name)?.[0] ?? name.slice(0, 2);
}
