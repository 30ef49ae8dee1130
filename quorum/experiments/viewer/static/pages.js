/* The pages of an episode: runs of steps, each read when it is shown, and a few kept. A run that is not very long is one page. */
import { Model } from "./model.js";
import { lastUpTo } from "./order.js";

const KEPT = 3;
const LATE = 0.75;

export class Pages {
  /** @param {import("./contract.js").Episode} episode @param {import("./sources.js").Source} source */
  constructor(episode, source) {
    this.episode = episode;
    this.firsts = episode.pages;
    this.source = source;
    this.kept = new Map();
  }

  /** Number of the page of a step. */
  number(t) {
    return Math.max(0, lastUpTo(this.firsts, t));
  }

  /** Read the page of a step, unless it is kept: its number, and the promises of its `model` and its `film`; and `ways`, which asks for where its actions lead. */
  at(t) {
    const number = this.number(t);
    const page = this.kept.get(number) ?? this.#read(number);
    this.kept.delete(number);
    this.kept.set(number, page);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return page;
  }

  /** Read the page of the instant that is wanted in the end: it may go on meanwhile. @param {() => number} instant @param tell called with the steps that are read. */
  async reach(instant, tell = () => {}) {
    for (;;) {
      const page = this.at(instant());
      const steps = this.steps(page.number);
      tell(steps);
      let model;
      try {
        model = await page.model;
      } catch (error) {
        throw new Error(`The ${steps} cannot be read: ${error.message}`, { cause: error });
      }
      if (model.has(instant())) return { page, model };
    }
  }

  /** Read the page after this one, if its end is near: it is there when it is wanted. */
  ahead(t) {
    const first = this.firsts[this.number(t)];
    const next = this.firsts[this.number(t) + 1];
    if (next !== undefined && t - first >= LATE * (next - first)) this.at(next);
  }

  /** Read what happened on a page, and keep nothing of it. */
  async model(number) {
    return new Model(this.episode, await this.source.page(this.firsts[number], number));
  }

  /** Read the pictures of a page, unless they are kept; they are not kept for that. */
  film(number) {
    return this.kept.get(number)?.film ?? this.source.film(this.firsts[number], number);
  }

  /** The steps of a page, in words. */
  steps(number) {
    const last = number + 1 < this.firsts.length ? this.firsts[number + 1] - 1 : this.episode.steps;
    return `steps ${this.firsts[number].toLocaleString("en")} to ${last.toLocaleString("en")}`;
  }

  #read(number) {
    const first = this.firsts[number];
    const page = { number, model: this.model(number), film: this.source.film(first, number), ways: () => this.source.ways(first, number) };
    for (const part of [page.model, page.film]) part.catch(() => this.kept.delete(number)); // asked for again the next time
    return page;
  }
}
