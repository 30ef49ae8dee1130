/* The page of two runs of one board, side by side: one player moves both. */
import { differenceList, figureTable } from "./beside.js";
import { button, el, fill, say } from "./dom.js";
import { firstDifference } from "./first_difference.js";
import { TIME_KEYS, keysBox, listen } from "./keys.js";
import { Player, instantOfAddress } from "./player.js";
import { Side } from "./side.js";
import { askPair, openSource, pageOf } from "./sources.js";
import { shown } from "./text.js";
import { onTheme, themeSwitch } from "./theme.js";
import { instant } from "./tree.js";
import { WORLD_KEYS } from "./world.js";

const LETTERS = ["A", "B"];
const FACTS = ["world", "seed"];
const KEYS = [...TIME_KEYS, ["d", "the first step at which the boards differ"], ...WORLD_KEYS, ["?", "these keys"], ["wheel", "on a world: closer"]];

/** Build the page. */
export async function openPair(root, { run: picked, up }) {
  const { runs, differences, parting } = await askPair(up, picked);
  const loading = root.querySelector(".loading");
  const page = new Pair(differences, parting, up);
  const read = LETTERS.map(() => 0);
  const on = { seek: (t) => page.seek(t), agent: (agent) => page.choose(agent) };
  const sides = await Promise.all(runs.map(async (run, place) => {
    const tell = (share) => {
      read[place] = share;
      say(loading, `reading the traces: ${LETTERS.map((letter, i) => `${letter} ${Math.floor(100 * read[i])} %`).join(", ")}`);
    };
    return Side.open(LETTERS[place], await openSource(run, up, place), instantOfAddress() ?? 0, tell, { ...on, address: pageOf(run, up) });
  }));
  fill(root, page.parts(sides));
  await page.begin();
  return page;
}

class Pair {
  /** @param {import("./contract.js").Difference[]} differences @param {import("./contract.js").Parting|null} parting @param up the way to the front page, or empty */
  constructor(differences, parting, up) {
    this.differences = differences;
    this.parting = parting;
    this.up = up;
    this.chosen = -1;
    this.differ = null;
  }

  /** @param {Side[]} sides two of them. */
  parts(sides) {
    this.sides = sides;
    const plain = sides.map((side) => side.plain);
    const breaks = [...new Set(plain.flatMap((episode) => episode.breaks))].sort((one, other) => one - other);
    this.player = new Player({ steps: Math.max(...plain.map(({ steps }) => steps)), breaks }, (t) => this.#show(t));
    this.player.common = this.parting?.t ?? 0;
    this.help = keysBox(KEYS);
    this.first = el("span", { class: "first", "aria-live": "polite" }, "comparing the boards\u2026");
    const facts = [...FACTS.map((name) => [name, plain[0].facts[name]]), ["agents", plain[0].agents.length]];
    return [
      el("header", { class: "episode-head" },
        this.up ? el("a", { href: this.up, title: "the page that was opened first" }, "\u2039 runs") : null,
        el("h1", {}, "Two runs of one board"),
        el("div", { class: "controls" }, this.first, button("?", "keys", () => this.help.showModal()), themeSwitch()),
        el("p", { class: "facts" }, facts.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, shown(value)))), this.parting ? el("span", {}, "one beginning, up to ", el("b", {}, instant(this.parting))) : null)),
      el("div", { class: "pair" },
        el("div", { class: "parted" }, differenceList(this.differences), figureTable(plain)),
        el("div", { class: "sides" }, sides.map((side) => side.root))),
      this.player.root,
      this.help,
    ];
  }

  async begin() {
    onTheme(() => this.#refresh());
    new ResizeObserver(() => this.player.drawMarks()).observe(this.player.marks.parentElement);
    listen(this.player, { d: () => this.#toDifference(), p: () => this.#worlds((world) => world.showWays()), f: () => this.#worlds((world) => world.follow()), "?": () => this.help.showModal() });
    for (const side of this.sides) side.begin();
    this.player.start(0);
    this.#refresh();
    await this.#compare();
  }

  seek(t) {
    this.player.pause();
    this.player.seek(t);
  }

  /** Choose an agent in both runs, or nobody by the agent that is chosen already. */
  choose(agent) {
    this.chosen = agent === this.chosen ? -1 : agent;
    this.#worlds((world) => world.choose(this.chosen));
  }

  #show(t) {
    for (const side of this.sides) side.show(t);
  }

  #refresh() {
    for (const side of this.sides) side.refresh();
    this.player.drawMarks();
  }

  /** Find where the boards differ first, and say so. */
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
