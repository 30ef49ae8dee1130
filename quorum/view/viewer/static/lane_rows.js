/* The rows of the lanes. Each function draws one row from `y` down, as far as it is in view, and notes in
`hits` what can be clicked there. `view`: the canvas context, the model, what is chosen, and the part of the axis in view. */
import { drawReaction, reactionsOf } from "./findings.js";
import { CONSTRAINTS, OUTCOMES, STAGES, UNDER_WAY } from "./looks.js";
import { lastBy, lastUpTo } from "./order.js";
import { arrow, block, cross, pill, tag } from "./strokes.js";
import { short } from "./text.js";
import { colour } from "./theme.js";

const MANY_RECIPIENTS = 12;
const ARROWS = { up: "\u2191", down: "\u2193", left: "\u2190", right: "\u2192" };
const NOTHING = new Set(["stay", "noop", "nothing"]);

/** The stages of a participant, and its thoughts. */
export function drawStages(view, row, y) {
  const { c, model, gutter } = view;
  const { starts, codes } = model.stages[row.agent];
  const from = Math.max(0, lastUpTo(starts, view.from));
  let reached = -1;
  for (let i = from; i < codes.length && starts[i] <= view.to; i++) {
    const x = view.x(starts[i]);
    const end = Math.min(view.width, view.x(i + 1 < codes.length ? starts[i + 1] : model.axis.length));
    if (end - reached < 0.7 && codes[i] !== "I") continue;
    reached = end;
    const stage = STAGES[codes[i]] || STAGES.W;
    const height = stage.full ? row.height - 3 : Math.max(2, row.height / 4);
    const top = stage.full ? y + 1.5 : y + (row.height - height) / 2;
    block(c, x, top, Math.max(1, end - x), height, colour(stage.colour), stage.texture);
    if (end - x > 30 && row.height > 14 && stage.full) tag(c, stage.name, x + 4, y + row.height / 2, end - x - 6);
  }
  for (const thought of inView(view, model.thoughtsOf[row.agent])) {
    const x = Math.max(gutter, view.x(thought.x));
    const end = Math.max(x + 2, view.x(thought.end));
    view.hits.push([x, y, end, y + row.height, "thought", thought]);
    if (thought.refused?.length) cross(c, end - 4, y + row.height / 2, 3.5);
    else if (end - x > 5) {
      c.fillStyle = "rgba(255,255,255,.8)";
      c.fillRect(end - 1, y + 2, 1, row.height - 4);
    }
  }
}

function inView({ from, to }, items) {
  const first = Math.max(0, lastBy(items, (item) => item.x <= from));
  const found = [];
  for (let i = first; i < items.length && items[i].x <= to; i++) if (items[i].end >= from) found.push(items[i]);
  return found;
}

/** The messages, from the row of each sender to those of its recipients; `middles`: of the rows, by participant. */
export function drawMessages(view, middles) {
  const { c, model, gutter } = view;
  const { messages } = model;
  const first = lastBy(messages, (message) => message.x < view.from - 1) + 1;
  c.save();
  c.beginPath();
  c.rect(gutter, view.top, view.width - gutter, view.high);
  c.clip();
  for (let i = first; i < messages.length && messages[i].x <= view.to; i++) {
    const message = messages[i];
    const chosen = view.chosen < 0 || message.sender === view.chosen || message.recipients.includes(view.chosen);
    const x = view.x(message.x);
    const y = middles.get(message.sender);
    c.globalAlpha = chosen ? 1 : 0.15;
    c.strokeStyle = colour("message");
    c.fillStyle = colour("message");
    c.lineWidth = 1.1;
    const end = Math.max(x + 5, view.x(message.arrives));
    const targets = message.recipients.filter((recipient) => middles.has(recipient)).map((recipient) => middles.get(recipient));
    if (targets.length <= MANY_RECIPIENTS) for (const target of targets) arrow(c, x, y, end, target);
    else for (const target of [Math.min(...targets), Math.max(...targets)]) arrow(c, x, y, end, target);
    if (message.recipients.length <= MANY_RECIPIENTS) drawReadings(view, message, middles);
    c.fillStyle = colour("message");
    c.beginPath();
    c.arc(x, y, 3.4, 0, 2 * Math.PI);
    c.fill();
    c.strokeStyle = colour("paper");
    c.lineWidth = 1;
    c.stroke();
    view.hits.push([x - 5, y - 6, x + 5, y + 6, "message", message]);
  }
  c.restore();
}

/** The fate of a message: from its arrival to the thought that read it, and the reader's reaction. */
function drawReadings(view, message, middles) {
  const reactions = reactionsOf(message);
  for (let i = 0; i < message.read.length; i += 3) {
    const [agent, t, tHat] = message.read.slice(i, i + 3);
    const x = view.x(view.model.axis.at(t, tHat));
    const y = middles.get(agent);
    if (y === undefined || x > view.width) continue;
    const arrived = Math.max(view.x(message.x) + 5, view.x(message.arrives));
    if (x > arrived) {
      view.c.beginPath();
      view.c.moveTo(arrived, y);
      view.c.lineTo(x, y);
      view.c.stroke();
    }
    drawReaction(view.c, reactions.get(agent) ?? "wait", Math.max(x, arrived), y);
    view.c.strokeStyle = colour("message");
    view.c.lineWidth = 1.1;
  }
}

/** The symbolic actions of an agent, and below them its primitives. */
export function drawActions(view, row, y) {
  const { c, model, gutter, scale } = view;
  const upper = Math.round(row.height * 0.58);
  for (const action of inView(view, model.actionsOf[row.agent])) {
    if (action.endT !== null && action.endT < model.first) continue; // of a plan that continues from the previous page
    const x = Math.max(gutter - 2, view.x(action.x));
    const end = Math.max(x + 1.5, view.x(action.end));
    const look = OUTCOMES[action.status] || UNDER_WAY;
    pill(c, x, y + 1, Math.max(1.5, end - x - 0.7), upper - 2, colour(look.colour), look.texture);
    if (end - x > 26 && upper >= 9) tag(c, action.name, x + 3, y + upper / 2, end - x - 5);
    view.hits.push([x, y, end, y + upper, "action", action]);
  }
  const { axis, plain } = model;
  if (scale < 3) return;
  const first = axis.t(view.from);
  const last = Math.min(axis.last - 1, axis.t(view.to));
  const size = row.height - upper - 1;
  c.textAlign = "center";
  c.font = `600 ${Math.min(12, size + 2)}px system-ui, sans-serif`;
  for (let t = first; t <= last; t++) {
    const name = model.primitive(plain.joint[t - axis.first][row.agent]);
    const x = view.x(axis.step(t));
    c.fillStyle = colour(NOTHING.has(name) ? "line" : "primitive");
    if (scale < 9 || size < 7) c.fillRect(x + 0.5, y + upper + (NOTHING.has(name) ? size / 2 : 0), Math.max(1, scale - 1), NOTHING.has(name) ? 1 : size - 1);
    else {
      const sign = NOTHING.has(name) ? "\u00b7" : ARROWS[name.replace("move_", "")] || (scale > 60 ? short(name, Math.floor(scale / 6)) : name.slice(0, 1).toUpperCase());
      c.fillStyle = colour(NOTHING.has(name) ? "soft" : "ink");
      c.fillText(sign, x + scale / 2, y + upper + size / 2, scale);
    }
  }
}

/** The constraints of a task that hold. */
export function drawTask(view, row, y) {
  const { c, model } = view;
  const { changes, starts } = row.task;
  const from = Math.max(0, lastUpTo(starts, view.from));
  const high = (row.height - 4) / CONSTRAINTS.length;
  let reached = -1;
  for (let i = from; i < changes.length && starts[i] <= view.to; i++) {
    const [t, threshold, spatial, temporal, participation, joint, dependency] = changes[i];
    if (threshold === 0) continue;
    const x = view.x(starts[i]);
    const end = Math.min(view.width, view.x(i + 1 < changes.length ? starts[i + 1] : model.axis.step(model.axis.last)));
    if (end - reached < 0.6) continue;
    reached = end;
    const met = [spatial >= threshold, temporal >= threshold, participation >= threshold, dependency];
    for (const { place, colour: own } of CONSTRAINTS) {
      c.fillStyle = colour(met[place] ? own : "unmet");
      c.fillRect(x, y + 2 + place * high, Math.max(0.8, end - x), met[place] ? high : 1);
    }
    if (joint >= threshold && dependency) {
      c.strokeStyle = colour("ink");
      c.lineWidth = 1.4;
      c.strokeRect(x + 0.7, y + 1, Math.max(1, end - x - 1.4), row.height - 2);
    }
    view.hits.push([x, y, end, y + row.height, "task", { name: row.task.name, change: changes[i], t }]);
  }
}

/** Gains and losses of capabilities. */
export function drawCapabilities(view, row, y) {
  const { c, model } = view;
  c.textAlign = "center";
  for (const [t, agent, name, gained] of model.plain.capabilities) {
    const x = view.x(model.axis.step(t) + 0.5);
    if (x < view.gutter - 6 || x > view.width + 6) continue;
    c.globalAlpha = view.chosen < 0 || view.chosen === agent ? 1 : 0.2;
    c.fillStyle = colour(gained ? "ok" : "bad");
    c.font = "12px system-ui, sans-serif";
    c.fillText(gained ? "\u25b2" : "\u25bd", x, y + row.height / 2);
    view.hits.push([x - 6, y, x + 6, y + row.height, "capability", { t, agent, name, gained }]);
    c.globalAlpha = 1;
  }
}

/** The score of the team. */
export function drawScore(view, row, y) {
  const { c } = view;
  const { axis, episode: { scores } } = view.model;
  if (!scores.length) return;
  const highest = scores.reduce((most, [, , , score]) => Math.max(most, score), 1e-9);
  const lowest = scores.reduce((least, [, , , score]) => Math.min(least, score), 0);
  const place = (score) => y + row.height - 5 - ((row.height - 10) * (score - lowest)) / (highest - lowest);
  c.beginPath();
  let last = place(scores[0][3]);
  c.moveTo(view.x(0), last);
  for (const [t, , , score] of scores) {
    if (t > axis.last) break;
    const x = view.x(axis.begin(t)); // the score after the step before `t`
    c.lineTo(x, last);
    last = place(score);
    c.lineTo(x, last);
  }
  c.lineTo(view.x(axis.length), last);
  c.strokeStyle = colour("ink");
  c.lineWidth = 2;
  c.stroke();
}
