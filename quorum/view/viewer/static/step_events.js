/* The events of a step, as a list; for a step without events, links to the previous and the next event. */
import { button, el, fill, say } from "./dom.js";
import { lastBy } from "./order.js";

const MOST = 300;

export class StepEvents {
  /** @param on `seek(t)`, `open(sort, item)`. */
  constructor(on) {
    this.on = on;
    this.head = el("h2");
    this.list = el("ol", { class: "events" });
    this.root = el("section", { class: "now", "aria-label": "what happens at this step" }, this.head, this.list);
  }

  /** Show the events of a step, for one agent or, with -1, for all. */
  show(model, t, agent) {
    const concerns = (event) => agent < 0 || event.agent < 0 || event.agent === agent || event.item.recipients?.includes?.(agent);
    const found = model.eventsAt(t).filter(concerns);
    const who = agent < 0 ? "" : ` of ${model.name(agent)}`;
    say(this.head, `At t = ${t}${who}: ${found.length || "no"} ${found.length === 1 ? "event" : "events"}`);
    const rows = found.slice(0, MOST).map((event) => this.#row(model, event));
    if (found.length > MOST) rows.push(el("li", {}, `and ${found.length - MOST} more`));
    if (!found.length) rows.push(...this.#neighbours(model, t, concerns));
    fill(this.list, rows);
    this.list.scrollTop = 0;
  }

  #row(model, event) {
    const line = [el("span", { class: "sort" }, event.sort), " ", event.agent >= 0 ? el("bdi", { class: "who" }, model.name(event.agent)) : null, " ", el("bdi", {}, model.line(event))];
    return el("li", { class: model.isTrouble(event) ? "bad" : null }, button(line, "read it", () => this.on.open(event.sort, event.item)));
  }

  #neighbours(model, t, concerns) {
    const middle = lastBy(model.events, (event) => event.t < t) + 1;
    const before = model.events.slice(0, middle).findLast(concerns);
    const after = model.events.slice(middle).find(concerns);
    const found = [["previous event", before], ["next event", after]].filter(([, event]) => event);
    return found.map(([words, event]) => el("li", {}, button([el("span", { class: "soft" }, `${words}, at t = ${event.t}: `), el("bdi", {}, model.line(event))], "go to this instant", () => {
      this.on.seek(event.t);
      this.on.open(event.sort, event.item);
    })));
  }
}
