/* The page of an episode. */
import { Board } from "./board.js";
import { button, el, fill, say } from "./dom.js";
import { Film } from "./film.js";
import { follow } from "./follower.js";
import { Head } from "./header.js";
import { Lanes } from "./lanes.js";
import { boardLegend, lanesLegend } from "./legend.js";
import { STAGES } from "./looks.js";
import { Pages } from "./pages.js";
import { Player, instantOfAddress } from "./player.js";
import { Reader } from "./reader.js";
import { Search } from "./search.js";
import { openSource } from "./sources.js";
import { StepEvents } from "./step_events.js";
import { Talk } from "./talk.js";
import { short, shown } from "./text.js";
import { onTheme, themeSwitch } from "./theme.js";

const LIST_PAUSE = 100;
const STALE_PAUSE = 250;
const KEYS = [
  ["space", "play or pause"], ["\u2190 \u2192", "a step back or on"], ["shift + \u2190 \u2192", "ten steps"],
  ["home, end", "the beginning, the end"], ["n, N", "next, previous failure or interruption"], ["+ \u2212", "more or less of the time axis"],
  ["0", "all of the time axis"], ["m", "the messages, or the lanes again"], ["p", "paths and targets of all agents on the world"], ["f", "on a large world: follow the chosen agent, or show all of it again"], ["/", "search"], ["?", "these keys"],
  ["wheel", "on the world: closer; on the lanes with ctrl: zoom, with shift: along the time"],
];

/** Build the page. */
export async function openEpisode(root, { run, up }) {
  const source = await openSource(run, up);
  const loading = root.querySelector(".loading");
  const episode = await source.episode((share) => say(loading, `reading the trace: ${Math.floor(100 * share)} %`));
  const pages = new Pages(episode, source);
  const live = episode.under_way && source.progress;
  const start = live ? episode.steps : 0;
  const first = pages.at(instantOfAddress() ?? start);
  const model = await first.model;
  const page = new Episode(episode, source, pages, model);
  fill(root, page.parts(up !== ""));
  page.begin(start);
  await page.draw(first, model);
  if (live) follow(source, episode, { grown: (grown) => page.grow(grown), lost: (reason) => page.lose(reason) });
  return page;
}

class Episode {
  /** @param {import("./contract.js").Episode} plain @param {import("./sources.js").Source} source @param model of the first page that is shown. */
  constructor(plain, source, pages, model) {
    this.plain = plain;
    this.source = source;
    this.pages = pages;
    this.model = model;
    this.film = null;
    this.board = null;
    this.missing = [];
    this.turning = null;
    this.player = new Player(plain, (t) => this.#show(t));
    this.reader = new Reader(this.model, source, (t) => this.player.seek(t));
    const open = (sort, item) => this.reader.open(sort, item);
    const seek = (t) => {
      this.player.pause();
      this.player.seek(t);
      return this.turning;
    };
    this.lanes = new Lanes(this.model, { seek, open, agent: (agent) => this.#choose(agent) });
    this.events = new StepEvents({ seek, open });
    this.talk = new Talk(this.model, { seek, open, agent: (agent) => this.#choose(agent, true), window: () => this.lanes.window() });
    this.search = new Search(this.model, pages, source, { open, seek, call: (number) => this.reader.openCall(number) });
    this.player.onBreak = async (t, way) => {
      await this.turning;
      const found = this.model.breakAt(t, way);
      if (found) this.reader.openBreak(found);
    };
    this.rows = plain.agents.map(() => ["b", "i", "span", "span"].map((tag) => el(tag)));
    this.chosen = -1;
  }

  parts(withinSweep) {
    const { plain } = this;
    this.help = el("dialog", { class: "help" }, el("h3", {}, "Keys"), el("dl", {}, KEYS.map(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])), button("close", "close", () => this.help.close()));
    this.about = el("dialog", { class: "help about" });
    this.head = new Head([this.search.root, button("about", "configuration and metrics", () => this.about.showModal()), button("?", "keys", () => this.help.showModal()), themeSwitch()], withinSweep);
    this.#head();
    this.views = [["lanes", "time", "stages, actions and constraints over the time"], ["messages", "messages", "who wrote to whom, and what (m)"]].map(([view, label, title]) => button(label, title, () => this.#view(view), { "aria-pressed": String(view === "lanes"), "data-view": view }));
    this.caption = el("p", { class: "caption" });
    this.allWays = button("paths", "paths and targets of all agents (p); that of a chosen agent is always there", () => this.#showWays(), { "aria-pressed": "false", hidden: true });
    this.followed = button("follow", "follow the chosen agent, or show the whole world again (f)", () => this.#follow(), { "aria-pressed": "false", hidden: true });
    this.legends = el("div", { class: "legends" });
    this.boardBox = el("div", { class: "board-box" }, replaying());
    this.problems = el("ul", { class: "problems", "aria-live": "assertive" });
    this.where = el("span", { class: "soft where" });
    this.#told();
    return [
      this.head.root,
      this.problems,
      el("div", { class: "episode" },
        el("section", { class: "world", "aria-label": "the world" },
          this.boardBox,
          el("div", { class: "world-line" }, this.caption, el("span", { class: "world-controls" }, this.allWays, this.followed)),
          this.legends,
          el("div", { class: "agents" }, this.rows.map((cells, agent) => this.#agentRow(cells, agent)))),
        this.time = el("section", { class: "time", "aria-label": "the time", "data-view": "lanes" },
          el("div", { class: "lanes-head" },
            el("div", { class: "views", role: "group", "aria-label": "what is shown" }, this.views),
            lanesLegend(),
            el("span", { class: "zoom" }, this.where, button("\u2212", "less (-)", () => this.lanes.zoom(1 / 1.6)), button("+", "more (+)", () => this.lanes.zoom(1.6)), button("all", `all of ${this.pages.firsts.length > 1 ? "these steps" : "it"} (0)`, () => this.lanes.fit()))),
          this.lanes.root,
          this.talk.root,
          el("div", { class: "below" }, this.events.root, this.reader.root))),
      this.player.root,
      this.help,
      this.about,
    ];
  }

  /** Say what is known of the run as a whole. */
  #head() {
    const { plain } = this;
    this.head.tell(plain);
    fill(this.about, [el("h3", {}, plain.name), pairs("the run", plain.facts), pairs("metrics", plain.metrics || {}), pairs("configuration", plain.configuration || {}), button("close", "close", () => this.about.close())]);
  }

  /** Take in that the run has gone on; what is shown is read first, so that the page is never empty. */
  async grow(plain) {
    if (plain.agents.length !== this.plain.agents.length) { // its beginning was not written yet
      window.location.reload();
      return;
    }
    const pages = new Pages(plain, this.source);
    let page;
    let model;
    let film;
    do {
      await this.turning;
      page = pages.at(this.#instantIn(plain));
      model = await page.model;
      film = await page.film;
    } while (this.turning || !model.has(this.#instantIn(plain)));
    this.plain = plain;
    this.pages = this.search.pages = pages;
    const same = model.first === this.model.first;
    this.model = this.reader.model = this.search.model = model;
    if (same) this.lanes.grow(model);
    else this.lanes.turn(model);
    this.talk.turn(model);
    this.#head();
    this.film = null; // that of the page as it was
    this.player.extend(plain);
    this.#project(film);
  }

  /** Where the player will stand in a run that has gone on. */
  #instantIn(plain) {
    return this.player.t >= this.player.last && !this.player.playing ? plain.steps : this.player.t;
  }

  /** Say that the server of a run that is under way does not answer; it is asked again. */
  lose(reason) {
    this.#told([`What is new of the run could not be read, and is asked for again: ${reason}`]);
  }

  begin(t) {
    onTheme(() => this.#refresh());
    new ResizeObserver(() => this.#refresh()).observe(this.lanes.root);
    new ResizeObserver(() => this.player.drawMarks()).observe(this.player.marks.parentElement); // lanes may be hidden
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#refresh();
    this.player.start(t);
  }

  /** @param {import("./contract.js").Film} film */
  #project({ pictures, primitives, phrases, problems }) {
    this.model.primitives = primitives;
    this.model.phrases = phrases;
    this.missing = problems;
    this.#told(problems);
    this.film = pictures && new Film(pictures);
    if (this.film && this.board) this.board.project(this.film);
    else if (this.film) {
      this.board = new Board(this.film, { pick: (agent) => this.#choose(agent), follow: () => this.#sayFollowed() });
      new ResizeObserver(() => this.film && this.board.refresh()).observe(this.boardBox);
    }
    this.boardBox.classList.toggle("none", !this.film);
    this.allWays.hidden = !this.film?.tellsWays;
    this.#sayFollowed();
    fill(this.boardBox, [this.film ? this.board.canvas : el("p", { class: "soft" }, "The world is not drawn; see above.")]);
    this.#refresh();
    this.talk.refresh(); // the world's own words have come
    this.#show(this.player.t);
  }

  /** Turn to the page of the instant that the player stands at, when it is read; it may have gone on meanwhile. */
  async #turn() {
    let page;
    let model;
    do {
      page = this.pages.at(this.player.t);
      say(this.where, `reading ${this.pages.steps(page.number)}\u2026`);
      try {
        model = await page.model;
      } catch (error) {
        this.#told([`The ${this.pages.steps(page.number)} cannot be read: ${error.message}`]);
        return;
      }
    } while (!model.has(this.player.t));
    if (model === this.model) { // it came back
      this.#told(this.missing);
      return;
    }
    this.model = this.reader.model = this.search.model = model;
    this.lanes.turn(model);
    this.talk.turn(model);
    this.film = null;
    this.missing = [];
    this.#told();
    this.#refresh();
    this.#show(this.player.t);
    this.draw(page, model);
  }

  /** Show the pictures of a page when they are there; those of the page before stay for a moment only. */
  async draw(page, model) {
    const stale = setTimeout(() => fill(this.boardBox, [replaying()]), STALE_PAUSE);
    try {
      const film = await page.film;
      if (this.model === model) this.#project(film);
    } catch (error) {
      if (this.model === model) this.#project({ pictures: null, primitives: {}, phrases: {}, problems: [`The pictures cannot be read: ${error.message}`] });
    } finally {
      clearTimeout(stale);
    }
  }

  /** Say what is wrong with the run, and with what is shown of it; and which steps are shown, where these are not all. */
  #told(more = []) {
    const problems = [...this.plain.problems, ...more];
    say(this.where, this.pages.firsts.length > 1 ? this.pages.steps(this.pages.number(this.model.first)) : "");
    this.problems.hidden = !problems.length;
    fill(this.problems, problems.map((problem) => el("li", {}, problem)));
  }

  /** Return the picture that is shown, as plain data. */
  picture() {
    const { t, ground, marks, ways, caption, holdings } = this.film.at(this.player.t);
    return { t, ground: [...ground], marks: Object.fromEntries(marks), ways: Object.fromEntries(ways), caption, holdings };
  }

  #refresh() {
    this.lanes.resize();
    if (this.film) this.board.refresh();
    this.player.drawMarks();
    fill(this.legends, [this.film ? boardLegend(this.film) : null]);
    const head = document.querySelector(".lanes-head .legend");
    if (head) head.replaceWith(lanesLegend());
  }

  #show(t) {
    if (!this.model.has(t)) {
      this.turning ??= this.#turn().finally(() => {
        this.turning = null;
      });
      return;
    }
    this.pages.ahead(t);
    this.lanes.show(t);
    if (this.film) {
      this.board.show(t);
      const late = t > this.film.last ? `not drawn beyond step ${this.film.last}; ` : "";
      say(this.caption, `t = ${t}: ${late}${this.film.at(t).caption}`.replace(/: $/, ""));
    }
    if (this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.#agents();
      this.#events();
      this.talk.show(this.player.t);
    }, this.listed === undefined ? 0 : LIST_PAUSE);
  }

  #agentRow(cells, agent) {
    const [name, stage, doing, has] = cells;
    say(name, this.model.name(agent));
    stage.className = "stage";
    doing.className = "doing";
    has.className = "has";
    const row = el("button", { type: "button", class: "agent", "aria-pressed": "false", onclick: () => this.#choose(agent) }, name, stage, doing, has);
    return row;
  }

  #agents() {
    const { t } = this.player;
    const holdings = this.film ? this.film.at(t).holdings : [];
    this.rows.forEach(([, stage, doing, has], agent) => {
      const code = this.model.stageAt(agent, t);
      if (stage.dataset.stage !== code) stage.dataset.stage = code;
      say(stage, STAGES[code]?.name ?? code);
      const plan = this.model.planAt(agent, t);
      const action = this.model.actionAt(agent, t);
      const task = plan?.task ? `${plan.task.kind}:${plan.task.target}` : plan ? plan.id : "no plan";
      say(doing, short(action ? `${task} \u00b7 ${action.name}` : task, 60));
      say(has, short(holdings[agent] ?? "", 200));
    });
  }

  #events() {
    this.listed = this.player.t;
    this.events.show(this.model, this.player.t, this.chosen);
  }

  /** Draw the ways of all agents, or that of the chosen one alone. */
  #showWays() {
    if (!this.film?.tellsWays) return;
    this.board.allWays = !this.board.allWays;
    this.allWays.setAttribute("aria-pressed", String(this.board.allWays));
    this.board.draw();
  }

  /** Follow the chosen agent, or the first one where none is; or show the whole world again. */
  #follow() {
    if (!this.film || !(this.board.follows || this.board.followable)) return;
    if (!this.board.follows && this.chosen < 0) this.#choose(0);
    this.board.follow(!this.board.follows);
  }

  #sayFollowed() {
    this.followed.hidden = !this.film || !(this.board.follows || this.board.followable);
    this.followed.setAttribute("aria-pressed", String(this.board.follows));
  }

  /** Show the lanes or the messages. */
  #view(view) {
    this.time.dataset.view = view;
    for (const switched of this.views) switched.setAttribute("aria-pressed", String(switched.dataset.view === view));
    this.talk.show(this.player.t);
    this.talk.shown = view === "messages";
  }

  /** Choose an agent, or nobody by the agent that is chosen already unless it is `kept`. */
  #choose(agent, kept = false) {
    this.chosen = agent === this.chosen && !kept ? -1 : agent;
    this.talk.choose(this.chosen);
    if (this.board) {
      this.board.chosen = this.chosen;
      if (this.chosen < 0) this.board.follow(false);
    }
    if (this.film) this.board.draw();
    this.lanes.choose(this.chosen);
    document.querySelectorAll(".agent").forEach((row, index) => row.setAttribute("aria-pressed", String(index === this.chosen)));
    this.#events();
  }

  #key(event) {
    if (event.target.matches("input[type=search], select, dialog *") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button, summary")) return; // it presses what has the focus
    const ten = event.shiftKey ? 10 : 1;
    const ways = {
      " ": () => this.player.toggle(),
      ArrowLeft: () => this.player.step(-ten),
      ArrowRight: () => this.player.step(ten),
      Home: () => this.player.step(-Infinity),
      End: () => this.player.step(Infinity),
      n: () => this.player.toBreak(1),
      N: () => this.player.toBreak(-1),
      "+": () => this.lanes.zoom(1.6),
      "=": () => this.lanes.zoom(1.6),
      "-": () => this.lanes.zoom(1 / 1.6),
      0: () => this.lanes.fit(),
      f: () => this.#follow(),
      m: () => this.#view(this.talk.shown ? "lanes" : "messages"),
      p: () => this.#showWays(),
      "/": () => this.search.input.focus(),
      "?": () => this.help.showModal(),
    };
    if (event.key in ways) {
      event.preventDefault();
      ways[event.key]();
    }
  }
}

function replaying() {
  return el("p", { class: "soft" }, "replaying the episode\u2026");
}

function pairs(title, values) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  return el("details", { open: title === "the run" }, el("summary", {}, title), el("table", { "aria-label": title }, entries.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, shown(value))))));
}
