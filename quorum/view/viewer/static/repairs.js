/* The lane of repairs: plans that were expected to fail before they started, and the reaction. */
import { button, el } from "./dom.js";
import { instantLink } from "./links.js";
import { CONSTRAINTS } from "./looks.js";
import { listed, planLines } from "./plan_words.js";
import { shown } from "./text.js";
import { colour } from "./theme.js";

const LEAST = 5;
const VERDICTS = {
  repair: "repaired",
  cooldown: "not repaired: these tasks were repaired recently",
  no_advice: "not repaired: there is no replacement plan",
};

/** The repairs of a page on its axis. @param {import("./contract.js").Page} page @param {import("./axis.js").Axis} axis */
export function repairsOf(page, axis) {
  return page.repairs.map((item) => {
    const x = axis.at(item.t, item.begins);
    return { ...item, x, end: item.ends === undefined ? x : axis.at(item.t, item.ends) };
  });
}

/** Draw the lane: filled if plans were repaired, with the constraints expected to be violated in their quarters. */
export function drawRepairs(view, row, y) {
  const { c, model } = view;
  const high = (row.height - 4) / CONSTRAINTS.length;
  for (const item of model.repairs) {
    const x = view.x(item.x);
    const end = Math.max(x + LEAST, view.x(item.end));
    if (x > view.width || end < view.gutter) continue;
    if (item.verdict === "repair") {
      c.fillStyle = colour("panel");
      c.fillRect(x, y + 1, end - x, row.height - 2);
    }
    const violated = new Set(item.violations.map(({ constraint }) => constraint));
    for (const { name, place, colour: own } of CONSTRAINTS) {
      if (!violated.has(name) && !violated.has("joint")) continue;
      c.fillStyle = colour(own);
      c.fillRect(x, y + 2 + place * high, end - x, high);
    }
    c.strokeStyle = colour(item.verdict === "repair" ? "ink" : "soft");
    c.setLineDash(item.verdict === "repair" ? [] : [2, 2]);
    c.lineWidth = 1.2;
    c.strokeRect(x + 0.5, y + 1.5, end - x - 1, row.height - 3);
    c.setLineDash([]);
    view.hits.push([x, y, end, y + row.height, "repair", item]);
  }
}

/** Return a repair as a line. */
export function repairLine(model, item) {
  const tasks = [...new Set(item.violations.map(taskOf))];
  const who = item.agents ? ` by ${item.mode} among ${model.listed(item.agents)}` : "";
  return `${tasks.length === 1 ? "plans" : `plans for ${tasks.length} tasks`} expected to fail (${listed(tasks)}): ${VERDICTS[item.verdict] ?? item.verdict}${who}`;
}

/** Return the details of a repair: the expected violations, the agents concerned, the advice, and the plans given up. */
export function repairLines(model, item, open, seek) {
  const failures = item.violations.map((found) => el("li", {},
    el("b", {}, el("bdi", {}, taskOf(found))), `: ${found.constraint}, ${shown(found.expected)} of ${shown(found.needed)}`,
    found.agents?.length ? [" (", el("bdi", {}, model.listed(found.agents)), ")"] : null));
  const plans = (item.replaced ?? []).map((id) => model.plansById.get(id)).filter(Boolean);
  return [
    el("p", {}, "Judged by ", el("b", {}, item.predictor), " at ", instantLink(seek, item.t, item.begins), item.ends === undefined ? "" : `, over at t^ = ${shown(item.ends)}`, "; expected:"),
    el("ul", {}, failures),
    el("p", {}, el("b", {}, VERDICTS[item.verdict] ?? item.verdict), item.agents ? [` by ${item.mode} among `, el("bdi", {}, model.listed(item.agents))] : null),
    item.advice ? [el("p", { class: "soft" }, "Advised:"), planLines(advised(item.advice), model.phrases) ?? el("p", {}, taskOf(item.advice))] : null,
    plans.length ? el("p", {}, "Given up: ", plans.map((plan, i) => [i ? ", " : "", button(plan.id, "read the plan", () => open("plan", plan), { class: "link" })])) : null,
  ];
}

/** The advised plans by agent. */
function advised({ plans }) {
  return Object.fromEntries(Object.entries(plans ?? {}).map(([name, actions]) => [name, { actions }]));
}

function taskOf({ task }) {
  return task ? `${task.kind}:${task.target}` : "no task";
}
