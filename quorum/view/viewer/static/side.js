/* One of two runs side by side: its world, and below it the messages and decisions of the step. */
import { el, say } from "./dom.js";
import { badges } from "./header.js";
import { Pages } from "./pages.js";
import { Reader } from "./reader.js";
import { ShownRun } from "./shown_run.js";
import { Transcript } from "./transcript.js";

export class Side extends ShownRun {
  /**
   * Read a run up to the page of an instant.
   * @param {string} letter its label. @param {import("./sources.js").Source} source @param tell called with the share of its trace read so far.
   * @param on `seek(t)`, `agent(index)`, `turned()` and `drawn()`, called when another page, or its pictures, have arrived; `address`: address of the page of this run, or null.
   */
  static async open(letter, source, t, tell, on) {
    const plain = await source.episode(tell);
    const pages = new Pages(plain, source);
    const first = pages.at(Math.min(t, plain.steps));
    const side = new Side(letter, plain, source, pages, await first.model, on);
    side.first = first;
    return side;
  }

  constructor(letter, plain, source, pages, model, on) {
    super(plain, pages, model, { ...on, open: (sort, item) => this.#open(sort, item) }, `the world of ${letter}`);
    this.letter = letter;
    this.t = 0;
    this.lanes.root.setAttribute("aria-label", `lanes of ${letter}`);
    this.transcript = new Transcript(model, this.on);
    this.transcript.root.setAttribute("aria-label", `transcript of ${letter}`);
    this.reader = new Reader(model, source, on.seek);
    this.reader.root.setAttribute("aria-label", `selection in ${letter}`);
    this.reader.root.hidden = true;
    this.over = el("p", { class: "over", role: "status" });
    this.root = el("section", { class: "side", "aria-label": `run ${letter}` },
      this.#head(), this.problems, this.world.root, this.lanes.root, this.transcript.root, this.reader.root);
    this.showProblems();
  }

  #head() {
    const { address } = this.on;
    return el("div", { class: "side-head" },
      el("h2", {}, `${this.letter}: `, address ? el("a", { href: address, title: `the page of ${this.letter} alone` }, this.plain.name) : this.plain.name),
      badges(this.plain, "shown as it was when the page was loaded"),
      this.over);
  }

  /** Start drawing. */
  begin() {
    this.transcript.choose({ agent: -1, kind: "", pair: null });
    this.draw(this.first, this.model);
  }

  /** Show an instant, or the end of the run if it is over by then. */
  show(t) {
    const { steps } = this.plain;
    this.t = Math.min(t, steps);
    say(this.over, this.#state(t > steps));
    this.over.classList.toggle("past", t > steps);
    this.showInstant();
  }

  instant() {
    return this.t;
  }

  take(model) {
    this.model = this.reader.model = model;
    this.transcript.turn(model);
  }

  list(t) {
    this.transcript.show(t);
  }

  /** The end of the run, with a note if the time is past it. */
  #state(past) {
    const { steps, under_way: underWay, facts: { outcome, reason } } = this.plain;
    if (underWay) return `read up to t = ${steps}: reload the page for more`;
    const ended = outcome ? `${outcome}${reason ? ` (${reason})` : ""}` : "no end is recorded";
    return past ? `${ended}: it stays at its end, t = ${steps}` : ended;
  }

  /** Redraw after a change of size or theme. */
  refresh() {
    this.world.refresh();
    this.lanes.resize();
  }

  /** Show the lanes or the transcript. */
  view(lanes) {
    this.lanes.root.hidden = !lanes;
    this.transcript.root.hidden = lanes;
    if (lanes) this.lanes.resize();
  }

  choose(agent) {
    this.world.choose(agent);
    this.lanes.choose(agent);
  }

  /** Mark the differences from the other run (none for null), and the common beginning. @param {Map<object, string>|null} differs @param {import("./contract.js").Parting|null} parting */
  mark(differs, parting) {
    this.lanes.differs = differs;
    this.lanes.common = parting;
    this.lanes.draw();
    this.transcript.mark(differs, parting?.t ?? null, this.t); // it receives the time after a pause
  }

  #open(sort, item) {
    this.reader.root.hidden = false;
    this.reader.open(sort, item);
  }
}
