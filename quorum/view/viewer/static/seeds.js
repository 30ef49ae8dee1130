/* The runs of a sweep as a map: a row for each arm, a column for each seed, each cell a link to its episode. */
import { el } from "./dom.js";
import { pageOf } from "./sources.js";
import { ended, ends, shown } from "./text.js";

const STRONGEST = 60;

/** Whether the map applies: the runs differ in their seed. */
export function hasSeeds(plain) {
  return plain.factors.includes("seed");
}

/**
 * Build the map of a metric.
 * @param {import("./contract.js").SweepTable} plain
 * @param {import("./contract.js").RunLine[]} rows those in view
 * @param {string} metric
 * @param {string} up
 */
export function seedMap(plain, rows, metric, up) {
  const seedAt = plain.factors.indexOf("seed");
  const named = plain.factors.map((name, i) => ({ name, i })).filter(({ name }) => name !== "seed" && !plain.implied.includes(name));
  const lines = new Map();
  const seeds = new Set();
  for (const row of rows) {
    const seed = row.factors[seedAt];
    if (seed === undefined || seed === null) continue;
    const label = named.map(({ name, i }) => (name === "arm" ? row.factors[i] || "-" : `${name} = ${shown(row.factors[i])}`)).join(", ") || "all runs";
    if (!lines.has(label)) lines.set(label, new Map());
    if (!lines.get(label).has(seed)) lines.get(label).set(seed, row);
    seeds.add(seed);
  }
  const columns = [...seeds].sort((one, other) => one - other);
  const values = rows.map((row) => row.metrics[metric] ?? null).filter((value) => value !== null);
  const bounds = [Math.min(...values), Math.max(...values)];
  return el("table", { class: "seeds" },
    el("caption", {}, `${metric}${values.length ? `, from ${shown(bounds[0])} (pale) to ${shown(bounds[1])} (strong)` : ""}. Click a cell to open its episode; ! marks a run that did not complete.`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "seed"), columns.map((seed) => el("th", { scope: "col" }, shown(seed))))),
    el("tbody", {}, [...lines].map(([label, found]) =>
      el("tr", {}, el("th", { scope: "row", title: label }, ends(label)), columns.map((seed) => place(found.get(seed), label, seed, metric, bounds, up))))));
}

function place(row, label, seed, metric, [low, high], up) {
  if (!row) return el("td", { class: "none" }, "\u00b7");
  const value = row.metrics[metric] ?? null;
  const done = ended(row.outcome);
  const text = `${label}, seed ${shown(seed)}: ${metric} ${shown(value)}${done ? "" : `, ${row.outcome}`}`;
  const link = el("a", { href: pageOf(row.run, up), title: text, "aria-label": text, class: done ? null : "undone" }, done ? shown(value) : `! ${shown(value)}`);
  const strength = value === null || high === low ? 0 : (STRONGEST * (value - low)) / (high - low);
  link.style.backgroundColor = `color-mix(in srgb, var(--stage-r) ${strength.toFixed(0)}%, transparent)`;
  return el("td", {}, link);
}
