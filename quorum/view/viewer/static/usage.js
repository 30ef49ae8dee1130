/* The lane of tokens and money: tokens written by thoughts above the line, tokens read below it, and the money so far. */
import { el } from "./dom.js";
import { instantLink } from "./links.js";
import { lastUpTo } from "./order.js";
import { texture } from "./kinds.js";
import { shown } from "./text.js";
import { colour } from "./theme.js";

const BAR = 6;
const SUMS = ["prompt", "completion", "reasoning", "usd", "untold", "simulated"];

/** The usage of a page by position on the axis, with running sums: `sums[k][i]` before the thought `i`. */
export class Usage {
  /** @param {import("./contract.js").Page} page @param {import("./axis.js").Axis} axis */
  constructor(page, axis) {
    const rows = page.usage.map((row) => ({ row, x: axis.at(row[0], row[1]) })).sort((one, other) => one.x - other.x);
    this.rows = rows.map(({ row }) => row);
    this.places = Float64Array.from(rows, ({ x }) => x);
    this.sums = SUMS.map((_, k) => {
      const sums = new Float64Array(rows.length + 1);
      sums[0] = page.spent[k];
      this.rows.forEach((row, i) => (sums[i + 1] = sums[i] + row[3 + k]));
      return sums;
    });
  }

  /** Whether there is anything to show. */
  get any() {
    return this.rows.length > 0 || this.sums.some((sums) => sums[0] > 0);
  }

  /** The cost of the thoughts from number `first` up to `last`. */
  between(first, last) {
    return Object.fromEntries(SUMS.map((name, k) => [name, this.sums[k][last] - this.sums[k][first]]));
  }

  /** The cost from the start of the run up to a position. */
  upTo(place) {
    const count = lastUpTo(this.places, place) + 1;
    return Object.fromEntries(SUMS.map((name, k) => [name, this.sums[k][count]]));
  }
}

/** Return the cost in words. */
export function usageWords({ prompt, completion, reasoning, usd, untold, simulated }) {
  const parts = [`${shown(prompt)} tokens in`, `${shown(completion)} out${reasoning ? ` (${shown(reasoning)} of thoughts)` : ""}`, `$${shown(usd)}`];
  if (untold) parts.push(`${untold === 1 ? "a call does" : `${shown(untold)} calls do`} not report everything`);
  if (simulated) parts.push("simulated");
  return parts.join(", ");
}

/** Draw the lane. Thoughts that end within the width of a bar are one bar, so the bars always add up to the total. */
export function drawUsage(view, row, y) {
  const { c, model: { usage, axis } } = view;
  const middle = y + Math.round(row.height * 0.58);
  const wide = BAR / view.scale;
  const bars = [];
  let first = lastUpTo(usage.places, view.from - wide) + 1;
  while (first < usage.rows.length && usage.places[first] <= view.to) {
    const bucket = Math.floor(usage.places[first] / wide);
    const last = Math.max(first, lastUpTo(usage.places, (bucket + 1) * wide - wide * 1e-9)) + 1;
    bars.push({ x: view.x(bucket * wide), first, last, ...usage.between(first, last) });
    first = last;
  }
  const most = (name) => bars.reduce((found, bar) => Math.max(found, bar[name]), 1);
  const [up, down] = [(middle - y - 3) / most("completion"), (y + row.height - 3 - middle) / most("prompt")];
  for (const { x, prompt, completion, reasoning, ...rest } of bars) {
    c.fillStyle = colour("tokens-out");
    c.fillRect(x, middle - completion * up, BAR - 1, completion * up);
    if (reasoning) {
      c.fillStyle = texture(c, "stripes", colour("paper"));
      c.fillRect(x, middle - reasoning * up, BAR - 1, reasoning * up);
    }
    c.fillStyle = colour("tokens-in");
    c.fillRect(x, middle + 1, BAR - 1, prompt * down);
    view.hits.push([x - 1, y, x + BAR, y + row.height, "usage", { prompt, completion, reasoning, ...rest }]);
  }
  c.fillStyle = colour("soft");
  c.fillRect(view.gutter, middle, view.width - view.gutter, 1);
  money(view, row, y, usage.upTo(axis.length).usd);
}

function money(view, row, y, highest) {
  const { c, model: { usage, axis } } = view;
  if (!highest) return;
  const place = (usd) => y + row.height - 3 - ((row.height - 6) * usd) / highest;
  c.beginPath();
  let at = place(usage.upTo(view.from).usd);
  c.moveTo(view.gutter, at);
  for (let i = lastUpTo(usage.places, view.from) + 1; i < usage.rows.length && usage.places[i] <= view.to; i++) {
    const x = view.x(usage.places[i]);
    c.lineTo(x, at);
    at = place(usage.sums[3][i + 1]);
    c.lineTo(x, at);
  }
  c.lineTo(view.x(axis.length), at);
  c.strokeStyle = colour("ink");
  c.lineWidth = 1.5;
  c.setLineDash([5, 3]);
  c.stroke();
  c.setLineDash([]);
}

/** Make the lines of a bar: the cost of each of its thoughts. @param seek called with its `t`. */
export function usageLines(model, { first, last, ...sums }, seek) {
  const lines = model.usage.rows.slice(first, last).map(([t, tHat, agent, ...values]) => el("li", {},
    el("b", {}, el("bdi", {}, model.name(agent))), " at ", instantLink(seek, t, tHat),
    `: ${usageWords(Object.fromEntries(SUMS.map((name, k) => [name, values[k]])))}`));
  return [el("p", {}, usageWords(sums)), el("ul", {}, lines)];
}
