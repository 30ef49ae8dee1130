/* The head of the page of an episode: which run it is and what came of it, with the search and the switches. */
import { el, fill, say } from "./dom.js";
import { short, shown } from "./text.js";

const FACTS = ["outcome", "world", "team", "topology", "seed", "clock", "models"];

export class Head {
  /** @param controls what stands to the right. */
  constructor(controls, withinSweep) {
    this.name = el("h1");
    this.facts = el("p", { class: "facts" });
    this.badges = el("span", { class: "badges" });
    this.root = el("header", { class: "episode-head" },
      withinSweep ? el("a", { href: "../", title: "all runs" }, "\u2039 runs") : null,
      this.name,
      this.badges,
      el("div", { class: "controls" }, controls),
      this.facts);
  }

  /** Say what is known of the run. @param {import("./contract.js").Episode} plain */
  tell(plain) {
    say(this.name, plain.name);
    this.name.title = plain.name;
    const facts = FACTS.filter((name) => name in plain.facts).map((name) => [name, plain.facts[name]]);
    fill(this.facts, facts.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, short(shown(value), 40)))));
    fill(this.badges, badges(plain, "the page goes on with the run"));
  }
}

/** What must not be overlooked of a run. @param {import("./contract.js").Episode} plain @param underWay what it means that the run goes on. */
export function badges(plain, underWay) {
  return [
    plain.under_way ? el("span", { class: "badge under-way", title: underWay }, "under way") : null,
    plain.simulated ? el("span", { class: "badge", title: "a simulated model answered in this episode" }, "simulated") : null,
  ];
}
