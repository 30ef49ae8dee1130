/* Shows the selected item: a message, a plan, a thought with its calls, a constraint. */
import { button, el, fill } from "./dom.js";
import { taskLine } from "./model.js";
import { lastBy } from "./order.js";
import { planLines } from "./plan_words.js";
import { instantLink } from "./links.js";
import { summary } from "./overview.js";
import { failureLines } from "./failures.js";
import { beliefLines } from "./beliefs.js";
import { repairLines } from "./repairs.js";
import { findingLines, reactionsOf } from "./findings.js";
import { asCall, shown } from "./text.js";
import { usageLines } from "./usage.js";
import { verdictLines } from "./verdict.js";
import { attemptWords, whyLines } from "./why.js";

const LONG = 20000;

export class Reader {
  /** @param {import("./sources.js").Source} source source of calls. @param seek called with the `t` of a link. */
  constructor(model, source, seek) {
    this.model = model;
    this.source = source;
    this.seek = seek;
    this.root = el("section", { class: "reader", "aria-label": "selection", "aria-live": "polite" });
    this.welcome();
  }

  welcome() {
    this.opened = null;
    fill(this.root, summary(this.model, this.seek));
  }

  /** Show an item of the lanes or of the list. */
  open(sort, item) {
    this.opened = { sort, item };
    if (sort === "usage") fill(this.root, [heading("tokens and money", ""), usageLines(this.model, item, this.seek)]);
    else if (sort === "finding") fill(this.root, [heading("interaction", item.pattern.replaceAll("_", " ")), findingLines(this.model, item, (kind, found) => this.open(kind, found), this.seek)]);
    else if (sort === "repair") fill(this.root, [heading("repair", item.mode ?? ""), repairLines(this.model, item, (kind, found) => this.open(kind, found), this.seek)]);
    else if (sort === "verdict") fill(this.root, [heading("blame", item.method ?? ""), verdictLines(this.model, item, this.seek)]);
    else if (sort === "belief") fill(this.root, [heading("beliefs", this.model.name(item.agent)), beliefLines(item)]);
    else if (sort === "failure") fill(this.root, [heading(item.kind.replaceAll("_", " "), ""), failureLines(this.model, item, this.seek)]);
    else if (sort === "attempt") fill(this.root, [heading(sort, ""), el("p", {}, el("bdi", {}, attemptWords(this.model, item)))]);
    else if (!["message", "thought", "plan", "action"].includes(sort)) {
      const text = sort === "task" ? taskLine(item) : JSON.stringify(item, null, 2);
      fill(this.root, [heading(sort === "task" ? "constraint" : sort, ""), long(text)]);
    } else if (sort === "message") this.#message(item);
    else if (sort === "thought") this.#thought(item);
    else this.#plan(sort === "plan" ? item : this.model.plansById.get(item.plan), item);
    this.root.scrollTop = 0;
  }

  /** Show a failure or an interruption, and its cause. */
  openBreak({ t, x, what, agent, reason }) {
    const { model } = this;
    const event = model.eventsAt(t).find((found) => found.agent === agent && model.isTrouble(found));
    const message = model.messages.findLast((found) => found.x <= x && found.t === t && found.recipients.includes(agent));
    if (what === "interruption" && message) this.open("message", message);
    else if (event) this.open(event.sort, event.item);
    else fill(this.root, []);
    const who = agent < 0 ? "" : ` of ${model.name(agent)}`;
    this.root.prepend(el("p", { class: "bad" }, el("b", {}, what), who, reason ? `: ${reason}` : "", what === "interruption" && message ? ", by this message:" : ""));
  }

  #at(t, tHat) {
    return instantLink(this.seek, t, tHat);
  }

  #message(message) {
    const { model } = this;
    const read = [];
    const reactions = reactionsOf(message);
    const instead = new Map();
    for (let i = 0; i < message.instead.length; i += 2) instead.set(message.instead[i], message.instead[i + 1]);
    for (let i = 0; i < message.read.length; i += 3) {
      const [agent, t, tHat] = message.read.slice(i, i + 3);
      read.push(el("li", {}, `${model.name(agent)} at `, this.#at(t, tHat), `: ${reactions.get(agent) ?? "wait"}`,
        instead.has(agent) ? el("bdi", {}, `; it read ${instead.get(agent) === null ? "nothing" : JSON.stringify(instead.get(agent))} instead`) : ""));
    }
    fill(this.root, [
      heading(`message ${message.message}`, message.what),
      el("p", {}, el("b", {}, el("bdi", {}, model.name(message.sender))), " to ", message.recipients.map((r) => model.name(r)).join(", "), ", sent at ", this.#at(message.t, message.t_hat)),
      planLines(message.content, model.phrases),
      long(message.content),
      el("p", { class: "soft claims", dir: "ltr" }, model.claims(message)),
      message.tasks.length ? [el("p", { class: "soft" }, "With these open tasks:"), el("ul", { class: "carried" }, message.tasks.map((task) => el("li", {}, taskWords(model, task))))] : null,
      el("p", { class: "soft" }, read.length ? "Read by:" : "Nobody read it."),
      el("ul", {}, read),
    ]);
  }

  #plan(plan, action) {
    if (!plan) {
      fill(this.root, [heading("action", ""), long(JSON.stringify(action, null, 2))]);
      return;
    }
    const { model } = this;
    const list = plan.actions.map((step, index) => {
      const run = model.actionsOf[plan.agent].find((found) => found.plan === plan.id && found.index === index);
      const state = run ? ` \u2014 ${run.status ?? "running"}${run.reason ? `: ${run.reason}` : ""}, from t = ${run.t}${run.endT === null ? "" : ` to ${run.endT}`}` : "";
      return el("li", { class: run?.status === "failed" || run?.status === "timeout" ? "bad" : null }, el("code", {}, asCall(step)), state);
    });
    const thoughts = model.thoughtsOf[plan.agent];
    const thought = thoughts[lastBy(thoughts, (found) => found.t < plan.t || (found.t === plan.t && found.begins <= plan.t_hat))];
    fill(this.root, [
      heading(`plan ${plan.id}`, plan.flag),
      el("p", {}, el("b", {}, el("bdi", {}, model.name(plan.agent))), plan.task ? ` for ${plan.task.kind}:${plan.task.target}` : " for no named task", ", committed at ", this.#at(plan.t, plan.t_hat)),
      whyLines(model, plan, this.seek),
      planLines(plan, model.phrases),
      plan.rationale ? long(plan.rationale) : null,
      el("ol", { class: "actions" }, list),
      el("p", {}, plan.statuses.map(([t, tHat, status, reason], i) => [i ? " \u2192 " : "", el("b", {}, status), reason ? ` (${reason})` : "", " at ", this.#at(t, tHat)])),
      thought ? el("p", {}, button("the thought before it", "read the thought before the plan", () => this.open("thought", thought), { class: "link" })) : null,
    ]);
  }

  #thought(thought) {
    const { model } = this;
    const calls = thought.calls || [];
    const parts = [
      heading("thought", thought.acts.join(", ")),
      el("p", {}, el("b", {}, el("bdi", {}, model.name(thought.agent))), " starts at ", this.#at(thought.t, thought.begins), thought.ends === undefined ? " and does not finish" : `, ends at t^ = ${shown(thought.ends)}`),
      thought.problems.length ? el("div", { class: "bad" }, "After a refusal: ", long(thought.problems.join("\n"))) : null,
      thought.refused?.length ? el("div", { class: "bad" }, "Refused: ", long(thought.refused.join("\n"))) : null,
      calls.length ? null : el("p", { class: "soft" }, "It called no language model."),
    ];
    calls.forEach((call, i) => {
      const numbers = thought.numbers[i];
      const answered = call.unanswered && call.completion_tokens === undefined ? [] : [
        call.simulated ? "simulated" : call.model, `${shown(call.prompt_tokens)} tokens in`, `${shown(call.completion_tokens)} out`,
        call.usd === null || call.usd === undefined ? "price unknown" : `$${shown(call.usd)}`, `${shown(call.seconds)} s`,
        call.cache_hit ? "from the cache" : "", call.empty_answer ? `empty answer (${call.empty_answer})` : "", call.parse_failure ? "parse failure" : "", call.reasoning_tokens ? `${call.reasoning_tokens} tokens of thoughts` : "", call.repairs ? `${call.repairs} repairs` : "", call.retries ? `${call.retries} retries` : "",
      ];
      const usage = [...answered, call.unanswered ? `no answer to the last request: ${call.unanswered}` : ""];
      parts.push(el("p", {}, el("b", {}, `call ${i + 1}`), ` \u2014 ${usage.filter(Boolean).join(", ")}`));
      if (!numbers.length) parts.push(el("p", { class: "soft" }, "calls.jsonl has no record of it."));
      for (const number of numbers) {
        const holder = el("div", {});
        parts.push(holder);
        this.#load(holder, number);
      }
    });
    fill(this.root, parts);
  }

  /** Show a call by its number in `calls.jsonl`. */
  async openCall(number) {
    const holder = el("div", {}, "\u2026");
    fill(this.root, [heading(`call ${number}`, ""), holder]);
    await this.#load(holder, number, true);
  }

  async #load(holder, number, head = false) {
    let call;
    try {
      call = await this.source.call(number);
    } catch (error) {
      fill(holder, [el("p", { class: "bad" }, `The call cannot be read: ${error.message}`)]);
      return;
    }
    const { reply, failure } = call;
    fill(holder, [
      head ? el("p", {}, el("b", {}, el("bdi", {}, call.agent)), " at ", this.#at(call.t)) : null,
      reply ? [el("h3", {}, `reply${reply.simulated ? " (simulated)" : ""}`), planLines(reply.text, this.model.phrases), long(reply.text)] : null,
      reply?.rejected.length ? reply.rejected.map((r) => [el("h3", { class: "bad" }, `rejected: ${r.reasons}`), long(r.text)]) : null,
      failure ? [el("h3", { class: "bad" }, `failed: ${failure.kind}`), long(failure.message)] : null,
      call.messages.map((message) => el("details", { open: false }, el("summary", {}, `prompt: ${message.role}`), this.#pictures(message), long(message.content))),
    ]);
  }

  #pictures(message) {
    return (message.pictures ?? []).map((hash) => {
      const address = this.source.picture(hash);
      if (!address) return el("p", { class: "soft" }, `a picture: pictures/${hash}.png in the folder of the run`);
      return el("img", { class: "seen", src: address, alt: "the picture that the model saw", loading: "lazy" });
    });
  }
}

/** An open task: its kind and target, then its details, with agents by name. */
function taskWords(model, { task, ...said }) {
  const words = ([key, value]) => `${key.replaceAll("_", " ")} ${["in_place", "able", "planned"].includes(key) && Array.isArray(value) ? model.listed(value) || "nobody" : JSON.stringify(value)}`;
  return [el("b", {}, `${task?.kind}:${task?.target}`), " ", Object.entries(said).map(words).join("; ")];
}

function heading(title, note) {
  return el("h2", {}, title, note ? el("span", { class: "note" }, ` ${note}`) : null);
}

/** A text as written; a button shows the rest of a very long text. */
function long(text) {
  const whole = typeof text === "string" ? text : JSON.stringify(text, null, 2) ?? "";
  const block = el("pre", { dir: "ltr" }, whole.slice(0, LONG));
  if (whole.length <= LONG) return block;
  const more = button(`show all ${whole.length.toLocaleString("en")} characters`, "show the whole text", () => {
    fill(block, [whole]);
    more.remove();
  }, { class: "link" });
  return [block, more];
}
