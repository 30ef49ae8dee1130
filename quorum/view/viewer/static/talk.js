/* Messages: who wrote to whom, and the texts. The filters apply to both. */
import { button, el, fill, say } from "./dom.js";
import { Matrix } from "./matrix.js";
import { ofMessages, ofTraffic, total } from "./traffic.js";
import { Transcript } from "./transcript.js";

const WHOLE = "whole run";
const VIEW = "steps in view";
const STEP = "this step";

export class Talk {
  /** @param on `seek(t)`, `open(sort, item)`, `agent(index)`, `window()`: the first and the last step in view of the lanes. */
  constructor(model, on) {
    this.model = model;
    this.on = on;
    this.pair = null;
    this.transcript = new Transcript(model, on);
    this.matrix = new Matrix((sender, recipient) => this.#choosePair(sender, recipient));
    this.who = el("select", { "aria-label": "messages of an agent", onchange: () => on.agent(Number(this.who.value)) });
    this.kind = el("select", { "aria-label": "kind of messages", onchange: () => this.#filter() });
    this.scope = el("select", { "aria-label": "steps that are counted", onchange: () => this.#count() }, [WHOLE, VIEW, STEP].map((name) => el("option", { value: name }, name)));
    this.sum = el("p", { class: "soft sum" });
    this.chip = el("span", { class: "chip" });
    this.root = el("section", { class: "talk", "aria-label": "messages", hidden: true },
      el("div", { class: "counts" }, el("div", { class: "filters" }, this.scope, el("span", { class: "soft" }, "click a cell to read it")), this.matrix.root, this.sum, this.key = key()),
      el("div", { class: "chat" }, el("div", { class: "filters" }, this.who, this.kind, this.chip), this.transcript.root));
    this.agent = -1;
    this.t = 0;
    this.stale = true;
  }

  get shown() {
    return !this.root.hidden;
  }

  set shown(shown) {
    this.root.hidden = !shown;
    if (shown) this.refresh();
  }

  /** Show another page, or this one after it has grown. */
  turn(model) {
    this.model = model;
    this.transcript.model = model;
    this.refresh();
  }

  /** Show only messages from and to an agent, or all for -1. */
  choose(agent) {
    this.agent = agent;
    this.who.value = String(agent);
    this.#filter();
  }

  show(t) {
    this.t = t;
    if (!this.shown) return;
    this.transcript.show(t);
    if (this.scope.value === STEP) this.#count();
  }

  /** Redraw everything, if it is visible. */
  refresh() {
    this.stale = true;
    if (!this.shown) return;
    this.stale = false;
    const { model } = this;
    this.root.classList.toggle("silent", !model.episode.traffic.length);
    const kinds = [...new Set(model.episode.traffic.map((row) => row[2]))].sort();
    choices(this.who, [["-1", "anyone"], ...model.names.map((name, agent) => [String(agent), name])]);
    choices(this.kind, [["", "messages, plans and outcomes"], ["messages", "messages only"], ...kinds.map((kind) => [kind, kind])]);
    this.who.value = String(this.agent);
    this.#filter();
  }

  #choosePair(sender, recipient) {
    const same = this.pair?.[0] === sender && this.pair?.[1] === recipient;
    this.pair = same ? null : [sender, recipient];
    this.#filter();
    this.matrix.root.querySelector(`td[data-pair="${sender} ${recipient}"]`)?.focus();
  }

  #filter() {
    if (!this.shown) return;
    if (this.stale) {
      this.refresh();
      return;
    }
    const { model, pair } = this;
    fill(this.chip, pair ? [button(`${model.name(pair[0])} to ${model.name(pair[1])} \u00d7`, "show all messages again", () => this.#choosePair(...pair))] : []);
    this.transcript.t = this.t;
    this.transcript.choose({ agent: this.agent, kind: this.kind.value, pair });
    this.#count();
  }

  #count() {
    const { model } = this;
    const n = model.names.length;
    const kind = this.kind.value === "messages" ? "" : this.kind.value;
    const [first, last] = this.scope.value === STEP ? [this.t, this.t] : this.on.window();
    const sums = this.scope.value === WHOLE ? ofTraffic(model.episode.traffic, n, kind) : ofMessages(model.messages.filter(({ t }) => t >= first && t <= last), n, kind);
    this.matrix.show(model.names, sums, this.pair);
    this.key.hidden = !total(sums).passedOver;
    const steps = this.scope.value === WHOLE ? "" : ` in step${first === last ? ` ${first}` : `s ${first} to ${last}`}`;
    say(this.sum, `To all recipients${steps}: ${total(sums).words()}.`);
  }
}

function choices(select, options) {
  const was = select.value;
  fill(select, options.map(([value, name]) => el("option", { value }, name)));
  if (options.some(([value]) => value === was)) select.value = was;
}

function key() {
  return el("p", { class: "soft matrix-key" },
    el("span", { class: "swatch late" }), " some were read only after the recipient had committed another plan; ",
    el("span", { class: "swatch never" }), " some were never read, although the recipient had committed one.");
}
