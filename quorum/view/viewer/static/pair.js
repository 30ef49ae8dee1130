/* The page of two runs of one board, side by side: one player moves both. */
import { differenceList, figureTable } from "./differences.js";
import { differing, differingPlaces, differingSteps, differingWords } from "./differs.js";
import { button, el, fill, say } from "./dom.js";
import { firstDifference } from "./first_difference.js";
import { offWords } from "./header.js";
import { TIME_KEYS, keysBox, listen, zoomKeys } from "./keys.js";
import { Player, instantOfAddress } from "./player.js";
import { Side } from "./side.js";
import { askPair, openSource, pageOf } from "./sources.js";
import { shown } from "./text.js";
import { onTheme, themeSwitch } from "./theme.js";
import { instant } from "./tree.js";
import { WORLD_KEYS } from "./world.js";

const LETTERS = ["A", "B"];
const FACTS = ["world", "seed"];
const KEYS = [
  ...TIME_KEYS, ["d", "the first step at which the boards differ"], ["e, E", "next, previous step at which something differs"],
  ["x", "mark differences, or not"], ["m", "messages or lanes"], ["+ \u2212 0", "zoom in, zoom out, the whole time axis"], ...WORLD_KEYS, ["?", "these keys"],
  ["wheel", "on a world: zoom; on the lanes: ctrl zooms, shift moves along the time"],
];

/** Build the page. */
export async function openPair(root, { run: picked, up }) {
  const { runs, differences, parting } = await askPair(up, picked);
  const loading = root.querySelector(".loading");
  const page = new Pair(differences, parting, up);
  const read = LETTERS.map(() => 0);
  const on = { seek: (t) => page.seek(t), agent: (agent) => page.choose(agent), turned: () => page.mark(), drawn: () => page.outline() };
  const sides = await Promise.all(runs.map(async (run, place) => {
    const tell = (share) => {
      read[place] = share;
      say(loading, `reading the traces: ${LETTERS.map((letter, i) => `${letter} ${Math.floor(100 * read[i])} %`).join(", ")}`);
    };
    return Side.open(LETTERS[place], await openSource(run, up, place), instantOfAddress() ?? 0, tell, { ...on, address: pageOf(run, up) });
  }));
  fill(root, page.parts(sides, runs));
  await page.begin();
  return page;
}

class Pair {
  /** @param {import("./contract.js").Difference[]} differences @param {import("./contract.js").Parting|null} parting @param up address of the front page, or empty */
  constructor(differences, parting, up) {
    this.differences = differences;
    this.parting = parting;
    this.up = up;
    this.chosen = -1;
    this.differ = null;
    this.marking = Boolean(parting);
    this.steps = [];
  }

  /** @param {Side[]} sides two of them. @param {string[]} runs their names, as in addresses */
  parts(sides, runs) {
    this.sides = sides;
    const plain = sides.map((side) => side.plain);
    const breaks = [...new Set(plain.flatMap((episode) => episode.breaks))].sort((one, other) => one - other);
    this.player = new Player({ steps: Math.max(...plain.map(({ steps }) => steps)), breaks }, (t) => this.#show(t));
    this.player.common = this.parting?.t ?? 0;
    this.help = keysBox(KEYS);
    this.first = el("span", { class: "first", "aria-live": "polite" }, "comparing the boards\u2026");
    this.words = el("p", { class: "differing", "aria-live": "polite" });
    this.marked = button("mark what differs", "mark what only one run has at a step (x)", () => this.#toggle());
    this.views = [[true, "time", "stages, actions and constraints over the time (m)"], [false, "messages", "messages and decisions (m)"]].map(([lanes, label, title]) => [lanes, button(label, title, () => this.#view(lanes))]);
    const facts = [...FACTS.map((name) => [name, plain[0].facts[name]]), ["agents", plain[0].agents.length]];
    return [
      el("header", { class: "episode-head" },
        this.up ? el("a", { href: this.up, title: "back to the first page" }, "\u2039 runs") : null,
        el("h1", {}, "Two runs of one board"),
        el("div", { class: "controls" }, this.first, this.marked, el("div", { class: "views", role: "group", "aria-label": "what is shown" }, this.views.map(([, view]) => view)), button("?", "keys", () => this.help.showModal()), themeSwitch()),
        el("p", { class: "facts" }, facts.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, shown(value)))), this.parting ? el("span", {}, "one beginning, up to ", el("b", {}, instant(this.parting))) : null)),
      el("div", { class: "pair" },
        el("div", { class: "parted" }, this.#branches(runs, plain), differenceList(this.differences), figureTable(plain), this.words),
        this.both = el("div", { class: "sides" }, sides.map((side) => side.root))),
      this.player.root,
      this.help,
    ];
  }

  /** Describe the branch point of each run, if it has one. */
  #branches(runs, plain) {
    const up = pageOf(runs[0], this.up) === null ? null : this.up;
    const branches = plain.flatMap(({ off }, i) => (off ? [el("li", {}, `${LETTERS[i]} `, offWords(off, up))] : []));
    return branches.length ? el("section", { class: "differences off-list", "aria-label": "the branches" }, el("h2", {}, "Branches"), el("ul", {}, branches)) : null;
  }

  async begin() {
    onTheme(() => this.#refresh());
    new ResizeObserver(() => this.player.drawMarks()).observe(this.player.marks.parentElement);
    listen(this.player, {
      ...zoomKeys(this.sides.map(({ lanes }) => lanes)),
      d: () => this.#toDifference(),
      e: () => this.#toDiffering(1),
      E: () => this.#toDiffering(-1),
      f: () => this.#worlds((world) => world.follow()),
      m: () => this.#view(!this.asLanes),
      p: () => this.#worlds((world) => world.showWays()),
      x: () => this.#toggle(),
      "?": () => this.help.showModal(),
    });
    for (const side of this.sides) side.begin();
    this.#view(Boolean(this.parting));
    this.player.start(this.parting?.t ?? 0);
    this.#refresh();
    if (this.parting) for (const { lanes } of this.sides) lanes.showFrom(Math.max(0, this.parting.t - 1));
    await Promise.all([this.mark(), this.#compare()]);
  }

  /** Show the lanes of both, or their transcripts. */
  #view(lanes) {
    this.asLanes = lanes;
    for (const [own, view] of this.views) view.setAttribute("aria-pressed", String(own === lanes));
    this.both.classList.toggle("lanes-shown", lanes);
    for (const side of this.sides) side.view(lanes);
  }

  #toggle() {
    this.marking = !this.marking;
    this.mark();
  }

  /** Mark the differences on the visible pages. */
  async mark() {
    this.marked.setAttribute("aria-pressed", String(this.marking));
    const models = this.sides.map((side) => side.model);
    try {
      const found = this.marking ? await this.#found() : [null, null];
      if (models.some((model, i) => model !== this.sides[i].model)) return; // the time has changed
      this.steps = this.marking ? differingSteps(found) : [];
      this.sides.forEach((side, i) => side.mark(found[i], this.parting));
      say(this.words, this.marking ? `Only in A: ${differingWords(found[0])}. Only in B: ${differingWords(found[1])}.` : "");
    } catch (error) {
      say(this.words, `The differences cannot be computed: ${error.message}`);
    }
    this.outline();
  }

  #found() {
    const [one, other] = this.sides;
    return Promise.all([[one, other], [other, one]].map(async ([side, opposite]) => differing(side.model, await pagesOpposite(side, opposite))));
  }

  /** Outline the places that differ at this step, if both worlds are drawn. */
  outline() {
    const worlds = this.sides.map(({ world }) => world);
    const there = this.marking && this.sides.every(({ t, world: { film } }) => film && t === this.player.t && t >= film.first && t <= film.last);
    const places = there ? differingPlaces(...worlds.map(({ film }) => film.at(this.player.t)), worlds[0].film.canvas.width) : [];
    for (const { film, board } of worlds) {
      if (!board || !(places.length || board.differing.length)) continue;
      board.differing = places;
      if (film) board.draw();
    }
  }

  /** Go to the next or previous step with a difference. */
  #toDiffering(way) {
    const { t } = this.player;
    const found = way > 0 ? this.steps.find((step) => step > t) : this.steps.findLast((step) => step < t);
    if (found !== undefined) this.seek(found);
  }

  seek(t) {
    this.player.pause();
    this.player.seek(t);
  }

  /** Select an agent in both runs; if it is already selected, clear the selection. */
  choose(agent) {
    this.chosen = agent === this.chosen ? -1 : agent;
    for (const side of this.sides) side.choose(this.chosen);
  }

  #show(t) {
    for (const side of this.sides) side.show(t);
    this.outline();
  }

  #refresh() {
    for (const side of this.sides) side.refresh();
    this.player.drawMarks();
  }

  /** Find and show the first step at which the boards differ. */
  async #compare() {
    try {
      const { t, until, drawn } = await firstDifference(this.sides);
      this.differ = t;
      if (t !== null) fill(this.first, [button(`boards differ from t = ${t}`, "to the first step at which the boards differ (d)", () => this.#toDifference())]);
      else if (until < 0) say(this.first, "the boards are not drawn");
      else say(this.first, `the boards are the same ${drawn ? "" : "as far as both are drawn, "}up to t = ${until}`);
    } catch (error) {
      say(this.first, `the boards cannot be compared: ${error.message}`);
    }
  }

  #worlds(work) {
    for (const side of this.sides) work(side.world);
  }

  #toDifference() {
    if (this.differ !== null) this.seek(this.differ);
  }
}

/** The pages of the other run that contain the steps of the visible page. @param {Side} side @param {Side} opposite */
async function pagesOpposite({ model }, opposite) {
  const last = model.final ? Infinity : model.axis.last - 1;
  const [from, to] = [model.first, Math.min(last, opposite.plain.steps)].map((t) => opposite.pages.number(t));
  const numbers = Array.from({ length: Math.max(0, to - from) + 1 }, (_, i) => from + i);
  return Promise.all(numbers.map((number) => (opposite.pages.firsts[number] === opposite.model.first ? opposite.model : opposite.pages.model(number))));
}
