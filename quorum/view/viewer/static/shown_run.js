/* A run on a page: its world and its lanes. They show one of its pages, and turn to others as the time moves. */
import { el, fill } from "./dom.js";
import { Lanes } from "./lanes.js";
import { World } from "./world.js";

const LIST_PAUSE = 100;

/**
 * A subclass has `instant()`, the step to show; `take(model)`, which gives the model to its own parts; `list(t)`, which
 * shows the lists of a step; and `refresh()`, which redraws everything.
 */
export class ShownRun {
  /**
   * @param {import("./contract.js").Episode} plain @param {import("./pages.js").Pages} pages @param model of the first page.
   * @param on `seek(t)`, `open(sort, item)`, `agent(index)`; and `turned()` and `drawn()`, called when another page, or its pictures, have arrived.
   * @param {string} [label] text alternative of the world.
   */
  constructor(plain, pages, model, on, label) {
    this.plain = plain;
    this.pages = pages;
    this.model = model;
    this.on = on;
    this.missing = [];
    this.turning = null;
    this.listed = false;
    this.world = new World(plain.agents, { agent: on.agent, problems: (more) => this.missing.length || this.showProblems(more) }, label);
    this.lanes = new Lanes(model, on);
    this.problems = el("ul", { class: "problems", "aria-live": "assertive" });
  }

  /** Show the instant, or turn to its page first; the lists follow after a pause. */
  showInstant() {
    const t = this.instant();
    if (!this.model.has(t)) {
      this.turning ??= this.#turn().finally(() => {
        this.turning = null;
      });
      return;
    }
    this.pages.ahead(t);
    this.world.show(t);
    this.lanes.show(t);
    this.waiting ??= setTimeout(() => {
      this.waiting = null;
      this.listed = true;
      this.world.list(this.model, this.instant());
      this.list(this.instant());
    }, this.listed ? LIST_PAUSE : 0);
  }

  /** Turn to the page of the instant when it is read; the instant may have changed in the meantime. */
  async #turn() {
    let page;
    let model;
    try {
      ({ page, model } = await this.pages.reach(() => this.instant(), (steps) => this.on.reading?.(steps)));
    } catch (error) {
      this.showProblems([error.message]);
      return;
    }
    if (model === this.model) { // the time returned to this page
      this.showProblems(this.missing);
      return;
    }
    this.take(model);
    this.lanes.turn(model);
    this.world.forget();
    this.missing = [];
    this.showProblems();
    this.refresh();
    this.showInstant();
    this.on.turned?.();
    this.draw(page, model);
  }

  /** Show the pictures of a page when they are available. */
  async draw(page, model) {
    const film = await this.world.awaited(page.film);
    if (this.model === model) this.project(film, page.ways);
  }

  /** @param {import("./contract.js").Film} film @param ways asks where its actions lead */
  project({ pictures, primitives, phrases, problems }, ways) {
    this.model.primitives = primitives;
    this.model.phrases = phrases;
    this.missing = problems;
    this.showProblems(problems);
    this.world.project(pictures, ways);
    this.refresh();
    this.take(this.model); // the world's own phrases have arrived
    this.showInstant();
    this.on.drawn?.();
  }

  /** Show the problems of the run and of its visible page. */
  showProblems(more = []) {
    const problems = [...this.plain.problems, ...more];
    this.problems.hidden = !problems.length;
    fill(this.problems, problems.map((problem) => el("li", {}, problem)));
  }
}
