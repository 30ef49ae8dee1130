/* The differences between two runs: configuration values that differ, and the figures of both with their difference. */
import { el } from "./dom.js";
import { shown } from "./text.js";

const NAME = ".name";
const FIGURES = [
  ["completion, share of goals", "outcome.completion"], ["messages", "communication.messages"],
  ["tokens in", "model.prompt_tokens"], ["tokens out", "model.completion_tokens"], ["money, USD", "model.usd"],
];

/** List the differences of the configurations; those that only follow from another component are folded. @param {import("./contract.js").Difference[]} differences */
export function differenceList(differences) {
  const others = new Set(differences.filter(([key]) => key.endsWith(NAME)).map(([key]) => key.split(".")[0]));
  const implied = ([key]) => !key.endsWith(NAME) && others.has(key.split(".")[0]);
  const own = differences.filter((difference) => !implied(difference));
  const folded = differences.filter(implied);
  return el("section", { class: "differences", "aria-label": "what differs" },
    el("h2", {}, "What differs"),
    own.length ? list(own) : el("p", { class: "soft" }, folded.length ? "" : "Nothing in the two configurations."),
    folded.length ? el("details", {}, el("summary", {}, `${folded.length} more ${folded.length === 1 ? "value" : "values"} of ${[...others].join(", ")}`), list(folded)) : null);
}

function list(differences) {
  return el("ul", {}, differences.map(([key, one, other]) => el("li", {}, `${inWords(key)}: `, el("b", {}, el("bdi", {}, one)), " | ", el("b", {}, el("bdi", {}, other)))));
}

/** topology.max_rounds -> topology max rounds */
function inWords(key) {
  return (key.endsWith(NAME) ? key.slice(0, -NAME.length) : key).replace(/[._]/g, " ");
}

/** Make the table of figures. @param {import("./contract.js").Episode[]} episodes two of them. */
export function figureTable(episodes) {
  const metrics = FIGURES.map(([words, name]) => [words, ...episodes.map((episode) => episode.metrics[name] ?? null)]);
  const rows = [["steps", ...episodes.map((episode) => episode.steps)], ...metrics];
  return el("section", { class: "figures", "aria-label": "figures" },
    el("table", { "aria-label": "figures of both runs" },
      el("thead", {}, el("tr", {}, ["figure", "A", "B", "B \u2212 A"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map(([words, one, other]) => el("tr", {}, el("th", { scope: "row" }, words), [shown(one), shown(other), difference(one, other)].map((value) => el("td", {}, value)))))));
}

function difference(one, other) {
  if (one === null || other === null) return shown(null);
  const by = Number((other - one).toPrecision(12)); // so that 0.3 - 0.1 gives 0.2
  return by > 0 ? `+${shown(by)}` : by < 0 ? `\u2212${shown(-by)}` : "0";
}
