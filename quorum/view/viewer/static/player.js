/* The time: its position, its playback, and its controls. */
import { button, el, say, sharp } from "./dom.js";
import { colour } from "./theme.js";

const SPEEDS = [1, 2, 4, 8, 16, 32, 64];
const HASH_PAUSE = 250;

export class Player {
  /** @param {import("./contract.js").Episode} episode @param show called with every new `t`. */
  constructor(episode, show) {
    this.breaks = episode.breaks;
    this.show = show;
    this.t = -1;
    this.playing = false;
    this.last = episode.steps;
    this.common = 0;
    this.play = button("\u25b6", "play or pause (space)", () => this.toggle(), { class: "play" });
    this.range = el("input", { type: "range", min: 0, max: this.last, step: 1, value: 0, "aria-label": "step of the environment" });
    this.label = el("output", { class: "clock" });
    this.speed = el("select", { "aria-label": "steps a second", title: "steps a second" }, SPEEDS.map((s) => el("option", { value: String(s), selected: s === 4 }, `${s}/s`)));
    this.marks = el("canvas", { class: "marks", "aria-hidden": "true" });
    this.range.addEventListener("input", () => this.seek(Number(this.range.value)));
    const previous = "to the previous failure or interruption (N)";
    this.root = el("nav", { class: "player", "aria-label": "time" },
      button("\u21e4", "to the beginning (home)", () => this.seek(0)),
      button("\u2039", "one step back (left arrow)", () => this.step(-1)),
      this.play,
      button("\u203a", "one step forward (right arrow)", () => this.step(1)),
      button("\u21e5", "to the end (end)", () => this.seek(this.last)),
      this.speed,
      button("\u2190 !", previous, () => this.toBreak(-1)),
      button("! \u2192", "to the next failure or interruption (n)", () => this.toBreak(1)),
      el("div", { class: "track" }, this.marks, this.range),
      this.label);
    window.addEventListener("hashchange", () => this.#fromHash());
  }

  /** Use the instant of the address, or another one. */
  start(t) {
    if (!this.#fromHash()) this.seek(t);
  }

  /** Process the growth of the episode: stay at the instant, or follow the end if it was visible. */
  extend(episode) {
    const end = this.t >= this.last && !this.playing;
    this.breaks = episode.breaks;
    this.last = episode.steps;
    this.range.max = String(this.last);
    say(this.label, this.#clock());
    if (end) this.seek(this.last);
  }

  seek(t) {
    const wanted = Math.max(0, Math.min(this.last, Math.round(t)));
    if (wanted === this.t) return;
    this.t = wanted;
    this.range.value = String(wanted);
    say(this.label, this.#clock());
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#toHash(), HASH_PAUSE);
    this.show(wanted);
  }

  #clock() {
    return `t = ${this.t} of ${this.last}`;
  }

  step(by) {
    this.pause();
    this.seek(this.t + by);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.#run();
  }

  pause() {
    this.playing = false;
    say(this.play, "\u25b6");
  }

  /** Go to the next or previous step with a failure or an interruption. */
  toBreak(way) {
    this.pause();
    const found = way > 0 ? this.breaks.find((t) => t > this.t) : this.breaks.findLast((t) => t < this.t);
    if (found === undefined) return;
    this.seek(found);
    this.onBreak?.(found, way);
  }

  #run() {
    if (this.t >= this.last) this.seek(0);
    this.playing = true;
    say(this.play, "\u23f8");
    let begin = performance.now();
    let from = this.t;
    let speed = Number(this.speed.value);
    const tick = (now) => {
      if (!this.playing) return;
      if (Number(this.speed.value) !== speed) {
        speed = Number(this.speed.value);
        begin = now;
        from = this.t;
      }
      this.seek(from + Math.floor(((now - begin) * speed) / 1000));
      if (this.t >= this.last) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  #fromHash() {
    const t = instantOfAddress();
    if (t === null) return false;
    this.seek(t);
    return true;
  }

  #toHash() {
    const hash = `#t=${this.t}`;
    if (window.location.hash !== hash && !this.playing) window.history.replaceState(null, "", hash);
  }

  /** Mark the failures and interruptions along the track; and the common beginning of two runs, up to the step `common`. */
  drawMarks() {
    const { clientWidth: width, clientHeight: high } = this.marks.parentElement;
    const c = sharp(this.marks, width, high);
    c.clearRect(0, 0, width, high);
    c.fillStyle = colour("line");
    if (this.common) c.fillRect(8, 1, ((width - 16) * this.common) / Math.max(1, this.last), 3);
    c.fillStyle = colour("bad");
    for (const t of this.breaks) c.fillRect(8 + ((width - 16) * t) / Math.max(1, this.last), 0, 1.5, 5);
  }
}

/** The instant that the address names, or null. */
export function instantOfAddress() {
  const found = /^#t=(\d+)$/.exec(window.location.hash);
  return found && Number(found[1]);
}
