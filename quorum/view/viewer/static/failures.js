/* The lane of failures: why the team failed, by rule, with the events that prove it. */
import { el } from "./dom.js";
import { proofList } from "./links.js";
import { colour } from "./theme.js";

const RADIUS = 6;

/** The failures on a page, on its axis; those of one step are side by side. @param {import("./model.js").Model} model */
export function failuresOf(model) {
  const there = new Map();
  return (model.episode.failures ?? []).filter((item) => model.has(item.t)).map((item) => {
    const place = there.get(item.t) ?? 0;
    there.set(item.t, place + 1);
    return { ...item, x: model.axis.step(item.t), place };
  });
}

/** Draw the lane: a disc with the first letter of its kind for each. */
export function drawFailures(view, row, y) {
  const { c, model } = view;
  const middle = y + row.height / 2;
  c.textAlign = "center";
  c.font = "600 9px system-ui, sans-serif";
  for (const item of model.failures) {
    const x = view.x(item.x) + RADIUS + 2 * RADIUS * item.place;
    if (x > view.width + RADIUS || x < view.gutter - RADIUS) continue;
    c.globalAlpha = view.chosen < 0 || view.chosen === item.agent ? 1 : 0.2;
    c.fillStyle = colour("bad");
    c.beginPath();
    c.arc(x, middle, RADIUS, 0, 2 * Math.PI);
    c.fill();
    c.fillStyle = colour("paper");
    c.fillText(item.kind.slice(0, 1).toUpperCase(), x, middle + 0.5);
    c.globalAlpha = 1;
    view.hits.push([x - RADIUS, y, x + RADIUS, y + row.height, "failure", item]);
  }
}

/** Return a failure as a line. */
export function failureLine(model, { kind, mast, agent, task, proofs }) {
  return `${kind.replaceAll("_", " ")} (MAST ${mast}) of ${model.name(agent)}${task ? ` about ${task}` : ""}: ${proofs.map(({ words }) => words).join("; ")}`;
}

/** Return a failure with the events that prove it; each links to its instant. */
export function failureLines(model, { agent, task, mast, proofs }, seek) {
  return el("div", { class: "why" },
    el("p", { class: "bad" }, el("b", {}, el("bdi", {}, model.name(agent))), task ? [" about ", el("bdi", {}, task)] : null, `: MAST ${mast}, proven by`),
    proofList(proofs, seek));
}
