/* The lane of the interaction graph: failures of cooperation in it, and the fate of messages. */
import { button, el } from "./dom.js";
import { instantLink } from "./links.js";
import { shown } from "./text.js";
import { colour } from "./theme.js";

const HALF = 7;

/** The letter and the description of each pattern. */
export const PATTERNS = {
  orphan: ["O", "nobody has acted on a message"],
  excessive_rerouting: ["E", "a message is passed on again and again"],
  repeated_effort: ["R", "more agents work on it than it needs"],
  missing_dependency: ["D", "agents that have not heard of each other ask one agent for different things"],
  incomplete_coverage: ["C", "a plan for several agents starts, but its author has heard from fewer"],
  missed_submission: ["M", "enough agents know about the request, and nobody acts on it"],
  deadlock: ["L", "nothing has succeeded for a long time"],
};

/** The reactions of a message's recipients, in the order of display. */
export const REACTIONS = ["consume", "wait", "reroute", "discard"];

/** The findings of a page on its axis. @param {import("./contract.js").Page} page @param {import("./axis.js").Axis} axis */
export function findingsOf(page, axis) {
  return page.findings.map((item) => ({ ...item, x: axis.at(item.t, item.t_hat) }));
}

/** Draw the lane: a framed letter for each finding. */
export function drawFindings(view, row, y) {
  const { c, model } = view;
  let reached = -HALF;
  c.font = "600 11px system-ui, sans-serif";
  c.textAlign = "center";
  for (const item of model.findings) {
    const x = view.x(item.x);
    if (x > view.width + HALF || x < view.gutter - HALF) continue;
    c.globalAlpha = view.chosen < 0 || item.agents.includes(view.chosen) ? 1 : 0.2;
    if (x - reached >= 2 * HALF) {
      mark(c, letterOf(item), x, y + row.height / 2);
      reached = x;
    }
    view.hits.push([x - HALF, y, x + HALF, y + row.height, "finding", item]);
  }
  c.globalAlpha = 1;
}

/** Draw the mark of a pattern. */
export function mark(c, letter, x, y) {
  c.fillStyle = colour("paper");
  c.strokeStyle = colour("ink");
  c.lineWidth = 1.2;
  c.beginPath();
  c.rect(x - HALF + 0.5, y - HALF + 0.5, 2 * HALF - 1, 2 * HALF - 1);
  c.fill();
  c.stroke();
  c.fillStyle = colour("ink");
  c.fillText(letter, x, y + 0.5);
}

/** Draw a recipient's reaction to a message, at the place where it read it. */
export function drawReaction(c, reaction, x, y) {
  c.strokeStyle = colour("message");
  c.fillStyle = colour(reaction === "consume" ? "message" : "paper");
  c.lineWidth = 1.2;
  c.beginPath();
  if (reaction === "reroute") {
    c.moveTo(x - 3.5, y - 3.5);
    c.lineTo(x + 3.5, y);
    c.lineTo(x - 3.5, y + 3.5);
    c.closePath();
  } else c.rect(x - 3, y - 3, 6, 6);
  c.fill();
  c.stroke();
  if (reaction !== "discard") return;
  c.beginPath();
  c.moveTo(x - 3, y - 3);
  c.lineTo(x + 3, y + 3);
  c.moveTo(x - 3, y + 3);
  c.lineTo(x + 3, y - 3);
  c.stroke();
}

/** The reactions to a message, by recipient. @param {import("./contract.js").Message} message */
export function reactionsOf({ reactions }) {
  const found = new Map();
  for (let i = 0; i < reactions.length; i += 2) found.set(reactions[i], reactions[i + 1]);
  return found;
}

/** Return a finding as a line. */
export function findingLine(model, item) {
  const about = item.subject ? ` (${item.subject}${item.needed ? `, which needs ${shown(item.needed)}` : ""})` : "";
  return `${wordsOf(item)}: ${PATTERNS[item.pattern]?.[1] ?? ""}${about}; ${model.listed(item.agents)}`;
}

/** Return the details of a finding: the agents concerned, and the messages that prove it. */
export function findingLines(model, item, open, seek) {
  const proof = item.messages.map((id) => [id, model.messages.find(({ message }) => message === id)]);
  return [
    el("p", {}, el("bdi", {}, findingLine(model, item)), ", at ", instantLink(seek, item.t, item.t_hat)),
    proof.length ? el("p", {}, "Proved by: ", proof.map(([id, found], i) => [i ? ", " : "", found ? button(`message ${id}`, "read the message", () => open("message", found), { class: "link" }) : `message ${id}`])) : null,
  ];
}

function letterOf({ pattern }) {
  return PATTERNS[pattern]?.[0] ?? "?";
}

function wordsOf({ pattern }) {
  return pattern.replaceAll("_", " ");
}
