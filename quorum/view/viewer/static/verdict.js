/* The lane of blame: the decision that made the team fail, found by `quorum blame` by playing the run again. */
import { el } from "./dom.js";
import { instantLink } from "./links.js";
import { shown } from "./text.js";
import { colour } from "./theme.js";

const HALF = 7;

/** The decisions of a verdict on a page, on its axis; the verdict's own decision is `main`. @param {import("./model.js").Model} model */
export function verdictOf(model) {
  const { verdict } = model.episode;
  if (!verdict) return [];
  const all = [{ ...verdict, main: true }, ...verdict.flips.map((flip) => ({ ...flip, main: false }))];
  return all.filter(({ t }) => t !== null && model.has(t)).map((item) => ({ ...item, x: item.t_hat === null ? model.axis.begin(item.t) : model.axis.at(item.t, item.t_hat) }));
}

/** Draw the lane: a diamond for each decision, filled for the verdict's own. */
export function drawVerdict(view, row, y) {
  for (const item of [...view.model.verdict].reverse()) {
    const x = view.x(item.x);
    if (x > view.width + HALF || x < view.gutter - HALF) continue;
    view.c.globalAlpha = view.chosen < 0 || view.chosen === item.agent ? 1 : 0.2;
    diamond(view.c, x, y + row.height / 2, item.main);
    view.c.globalAlpha = 1;
    view.hits.push([x - HALF, y, x + HALF, y + row.height, "verdict", item]);
  }
}

/** Mark the decision of the verdict in the row of its agent. @param {Map<number, number>} middles of the rows, by participant */
export function drawBlamed(view, middles) {
  const item = view.model.verdict.find(({ main }) => main);
  if (!item || !middles.has(item.agent)) return;
  const [x, y] = [view.x(item.x), middles.get(item.agent)];
  if (x > view.width + HALF || x < view.gutter) return;
  diamond(view.c, x, y, true);
  view.hits.push([x - HALF, y - HALF, x + HALF, y + HALF, "verdict", item]);
}

function diamond(c, x, y, filled) {
  c.beginPath();
  c.moveTo(x, y - HALF);
  c.lineTo(x + HALF, y);
  c.lineTo(x, y + HALF);
  c.lineTo(x - HALF, y);
  c.closePath();
  c.fillStyle = colour(filled ? "bad" : "paper");
  c.fill();
  c.strokeStyle = colour(filled ? "paper" : "bad");
  c.lineWidth = filled ? 1.2 : 1.6;
  c.stroke();
  if (!filled) return;
  c.fillStyle = colour("paper");
  c.font = "700 10px system-ui, sans-serif";
  c.textAlign = "center";
  c.fillText("!", x, y + 0.5);
}

/** Return a decision as a line. */
export function verdictLine(model, { agent, who, kind, main, reason }) {
  const name = agent >= 0 ? model.name(agent) : who || "nobody";
  return `${main ? "blame" : "also sufficient"}: ${name}${kind ? `, ${kind.replaceAll("_", " ")}` : ""}${main && reason ? `: ${reason}` : ""}`;
}

/** Return a verdict: the agent, the instant, the kind, the probability and the reason. */
export function verdictLines(model, item, seek) {
  const verdict = item.main === false ? { ...model.episode.verdict, ...item } : item;
  const name = verdict.agent >= 0 ? model.name(verdict.agent) : verdict.who;
  const facts = [
    ["method", verdict.method], ["probability", verdict.probability === null ? "" : `${shown(100 * verdict.probability)} %`],
    ["episodes played again", shown(verdict.reruns)], ["calls of models", shown(verdict.calls)],
  ].filter(([, value]) => value);
  return el("div", { class: "why" },
    el("p", { class: "bad" }, el("b", {}, el("bdi", {}, name || "Nobody is named")), verdict.kind ? [": ", el("bdi", {}, verdict.kind.replaceAll("_", " "))] : null,
      verdict.t === null ? null : [", at ", instantLink(seek, verdict.t, verdict.t_hat)]),
    item.main === false ? el("p", {}, "Its correction also saved the run.") : verdict.reason ? el("p", {}, el("bdi", {}, verdict.reason)) : null,
    el("p", { class: "soft" }, facts.map(([key, value], i) => [i ? ", " : "", `${key}: `, el("bdi", {}, value)])));
}
