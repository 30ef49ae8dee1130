/* The head of the page of an episode: the run and its outcome, with the search and the switches. */
import { el, fill, say } from "./dom.js";
import { frontOf, isSite, pageOf } from "./sources.js";
import { short, shown } from "./text.js";
import { changeWords, instant } from "./tree.js";

const FACTS = ["outcome", "world", "team", "topology", "seed", "clock", "models"];

export class Head {
  /** @param controls elements on the right. @param up address of the front page; null in a file, which has no other page. */
  constructor(controls, up) {
    this.up = up;
    this.name = el("h1");
    this.facts = el("p", { class: "facts" });
    this.badges = el("span", { class: "badges" });
    this.root = el("header", { class: "episode-head" },
      up ? el("a", { href: frontOf(up), title: "back to the first page" }, "\u2039 runs") : null,
      this.name,
      this.badges,
      el("div", { class: "controls" }, controls),
      this.facts,
      this.off = el("p", { class: "off branch-of", hidden: true }));
  }

  /** Show the data about the run. @param {import("./contract.js").Episode} plain */
  tell(plain) {
    say(this.name, plain.name);
    this.name.title = plain.name;
    const facts = FACTS.filter((name) => name in plain.facts).map((name) => [name, plain.facts[name]]);
    fill(this.facts, facts.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, short(shown(value), 40)))));
    this.off.hidden = !plain.off;
    if (plain.off) fill(this.off, offWords(plain.off, isSite() ? null : this.up)); // a site may lack the parent
    fill(this.badges, badges(plain, "the page follows the run"));
  }
}

/** Describe a branch: its parent, its branch point and its change. @param {import("./contract.js").Branched} off @param {string|null} up */
export function offWords(off, up) {
  const name = el("bdi", {}, short(off.run, 100));
  return ["branches off ", up === null ? el("b", {}, name) : el("a", { href: `${pageOf(off.run, up)}#t=${off.t}`, title: "the run that it branches off" }, name), ` from ${instant(off)}${off.draw ? `, draw ${off.draw}` : ""}: `, el("b", { title: off.change }, el("bdi", {}, short(changeWords(off.change), 300)))];
}

/** The important marks of a run. @param {import("./contract.js").Episode} plain @param underWay explanation of a running episode. */
export function badges(plain, underWay) {
  return [
    plain.under_way ? el("span", { class: "badge under-way", title: underWay }, "under way") : null,
    plain.simulated ? el("span", { class: "badge", title: "a simulated model answered in this episode" }, "simulated") : null,
  ];
}
