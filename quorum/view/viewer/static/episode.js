/* The page of an episode. */
import { CommandBox, branchAt } from "./command.js";
import { button, el, fill, say } from "./dom.js";
import { follow } from "./follower.js";
import { Head } from "./header.js";
import { TIME_KEYS, keysBox, listen, zoomKeys } from "./keys.js";
import { lanesLegend } from "./legend.js";
import { Pages } from "./pages.js";
import { Picks } from "./picks.js";
import { Player, instantOfAddress } from "./player.js";
import { Reader } from "./reader.js";
import { Search } from "./search.js";
import { ShownRun } from "./shown_run.js";
import { openSource } from "./sources.js";
import { StepEvents } from "./step_events.js";
import { Talk } from "./talk.js";
import { shown } from "./text.js";
import { onTheme, themeSwitch } from "./theme.js";
import { Tree } from "./tree.js";
import { WORLD_KEYS } from "./world.js";

const KEYS = [
  ...TIME_KEYS, ["+ \u2212", "zoom the time axis"],
  ["0", "the whole time axis"], ["m", "messages or lanes"], ["b", "branches or lanes"], ["c", "the command for a branch from here"], ...WORLD_KEYS, ["/", "search"], ["?", "these keys"],
  ["wheel", "on the world: zoom; on the lanes: ctrl zooms, shift moves along the time"],
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
  fill(root, page.parts(up));
  page.begin(start);
  await page.draw(first, model);
  if (live) follow(source, episode, { grown: (grown) => page.grow(grown), lost: (reason) => page.lose(reason) });
  return page;
}

class Episode extends ShownRun {
  /** @param {import("./contract.js").Episode} plain @param {import("./sources.js").Source} source @param model of the first page that is shown. */
  constructor(plain, source, pages, model) {
    const open = (sort, item) => this.reader.open(sort, item);
    const seek = (t) => {
      this.player.pause();
      this.player.seek(t);
      return this.turning;
    };
    super(plain, pages, model, { seek, open, agent: (agent) => this.#choose(agent), reading: (steps) => say(this.where, `reading ${steps}\u2026`) });
    this.source = source;
    this.player = new Player(plain, () => this.showInstant());
    this.reader = new Reader(this.model, source, (t) => this.player.seek(t));
    this.events = new StepEvents({ seek, open });
    this.talk = new Talk(this.model, { seek, open, agent: (agent) => this.#choose(agent, true), window: () => this.lanes.window() });
    this.search = new Search(this.model, pages, source, { open, seek, call: (number) => this.reader.openCall(number) });
    this.player.onBreak = async (t, way) => {
      await this.turning;
      const found = this.model.breakAt(t, way);
      if (found) this.reader.openBreak(found);
    };
    this.chosen = -1;
  }

  parts(up) {
    const { plain } = this;
    this.up = up;
    this.help = keysBox(KEYS);
    this.about = el("dialog", { class: "help about" });
    this.command = new CommandBox();
    this.head = new Head([this.search.root, button("branch\u2026", "the command for a branch from here (c)", () => this.showCommand()), button("about", "configuration and metrics", () => this.about.showModal()), button("?", "keys", () => this.help.showModal()), themeSwitch()], this.source.family || up ? up : null);
    this.#head();
    this.views = [["lanes", "time", "stages, actions and constraints over the time"], ["messages", "messages", "who wrote to whom, and what (m)"], ["branches", "branches", "the branches of this run and of its parent (b)"]].map(([view, label, title]) => button(label, title, () => this.#view(view), { "aria-pressed": String(view === "lanes"), "data-view": view }));
    this.branches = el("section", { class: "branches", "aria-label": "branches", hidden: true });
    this.where = el("span", { class: "soft where" });
    this.showProblems();
    return [
      this.head.root,
      this.problems,
      el("div", { class: "episode" },
        this.world.root,
        this.time = el("section", { class: "time", "aria-label": "the time", "data-view": "lanes" },
          el("div", { class: "lanes-head" },
            el("div", { class: "views", role: "group", "aria-label": "what is shown" }, this.views),
            lanesLegend(this.model),
            el("span", { class: "zoom" }, this.where, button("\u2212", "less (-)", () => this.lanes.zoom(1 / 1.6)), button("+", "more (+)", () => this.lanes.zoom(1.6)), button("all", `all of ${this.pages.firsts.length > 1 ? "these steps" : "it"} (0)`, () => this.lanes.fit()))),
          this.lanes.root,
          this.talk.root,
          this.branches,
          el("div", { class: "below" }, this.events.root, this.reader.root))),
      this.player.root,
      this.help,
      this.about,
      this.command.root,
    ];
  }

  /** Show the data about the run as a whole. */
  #head() {
    const { plain } = this;
    this.head.tell(plain);
    fill(this.about, [el("h2", {}, plain.name), pairs("the run", plain.facts), pairs("metrics", plain.metrics || {}), pairs("configuration", plain.configuration || {}), button("close", "close", () => this.about.close())]);
  }

  /** Process the growth of the run; read the visible part first, so that the page is never empty. */
  async grow(plain) {
    if (plain.agents.length !== this.plain.agents.length) { // its first event was not written yet
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
    if (model.first === this.model.first) this.lanes.grow(model);
    else this.lanes.turn(model);
    this.take(model);
    this.#head();
    this.world.forget();
    this.player.extend(plain);
    this.project(film, page.ways);
  }

  /** Position of the player in a run that has grown. */
  #instantIn(plain) {
    return this.player.t >= this.player.last && !this.player.playing ? plain.steps : this.player.t;
  }

  /** Report that the server of a running episode does not answer; the page tries again. */
  lose(reason) {
    this.showProblems([`New data of the run could not be read; trying again: ${reason}`]);
  }

  begin(t) {
    onTheme(() => this.refresh());
    new ResizeObserver(() => this.refresh()).observe(this.lanes.root);
    new ResizeObserver(() => this.player.drawMarks()).observe(this.player.marks.parentElement); // lanes may be hidden
    listen(this.player, {
      ...zoomKeys([this.lanes]),
      f: () => this.world.follow(),
      b: () => this.#view(this.time.dataset.view === "branches" ? "lanes" : "branches"),
      c: () => this.showCommand(),
      m: () => this.#view(this.talk.shown ? "lanes" : "messages"),
      p: () => this.world.showWays(),
      "/": () => this.search.input.focus(),
      "?": () => this.help.showModal(),
    });
    this.refresh();
    this.player.start(t);
  }

  instant() {
    return this.player.t;
  }

  take(model) {
    this.model = this.reader.model = this.search.model = model;
    this.talk.turn(model);
  }

  /** Show the problems, and the visible steps, if these are not all. */
  showProblems(more) {
    super.showProblems(more);
    say(this.where, this.pages.firsts.length > 1 ? this.pages.steps(this.pages.number(this.model.first)) : "");
  }

  /** Return the current picture as plain data. */
  picture() {
    const { t, ground, marks, caption, holdings } = this.world.film.at(this.player.t);
    const ways = this.world.board.ways?.at(this.player.t) ?? [];
    return { t, ground: [...ground], marks: Object.fromEntries(marks), ways: Object.fromEntries(ways), caption, holdings };
  }

  refresh() {
    this.lanes.resize();
    this.world.refresh();
    this.player.drawMarks();
    const head = document.querySelector(".lanes-head .legend");
    if (head) head.replaceWith(lanesLegend(this.model));
  }

  list(t) {
    this.#events();
    this.talk.show(t);
  }

  #events() {
    this.events.show(this.model, this.player.t, this.chosen);
  }

  /** Show the lanes or the messages. */
  #view(view) {
    this.time.dataset.view = view;
    for (const switched of this.views) switched.setAttribute("aria-pressed", String(switched.dataset.view === view));
    this.talk.show(this.player.t);
    this.talk.shown = view === "messages";
    this.branches.hidden = view !== "branches";
    if (view === "branches") this.#findBranches();
  }

  /** Show the command for a branch at the cursor, with the selection. */
  async showCommand() {
    const branch = branchAt(this.model, this.player.t, this.chosen, this.reader.opened);
    try {
      this.path ??= (await this.source.family?.())?.path;
    } catch {
      /* the server is gone: only the name is known */
    }
    this.command.show(this.path ?? this.plain.name, branch); // an exported file must not reveal the machine that made it
  }

  /** Request the runs that share a beginning with this one, each time the user opens the view. */
  async #findBranches() {
    if (!this.source.family) {
      fill(this.branches, [el("p", { class: "soft" }, "This file contains no other runs.")]);
      return;
    }
    try {
      const { runs, left_out: leftOut } = await this.source.family();
      const picks = new Picks(this.up, runs.length > 1 ? [this.plain.name] : []);
      fill(this.branches, [
        picks.root,
        leftOut ? el("p", { class: "soft" }, `${leftOut} more are not shown.`) : null,
        runs.length > 1 || this.plain.off ? new Tree(runs, picks, { up: this.up, run: this.plain.name }).root : el("p", { class: "soft" }, "This run has no branches in this folder."),
      ]);
    } catch (error) {
      fill(this.branches, [el("p", { class: "problems" }, `The branches cannot be read: ${error.message}`)]);
    }
  }

  /** Select an agent; if it is already selected and not `kept`, clear the selection. */
  #choose(agent, kept = false) {
    this.chosen = agent === this.chosen && !kept ? -1 : agent;
    this.talk.choose(this.chosen);
    this.world.choose(this.chosen);
    this.lanes.choose(this.chosen);
    this.#events();
  }
}

function pairs(title, values) {
  const entries = Object.entries(values);
  if (!entries.length) return null;
  return el("details", { open: title === "the run" }, el("summary", {}, title), el("table", { "aria-label": title }, entries.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, shown(value))))));
}
