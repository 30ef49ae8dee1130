/* The messages in order, as a chat; between them, in smaller type, the decisions and their results. */
import { button, el, fill } from "./dom.js";
import { instantLink } from "./links.js";
import { lastBy } from "./order.js";
import { planLines, planWords } from "./plan_words.js";
import { short, shown } from "./text.js";

const MOST = 240;
const LONG = 1200;
const QUIET = new Set(["plan", "attempt", "score", "forced", "end"]);

export class Transcript {
  /** @param on `seek(t)`, `open(sort, item)`. */
  constructor(model, on) {
    this.model = model;
    this.on = on;
    this.filter = { agent: -1, kind: "", pair: null };
    this.t = 0;
    this.from = 0;
    this.root = el("div", { class: "transcript", role: "log", "aria-live": "off", "aria-label": "transcript of the messages", tabIndex: 0 });
    this.stale = true;
    this.differs = null;
    this.common = null;
    this.unfolded = false;
  }

  /** Mark the differences from another run, and fold the common beginning before a step, unless the user looks at it. @param {Map<object, string>|null} differs @param {number|null} common @param {number} t the step that is shown */
  mark(differs, common, t) {
    this.t = t;
    this.differs = differs;
    this.common = common;
    this.unfolded = common === null || this.t < common;
    this.#make();
  }

  /** Show the filtered entries: of an agent, or -1 for all; of a kind, `messages` for messages only, or empty for all; of a sender and a recipient, or null. */
  choose(filter) {
    this.filter = filter;
    this.#make();
  }

  /** Show the same for another page, or for this one after it has grown. */
  turn(model) {
    this.model = model;
    this.#make();
  }

  /** Go to the messages and decisions of a step, or of the last earlier step that has any. */
  show(t) {
    this.t = t;
    if (!this.unfolded && this.common !== null && t < this.common) {
      this.unfolded = true;
      this.stale = true;
    }
    if (this.stale) this.#make();
    const last = Math.max(0, lastBy(this.entries, (entry) => entry.t <= t));
    if (last < this.from || last >= this.from + this.rows.length) this.#render(last - MOST / 2);
    this.rows.forEach((row, i) => row.classList.toggle("here", this.entries[this.from + i].t === t));
    const first = lastBy(this.entries, (entry) => entry.t < this.entries[last]?.t) + 1;
    this.#reveal(this.rows[Math.max(0, first - this.from)], this.rows[last - this.from]);
  }

  /** Move these rows into view, or the first of them if they are too many. The page itself may scroll, too; this moves only the box. */
  #reveal(first, last) {
    if (!first) return;
    const { root } = this;
    const [top, bottom] = [first.offsetTop, last.offsetTop + last.offsetHeight]; // from the top of the box, which is positioned
    const room = Math.max(0, root.clientHeight - (bottom - top));
    if (top < root.scrollTop || bottom > root.scrollTop + root.clientHeight) root.scrollTop = top - Math.min(room, root.clientHeight / 3);
  }

  #make() {
    this.stale = false;
    const entries = this.#entries();
    this.entries = this.unfolded || this.common === null ? entries : entries.filter(({ t }) => t >= this.common);
    this.folded = entries.length - this.entries.length;
    this.#render(lastBy(this.entries, (entry) => entry.t <= this.t) - MOST / 2);
    this.show(this.t);
  }

  #entries() {
    const { model } = this;
    const found = [];
    const last = () => found.at(-1);
    let talk = null;
    for (const event of model.events) {
      if (!this.#wanted(event)) continue;
      const { t, sort, item } = event;
      if (sort === "message") {
        if (!talk || talk.t !== t) {
          talk = { t, sort: "talk", count: 0, round: 1, instants: new Map() };
          found.push(talk);
        }
        const round = turnOf(talk, item);
        if (round > talk.round) {
          talk.round = round;
          found.push({ t, sort: "round", round });
        }
        talk.count++;
        talk.ends = item.t_hat;
        talk.begins ??= item.t_hat;
        found.push({ t, sort, item });
      } else if (sort === "plan" && event.status[2] === "committed") {
        if (last()?.sort === "commit" && last().t === t && last().tHat === event.status[1]) last().plans.push(item);
        else found.push({ t, sort: "commit", tHat: event.status[1], plans: [item] });
      } else if (sort === "plan") {
        const what = ending(event);
        if (last()?.sort === "ended" && last().t === t && last().what === what) last().events.push(event);
        else found.push({ t, sort: "ended", what, events: [event] });
      } else found.push({ t, sort: "quiet", event });
    }
    return found;
  }

  #wanted({ sort, agent, item, status }) {
    const { agent: who, kind, pair } = this.filter;
    if (sort === "message") {
      if (pair && (item.sender !== pair[0] || !item.recipients.includes(pair[1]))) return false;
      if (who >= 0 && item.sender !== who && !item.recipients.includes(who)) return false;
      return !kind || kind === "messages" || item.what === kind;
    }
    if (pair || kind || !QUIET.has(sort) || (sort === "plan" && status[2] === "running")) return false;
    return who < 0 || agent < 0 || agent === who;
  }

  #render(from) {
    const length = this.entries.length;
    this.from = Math.max(0, Math.min(Math.floor(from), length - MOST));
    const to = Math.min(length, this.from + MOST);
    this.rows = this.entries.slice(this.from, to).map((entry) => this.#row(entry));
    fill(this.root, [
      this.folded ? button(`${this.folded} entries before step ${this.common}, the same in both`, "show the beginning that both have in common", () => this.#unfold(), { class: "link" }) : null,
      this.from ? button(`${this.from} earlier`, "show earlier entries", () => this.#render(this.from - MOST / 2), { class: "link" }) : null,
      length ? this.rows : el("p", { class: "soft" }, "No matching message or decision in these steps."),
      to < length ? button(`${length - to} later`, "show later entries", () => this.#render(this.from + MOST / 2), { class: "link" }) : null,
    ]);
  }

  #unfold() {
    this.unfolded = true;
    this.#make();
  }

  #row(entry) {
    const row = this.#entry(entry);
    const items = entry.plans ?? entry.events?.map(({ item }) => item) ?? [entry.event?.item ?? entry.item];
    if (this.differs && items.some((item) => this.differs.has(item))) row.classList.add("differs");
    if (this.common !== null && entry.t < this.common) row.classList.add("common");
    return row;
  }

  #entry(entry) {
    switch (entry.sort) {
      case "talk":
        return el("h2", { class: "talk-head" }, `Before step ${entry.t}: ${entry.count === 1 ? "a message" : `${entry.count} messages`}`, el("span", { class: "note" }, ` t^ = ${shown(entry.begins)}${entry.ends > entry.begins ? ` to ${shown(entry.ends)}` : ""}`));
      case "round":
        return el("h3", { class: "round" }, `round ${entry.round}`);
      case "message":
        return this.#message(entry.item);
      case "commit":
        return this.#commits(entry);
      case "ended":
        return this.#ended(entry);
      default:
        return this.#quiet(entry.event);
    }
  }

  #message(message) {
    const { model } = this;
    const mine = message.sender === this.filter.agent;
    return el("article", { class: `said${mine ? " mine" : ""}`, "data-message": String(message.message), onclick: () => this.#go(message.t, "message", message) },
      el("p", { class: "meta" },
        el("b", {}, el("bdi", {}, model.name(message.sender))), " to ", el("bdi", {}, model.recipients(message.recipients)), " ",
        el("span", { class: "kind" }, message.what), " ",
        instantLink(() => {}, message.t, message.t_hat)),
      planLines(message.content, model.phrases) ?? el("p", { class: "words", dir: "ltr" }, message.content.slice(0, LONG), message.content.length > LONG ? "\u2026" : ""),
      el("p", { class: "soft claims", dir: "ltr" }, model.claims(message)),
      el("p", { class: "readers" }, message.tasks.length ? `with ${message.tasks.length} open tasks, ` : "", readers(model, message)));
  }

  #commits({ t, plans }) {
    const { model } = this;
    const lines = new Map();
    for (const plan of plans) {
      const words = `${plan.flag ? `${plan.flag.replaceAll("_", " ")}: ` : ""}${planWords(plan, model.phrases)}`;
      lines.set(words, [...(lines.get(words) ?? []), plan]);
    }
    return el("div", { class: "quiet" }, [...lines].map(([words, same]) => el("p", {},
      this.#names(same), " ", this.#link(same.length > 1 ? "decide" : "decides", () => this.#go(t, "plan", same[0])), ": ", el("bdi", {}, short(words, 300)))));
  }

  #ended({ t, what, events }) {
    const bad = this.model.isTrouble(events[0]) ? " bad" : "";
    return el("p", { class: `quiet${bad}` }, this.#names(events.map(({ item }) => item)), ": ", this.#link(events.length > 1 ? "plans" : "plan", () => this.#go(t, "plan", events[0].item)), " ", el("bdi", {}, short(what, 200)));
  }

  #names(plans) {
    return el("bdi", {}, this.model.listed(plans.map(({ agent }) => agent)));
  }

  #link(words, go) {
    return button(words, "read the plan", go, { class: "link" });
  }

  #quiet(event) {
    const { model } = this;
    const bad = model.isTrouble(event) ? " bad" : "";
    return el("p", { class: `quiet${bad}` }, button(`${event.agent >= 0 ? model.name(event.agent) : event.sort}`, "read it", () => this.#go(event.t, event.sort, event.item), { class: "link" }), ": ", el("bdi", {}, model.line(event)));
  }

  #go(t, sort, item) {
    this.on.seek(t);
    this.on.open(sort, item);
  }
}

/** How a plan ended, in words. */
function ending({ status: [, , status, reason] }) {
  return `${status.replaceAll("_", " ")}${reason ? `: ${reason}` : ""}`;
}

/** How often the sender of a message has spoken in this conversation; messages of one thought count as one turn. */
function turnOf(talk, message) {
  const instants = talk.instants.get(message.sender) ?? [];
  if (instants.at(-1) !== message.t_hat) instants.push(message.t_hat);
  talk.instants.set(message.sender, instants);
  return instants.length;
}

/** The readers of a message, and the recipients that committed a plan before they read it. */
export function readers(model, message) {
  const read = new Set();
  for (let i = 0; i < message.read.length; i += 3) read.add(message.read[i]);
  const unread = message.recipients.filter((recipient) => !read.has(recipient));
  const parts = [];
  if (!unread.length) parts.push(message.recipients.length > 2 ? `read by all ${message.recipients.length}` : `read by ${model.listed(message.recipients)}`);
  else if (!read.size) parts.push("read by nobody");
  else parts.push(`read by ${read.size} of ${message.recipients.length}, not by ${model.listed(unread)}`);
  if (message.passed_over.length) parts.push(`a plan of ${model.listed(message.passed_over)} came before the reading`);
  return parts.join("; ");
}
