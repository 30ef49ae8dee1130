/* The lanes of beliefs: each agent's answers to a probe, and how far each fact had travelled to it. */
import { el } from "./dom.js";
import { colour } from "./theme.js";

const HALF = 7;

/** The answers of each agent on a page, at the instant of its answer. @param {import("./model.js").Model} model */
export function beliefsOf(model) {
  const { beliefs } = model.episode;
  return model.names.flatMap((_, agent) => {
    const answers = beliefs.filter((one) => one.agent === agent && model.has(one.t));
    return answers.length ? [{ agent, t: answers[0].t, x: model.axis.at(answers[0].t, answers[0].t_hat), answers }] : [];
  });
}

/** Draw the lane of an agent: a bar whose green part is the share of right answers, with their numbers. */
export function drawBeliefs(view, row, y) {
  const { c } = view;
  const item = view.model.beliefs.find(({ agent }) => agent === row.agent);
  const x = view.x(item.x);
  if (x > view.width + HALF || x < view.gutter - HALF) return;
  const high = row.height - 4;
  const good = high * right(item.answers) / item.answers.length;
  c.fillStyle = colour("bad");
  c.fillRect(x - HALF, y + 2, 2 * HALF, high - good);
  c.fillStyle = colour("ok");
  c.fillRect(x - HALF, y + 2 + high - good, 2 * HALF, good);
  c.fillStyle = colour("ink");
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "right";
  c.fillText(`${right(item.answers)}/${item.answers.length}`, x - HALF - 4, y + row.height / 2);
  view.hits.push([x - HALF, y, x + HALF, y + row.height, "belief", item]);
}

/** Return a line with the share of an agent's right answers, in total and by hop. */
export function beliefLine({ answers }) {
  const hops = Object.entries(Object.groupBy(answers, ({ hop }) => hop === null ? "no message" : `hop ${hop}`));
  return `believes ${share(answers)} right; ${hops.map(([hop, own]) => `${hop}: ${share(own)}`).join(", ")}`;
}

/** Return the lines of an agent's answers, by fact. */
export function beliefLines(item) {
  return [el("p", {}, beliefLine(item)), ...Object.entries(Object.groupBy(item.answers, ({ fact }) => fact)).flatMap(([fact, own]) => [
    el("h3", {}, `${fact}: ${share(own)} right`),
    el("ul", {}, own.map(({ about, truth, answer, hop }) => el("li", {}, el("bdi", {}, about), ": ", el("bdi", { class: truth === answer ? "" : "bad" }, answer), truth === answer ? "" : [", is ", el("bdi", {}, truth)], hop === null ? "" : ` (hop ${hop})`))),
  ])];
}

function right(answers) {
  return answers.filter(({ truth, answer }) => truth === answer).length;
}

function share(answers) {
  return `${right(answers)} of ${answers.length}`;
}
