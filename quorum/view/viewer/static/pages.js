/* The pages of an episode: ranges of steps, each read when it is shown; a few stay in memory. A run that is not very long has one page. */
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

  /** Read the page of a step, unless it is in memory. Return its number, the promises of its `model` and its `film`, and `ways`, which requests the paths of its actions. */
  at(t) {
    const number = this.number(t);
    const page = this.kept.get(number) ?? this.#read(number);
    this.kept.delete(number);
    this.kept.set(number, page);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return page;
  }

  /** Read the page of the final instant, which may change in the meantime. @param {() => number} instant @param tell called with the steps being read. */
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

  /** Read the next page in advance, if the end of this one is near. */
  ahead(t) {
    const first = this.firsts[this.number(t)];
    const next = this.firsts[this.number(t) + 1];
    if (next !== undefined && t - first >= LATE * (next - first)) this.at(next);
  }

  /** Read the events of a page, and keep nothing. */
  async model(number) {
    return new Model(this.episode, await this.source.page(this.firsts[number], number));
  }

  /** Read the pictures of a page, unless they are in memory; do not keep them. */
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
    for (const part of [page.model, page.film]) part.catch(() => this.kept.delete(number)); // read again the next time
    return page;
  }
}
