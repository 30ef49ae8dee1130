/* A page of an episode for the lanes and lists: intervals on the axis, and the events of each step. */
import { Axis } from "./axis.js";
import { findingLine, findingsOf } from "./findings.js";
import { failureLine, failuresOf } from "./failures.js";
import { lastBy, lastUpTo } from "./order.js";
import { jointWords, listed, plansIn } from "./plan_words.js";
import { beliefLine, beliefsOf } from "./beliefs.js";
import { repairLine, repairsOf } from "./repairs.js";
import { asCall, short, shown } from "./text.js";
import { Usage } from "./usage.js";
import { verdictLine, verdictOf } from "./verdict.js";

const NOT_TOLD = new Set(["committed", "running"]);

export class Model {
  /** @param {import("./contract.js").Episode} episode @param {import("./contract.js").Page} plain */
  constructor(episode, plain) {
    this.episode = episode;
    this.plain = plain;
    this.primitives = {};
    this.phrases = {};
    this.names = [...episode.agents, ...episode.coordinators];
    this.first = plain.first;
    this.steps = plain.joint.length;
    this.final = episode.pages.at(-1) === plain.first;
    this.axis = new Axis(this.first, plain.spans, this.steps);
    this.stages = plain.stages.map((flat) => this.#intervals(flat));
    this.plansById = new Map(plain.plans.map((plan) => [plan.id, plan]));
    this.plansOf = this.names.map((_, agent) => plain.plans.filter((plan) => plan.agent === agent));
    this.actionsOf = this.names.map(() => []);
    for (const action of plain.actions) this.actionsOf[action[0]].push(this.#action(action));
    this.messages = plain.messages.map((m) => ({
      ...m, x: this.axis.at(m.t, m.t_hat), arrives: this.axis.at(m.t, Math.max(m.delivered_at, m.t_hat)),
    }));
    this.thoughtsOf = this.names.map(() => []);
    for (const thought of plain.thoughts) {
      const x = this.axis.at(thought.t, thought.begins);
      const end = thought.ends === undefined ? x : this.axis.at(thought.t, thought.ends);
      this.thoughtsOf[thought.agent].push({ ...thought, x, end });
    }
    this.usage = new Usage(plain, this.axis);
    this.tasks = this.#tasks(plain.tasks);
    this.repairs = repairsOf(plain, this.axis);
    this.findings = findingsOf(plain, this.axis);
    this.failures = failuresOf(this);
    this.verdict = verdictOf(this);
    this.beliefs = beliefsOf(this);
    this.interruptions = plain.interruptions.map(([t, tHat, what, agent, reason]) => ({ t, x: this.axis.at(t, tHat), what, agent, reason }));
    this.events = this.#events();
  }

  /** Whether `t` is on this page. */
  has(t) {
    return t >= this.first && (this.final || t < this.axis.last);
  }

  name(agent) {
    return this.names[agent] ?? (agent < 0 ? "" : `participant ${agent}`);
  }

  /** The names of several participants, as in a sentence; empty if they are not a list. */
  listed(agents) {
    return Array.isArray(agents) ? listed(agents.map((agent) => this.name(agent))) : "";
  }

  /** The claims and requests of a message's fields, in words; empty without any, or without fields. @param {import("./contract.js").Message} message */
  claims({ task, asks }) {
    const words = (wanted) => `${wanted?.kind} ${wanted?.target}`;
    return [...(task ? [`claims ${words(task)}`] : []), ...(asks ?? []).map((ask) => `asks ${this.name(ask?.agent)} for ${words(ask?.task)}`)].join("; ");
  }

  /** The name of a participant; in a team of several minds, with its mind's name. */
  lane(agent) {
    const name = this.name(agent);
    return Object.hasOwn(this.episode.minds, name) ? `${name} \u00b7 ${this.episode.minds[name]}` : name;
  }

  primitive(code) {
    return this.primitives[code] ?? String(code);
  }

  /** The most important stage of a participant at `t`: whether it was interrupted or reasoned before it executed. */
  stageAt(agent, t) {
    const { starts, codes } = this.stages[agent];
    const first = Math.max(0, lastUpTo(starts, this.axis.begin(t)));
    const last = lastUpTo(starts, this.axis.step(t));
    const there = codes.slice(first, last + 1);
    return ["I", "R", "X", "W", "O"].find((code) => there.includes(code)) ?? "R";
  }

  planAt(agent, t) {
    const plans = this.plansOf[agent];
    return plans[lastBy(plans, (plan) => plan.t <= t)];
  }

  actionAt(agent, t) {
    const actions = this.actionsOf[agent];
    const found = actions[lastBy(actions, (action) => action.t <= t)];
    return found && (found.endT === null || found.endT > t) ? found : undefined;
  }

  /** The events at `t`, in order. */
  eventsAt(t) {
    const first = lastBy(this.events, (event) => event.t < t) + 1;
    const last = lastBy(this.events, (event) => event.t <= t);
    return this.events.slice(first, last + 1);
  }

  /** The first failure or interruption of a step, or the last if `way` is -1. */
  breakAt(t, way) {
    const { interruptions } = this;
    return way > 0 ? interruptions.find((found) => found.t === t) : interruptions.findLast((found) => found.t === t);
  }

  #intervals(flat) {
    const starts = [];
    const codes = [];
    const reasons = [];
    if (!flat.length || flat[0] > this.first || flat[1] > (this.plain.spans[0] || [0])[0]) {
      starts.push(0);
      codes.push("R");
      reasons.push("the episode starts");
    }
    for (let i = 0; i < flat.length; i += 4) {
      const [t, tHat, stage, reason] = flat.slice(i, i + 4);
      starts.push(stage === "X" ? this.axis.step(t) : this.axis.at(t, tHat));
      codes.push(stage);
      reasons.push(reason);
    }
    return { starts: Float64Array.from(starts), codes, reasons };
  }

  /** @param {import("./contract.js").Action} action */
  #action([agent, plan, index, name, t, tHat, endT, endHat, status, reason]) {
    const x = this.axis.step(t);
    const end = endT === null ? this.axis.length : endT > t ? this.axis.at(endT, endHat) : x;
    return { agent, plan, index, name, t, endT, status, reason, x, end };
  }

  /** @param {import("./contract.js").Task[]} tasks */
  #tasks(tasks) {
    const alive = tasks.filter((task) => task.changes.some(([, , spatial, temporal]) => spatial || temporal));
    const first = (task) => task.changes.find(([, , spatial, temporal]) => spatial || temporal)[0];
    const rows = alive.map((task) => ({
      name: task.name, first: first(task), changes: task.changes, starts: Float64Array.from(task.changes, ([t]) => this.axis.step(t)),
    }));
    return rows.sort((one, other) => one.first - other.first);
  }

  #events() {
    const { plain } = this;
    const found = [];
    for (const item of this.messages) found.push({ t: item.t, rank: item.t_hat, sort: "message", agent: item.sender, item });
    for (const list of this.thoughtsOf) {
      for (const item of list) found.push({ t: item.t, rank: item.begins, sort: "thought", agent: item.agent, item });
    }
    for (const item of plain.plans) {
      for (const status of item.statuses) {
        if (status[2] !== "running" && this.has(status[0])) found.push({ t: status[0], rank: status[1], sort: "plan", agent: item.agent, item, status });
      }
    }
    const late = Infinity;
    for (const list of this.actionsOf) {
      for (const item of list) {
        if ((item.status === "failed" || item.status === "timeout") && this.has(item.endT)) {
          found.push({ t: item.endT, rank: 0, sort: "action", agent: item.agent, item });
        }
      }
    }
    for (const [t, records, attempts] of plain.outcomes) {
      for (const item of records) found.push({ t, rank: late, sort: "outcome", agent: item.agent ?? item.agents?.[0] ?? -1, item });
      for (const item of attempts) {
        if (!item.succeeded) found.push({ t, rank: late, sort: "attempt", agent: item.agents?.[0] ?? -1, item });
      }
    }
    for (const [t, agent, name, gained] of plain.capabilities) {
      found.push({ t, rank: late, sort: "capability", agent, item: { name, gained } });
    }
    for (const [t, reached, goals, score] of this.episode.scores.filter((change) => this.has(change[0]))) {
      found.push({ t, rank: late, sort: "score", agent: -1, item: { reached, goals, score } });
    }
    for (const [t, tHat, agent] of plain.forced) found.push({ t, rank: tHat, sort: "forced", agent, item: {} });
    for (const item of this.failures) found.push({ t: item.t, rank: Infinity, sort: "failure", agent: item.agent, item });
    for (const item of this.verdict) found.push({ t: item.t, rank: item.t_hat ?? -1, sort: "verdict", agent: item.agent, item });
    for (const item of this.beliefs) found.push({ t: item.t, rank: item.answers[0].t_hat, sort: "belief", agent: item.agent, item });
    for (const item of this.repairs) found.push({ t: item.t, rank: item.begins, sort: "repair", agent: -1, item });
    for (const item of this.findings) found.push({ t: item.t, rank: item.t_hat, sort: "finding", agent: item.pattern === "deadlock" ? -1 : item.agents[0] ?? -1, item });
    if (plain.end) found.push({ t: plain.end.t, rank: late, sort: "end", agent: -1, item: plain.end });
    return found.sort((one, other) => one.t - other.t || (one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : 0));
  }

  /** Return an event as a line. */
  line(event) {
    const { item } = event;
    switch (event.sort) {
      case "message":
        return `to ${this.recipients(item.recipients)}: ${short(this.#said(item.content), 120)}`;
      case "thought":
        return this.thoughtLine(item);
      case "plan": {
        const [, , status, reason] = event.status;
        const what = status === "committed" ? item.actions.map(asCall).join("; ") : reason;
        return `${item.id} ${status}${item.flag && status === "committed" ? ` (${item.flag})` : ""}${what ? `: ${short(what, 120)}` : ""}`;
      }
      case "action":
        return `${item.name} ${item.status}: ${short(item.reason, 120)}`;
      case "outcome":
        return short(Object.entries(item).filter(([key]) => key !== "agent").map(([key, value]) => (key === "what" ? value : `${key} ${written(value)}`)).join(", "), 160);
      case "attempt":
        return `failed attempt at ${item.task?.kind}:${item.task?.target}${item.missing?.length ? `, missing ${item.missing.join(", ")}` : ""}`;
      case "capability":
        return `${item.gained ? "gains" : "loses"} ${item.name}`;
      case "score":
        return `${item.goals ? `${shown(item.reached)} of ${shown(item.goals)} goals, ` : ""}score ${shown(item.score)}`;
      case "failure":
        return short(failureLine(this, item), 200);
      case "verdict":
        return short(verdictLine(this, item), 200);
      case "belief":
        return beliefLine(item);
      case "repair":
        return short(repairLine(this, item), 200);
      case "finding":
        return short(findingLine(this, item), 200);
      case "forced":
        return "was made ready: its thoughts of this step were used up";
      default:
        return `the episode ends: ${item.outcome}${item.reason ? `, ${short(item.reason)}` : ""}`;
    }
  }

  /** A message in words, if it contains plans. */
  #said(content) {
    const lines = jointWords(plansIn(content), this.phrases);
    return lines.length ? lines.map(({ who, words }) => `${who}: ${words}`).join("; ") : content;
  }

  thoughtLine(thought) {
    if (thought.ends === undefined) return "starts to think, and does not finish";
    const tokens = thought.calls.reduce((sum, call) => sum + (call.completion_tokens || 0), 0);
    const calls = thought.calls.length ? `, ${thought.calls.length === 1 ? "a call" : `${thought.calls.length} calls`}, ${tokens} tokens` : "";
    return `thinks (${thought.acts.join(", ")})${calls}${thought.refused.length ? `; refused: ${short(thought.refused.join("; "))}` : ""}`;
  }

  recipients(recipients) {
    const all = recipients.length >= this.names.length - 1 && this.names.length > 2;
    return all ? "all" : recipients.map((agent) => this.name(agent)).join(", ");
  }

  /** Whether the list shows an event in the colour of trouble. */
  isTrouble(event) {
    if (event.sort === "plan") return !NOT_TOLD.has(event.status[2]) && event.status[2] !== "succeeded";
    if (event.sort === "thought") return event.item.refused?.length > 0;
    return ["action", "attempt", "forced", "repair", "finding", "failure", "verdict"].includes(event.sort);
  }
}

function written(value) {
  return typeof value === "object" ? JSON.stringify(value) : value;
}

/** Return the constraints of a task as a line. */
export function taskLine({ name, change: [, threshold, spatial, temporal, participation, joint, dependency] }) {
  const parts = Object.entries({ spatial, temporal, participation, "at once": joint }).map(([what, number]) => `${what} ${number}`);
  return `${name}: ${parts.join(", ")} of ${threshold}; dependency ${dependency ? "met" : "not met"}`;
}
