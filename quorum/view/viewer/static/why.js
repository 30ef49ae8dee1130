/* Why a plan failed: one sentence, and the events of the trace that prove it. It states only facts from the trace. */
import { el } from "./dom.js";
import { proofList } from "./links.js";
import { actionWords } from "./plan_words.js";
import { asCall } from "./text.js";

const BROKEN = { failed: "failed", timed_out: "ran out of time" };
const LEFT = { failed: "failed", timed_out: "ran out of time", interrupted: "was given up", replaced: "was given up", cancelled: "was cut off" };
const LACKS = {
  participation: "committed to it", spatial: "in place", temporal: "acting at the same time", joint: "meeting all conditions at once",
};

/**
 * Explain why a plan failed.
 *
 * @param {import("./model.js").Model} model of the page.
 * @param {import("./contract.js").Plan} plan of it.
 * @returns {{words: string, proofs: {t: number, words: string}[]} | null} null for a plan that did not fail.
 */
export function whyFailed(model, plan) {
  const [t, , status, reason] = plan.statuses.at(-1) ?? [];
  if (!Object.hasOwn(BROKEN, status)) return null;
  const proofs = [...others(model, plan, t), ...attempts(model, plan, t), ...unmet(model, plan, t), ...gone(model, plan, t)];
  const action = model.actionsOf[plan.agent].findLast((found) => found.plan === plan.id && found.endT === t && found.status !== "success");
  const where = action ? ` in action ${action.index + 1} of ${plan.actions.length} (${said(model, plan, action)})` : "";
  const task = plan.task ? ` for ${plan.task.kind} ${plan.task.target}` : "";
  const code = (action?.reason || reason || "").replace(/^\w+: /, "").replaceAll("_", " ");
  const strongest = proofs.length ? ` \u2014 ${proofs[0].words}` : "";
  const words = `The plan of ${model.name(plan.agent)}${task} ${BROKEN[status]} at t = ${t}${where}${code ? `: ${code}` : ""}${strongest}.`;
  return { words, proofs: [...proofs, { t, words: `plan ${plan.id}: ${status}${reason ? ` (${reason})` : ""}` }] };
}

/** Return a failed attempt as a sentence. */
export function attemptWords(model, { task, agents, missing }) {
  const lacking = (missing ?? []).map((name) => (Object.hasOwn(LACKS, name) ? `too few agents ${LACKS[name]}` : `${name} missing`));
  return `The attempt of ${model.listed(agents) || "nobody"} at ${task?.kind} ${task?.target} failed${lacking.length ? `: ${lacking.join(", ")}` : ""}.`;
}

/** Make the sentence and its proofs; each links to its instant. */
export function whyLines(model, plan, seek) {
  const why = whyFailed(model, plan);
  if (!why) return null;
  return el("div", { class: "why" }, el("p", { class: "bad" }, el("bdi", {}, why.words)), proofList(why.proofs, seek));
}

function said(model, plan, action) {
  const step = plan.actions[action.index];
  return step ? actionWords(step, model.phrases) || asCall(step) : action.name;
}

/** Whether a constraint's or an attempt's task, named `kind:target`, is the plan's task or a part of it. */
function concerns(plan, name) {
  const target = name.slice(name.indexOf(":") + 1);
  return plan.task !== null && (target === plan.task.target || target.startsWith(`${plan.task.target}/`));
}

function tried(model, plan, until) {
  return model.plain.outcomes.filter(([t]) => t >= plan.t && t <= until).flatMap(([t, , list]) =>
    list.filter((attempt) => attempt.task && concerns(plan, `${attempt.task.kind}:${attempt.task.target}`)).map((attempt) => ({ ...attempt, t })));
}

/** Others who did it meanwhile: the last time. */
function others(model, plan, until) {
  const last = tried(model, plan, until).findLast((attempt) => attempt.succeeded && !attempt.agents.includes(plan.agent));
  if (!last) return [];
  return [{ t: last.t, words: `${model.listed(last.agents)} did ${last.task.kind} ${last.task.target} at t = ${last.t} without ${model.name(plan.agent)}` }];
}

/** Attempts that came to nothing meanwhile: the last one. */
function attempts(model, plan, until) {
  const last = tried(model, plan, until).findLast((attempt) => !attempt.succeeded && attempt.missing?.length);
  if (!last) return [];
  return [{ t: last.t, words: `the attempt of ${model.listed(last.agents)} at t = ${last.t} was missing: ${last.missing.join(", ")}` }];
}

/** What the task wanted and did not have in the end: of its ways, the one that most agents were at. */
function unmet(model, plan, until) {
  const found = [];
  for (const { name, changes } of model.plain.tasks) {
    const change = changes.findLast(([t]) => t <= until);
    if (!change || !change[1] || !concerns(plan, name)) continue;
    const [t, threshold, spatial, temporal, participation, joint, dependency] = change;
    const short = Object.entries({ participation, spatial, temporal, joint }).filter(([, agents]) => agents < threshold);
    const lacking = short.map(([what, agents]) => `${agents} of ${threshold} ${LACKS[what]} (${what})`);
    if (!dependency) lacking.push("its prerequisite was missing (dependency)");
    if (lacking.length) found.push({ t, rank: spatial + temporal + participation, words: `at t = ${t} ${name.replace(":", " ")} had ${lacking.join(", ")}` });
  }
  return found.sort((one, other) => other.rank - one.rank).slice(0, 1);
}

/** Teammates whose plans for the same task ended before it. */
function gone(model, plan, until) {
  return model.plain.plans.flatMap((other) => {
    const [t, , status] = other.statuses.at(-1) ?? [];
    const same = plan.task && other.task && other.agent !== plan.agent && other.task.target === plan.task.target && other.task.kind === plan.task.kind;
    if (!same || !Object.hasOwn(LEFT, status) || t < plan.t || t >= until) return [];
    return [{ t, words: `the plan of ${model.name(other.agent)} for it ${LEFT[status]} at t = ${t}` }];
  });
}
