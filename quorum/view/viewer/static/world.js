/* The world of an episode: its board, the caption below it, and the current action of each agent. */
import { Board } from "./board.js";
import { button, el, fill, say } from "./dom.js";
import { Film, WayFilm } from "./film.js";
import { boardLegend } from "./legend.js";
import { STAGES } from "./looks.js";
import { short } from "./text.js";

const STALE_PAUSE = 250;

/** Descriptions of the keys for a world. */
export const WORLD_KEYS = [
  ["p", "paths and targets of all agents on the world"], ["f", "on a large world: follow the chosen agent, or show all of it again"],
];

export class World {
  /** @param names of its agents. @param on `agent(index)`, called with the clicked agent, or -1; `problems(texts)`, called with the reasons for fewer paths than steps. @param label text alternative. */
  constructor(names, on, label = "the world") {
    this.onAgent = on.agent;
    this.onProblems = on.problems;
    this.film = null;
    this.askWays = null;
    this.board = null;
    this.chosen = -1;
    this.box = el("div", { class: "board-box" }, replaying());
    this.caption = el("p", { class: "caption" });
    this.allWays = button("paths", "paths and targets of all agents (p); those of a chosen agent always show", () => this.showWays(), { "aria-pressed": "false", hidden: true });
    this.followed = button("follow", "follow the chosen agent, or show the whole world again (f)", () => this.follow(), { "aria-pressed": "false", hidden: true });
    this.legends = el("div", { class: "legends" });
    this.rows = names.map(() => ["b", "i", "span", "span"].map((tag) => el(tag)));
    this.buttons = names.map((name, agent) => this.#row(name, agent));
    this.root = el("section", { class: "world", "aria-label": label }, this.box, el("div", { class: "world-line" }, this.caption, el("span", { class: "world-controls" }, this.allWays, this.followed)), this.legends, el("div", { class: "agents" }, this.buttons));
  }

  /** Wait for the pictures of a page; those of the previous page stay only for a moment. @param {Promise<import("./contract.js").Film>} film */
  async awaited(film) {
    const stale = setTimeout(() => fill(this.box, [replaying()]), STALE_PAUSE);
    try {
      return await film;
    } catch (error) {
      return { pictures: null, primitives: {}, phrases: {}, problems: [`The pictures cannot be read: ${error.message}`] };
    } finally {
      clearTimeout(stale);
    }
  }

  /**
   * Show the pictures of a page, or, for null, a note that none exist.
   * @param {import("./contract.js").Pictures|null} pictures
   * @param {() => Promise<import("./contract.js").Ways>} askWays requests the paths of its actions: this costs another replay, so it waits until the user wants to see them
   */
  project(pictures, askWays) {
    this.film = pictures && new Film(pictures);
    this.askWays = this.film?.tellsWays ? askWays : null;
    if (this.film && this.board) this.board.project(this.film);
    else if (this.film) {
      this.board = new Board(this.film, { pick: this.onAgent, follow: () => this.#sayFollowed() });
      this.board.chosen = this.chosen;
      new ResizeObserver(() => this.film && this.board.refresh()).observe(this.box);
    }
    this.box.classList.toggle("none", !this.film);
    this.allWays.hidden = !this.film?.tellsWays;
    this.#findWays();
    this.#sayFollowed();
    fill(this.box, [this.film ? this.board.canvas : el("p", { class: "soft" }, "The world is not drawn; see above.")]);
  }

  /** Draw the paths of all agents, or only that of the selected one. */
  showWays() {
    if (!this.film?.tellsWays) return;
    this.board.allWays = !this.board.allWays;
    this.allWays.setAttribute("aria-pressed", String(this.board.allWays));
    this.board.draw();
    this.#findWays();
  }

  /** Request the paths of this page's actions once, as soon as they are needed. */
  async #findWays() {
    const { film, askWays } = this;
    if (!askWays || !(this.chosen >= 0 || this.board.allWays)) return;
    this.askWays = null;
    try {
      const ways = await askWays();
      if (this.film !== film) return;
      this.onProblems(ways.problems);
      this.board.ways = new WayFilm(ways);
      this.board.draw();
    } catch (error) {
      if (this.film === film) this.onProblems([`The paths cannot be read: ${error.message}`]);
    }
  }

  /** Follow the selected agent, or the first one if none is selected; or show the whole world again. */
  follow() {
    if (!this.film || !(this.board.follows || this.board.followable)) return;
    if (!this.board.follows && this.chosen < 0) this.onAgent(0);
    this.board.follow(!this.board.follows);
  }

  #sayFollowed() {
    this.followed.hidden = !this.film || !(this.board.follows || this.board.followable);
    this.followed.setAttribute("aria-pressed", String(Boolean(this.board?.follows)));
  }

  /** Release the pictures before another page, or a grown one, is shown. */
  forget() {
    this.film = null;
  }

  /** Redraw after a change of size or theme. */
  refresh() {
    if (this.film) this.board.refresh();
    fill(this.legends, [this.film ? boardLegend(this.film) : null]);
  }

  /** Show the board at `t`. */
  show(t) {
    if (!this.film) return;
    this.board.show(t);
    const late = t > this.film.last ? `not drawn beyond step ${this.film.last}; ` : "";
    say(this.caption, `t = ${t}: ${late}${this.film.at(t).caption}`.replace(/: $/, ""));
  }

  /** Show the current action of each agent at `t`. */
  list(model, t) {
    const holdings = this.film ? this.film.at(t).holdings : [];
    this.rows.forEach(([, stage, doing, has], agent) => {
      const code = model.stageAt(agent, t);
      if (stage.dataset.stage !== code) stage.dataset.stage = code;
      say(stage, STAGES[code]?.name ?? code);
      const plan = model.planAt(agent, t);
      const action = model.actionAt(agent, t);
      const task = plan?.task ? `${plan.task.kind}:${plan.task.target}` : plan ? plan.id : "no plan";
      say(doing, short(action ? `${task} \u00b7 ${action.name}` : task, 60));
      say(has, short(holdings[agent] ?? "", 200));
    });
  }

  /** Mark an agent, or nobody for -1. */
  choose(agent) {
    this.chosen = agent;
    if (this.board) {
      this.board.chosen = agent;
      if (agent < 0) this.board.follow(false);
    }
    if (this.film) this.board.draw();
    this.#findWays();
    this.buttons.forEach((row, index) => row.setAttribute("aria-pressed", String(index === agent)));
  }

  #row(name, agent) {
    const [who, stage, doing, has] = this.rows[agent];
    say(who, name);
    stage.className = "stage";
    doing.className = "doing";
    has.className = "has";
    return el("button", { type: "button", class: "agent", "aria-pressed": "false", onclick: () => this.onAgent(agent) }, who, stage, doing, has);
  }
}

function replaying() {
  return el("p", { class: "soft" }, "replaying the episode\u2026");
}
