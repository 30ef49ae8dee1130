/* Two runs that the user picks from a list to see side by side. */
import { button, el, fill } from "./dom.js";
import { isSite } from "./sources.js";
import { ends, short } from "./text.js";

export class Picks {
  /** @param up address of the front page. @param {string[]} first the runs picked at first. */
  constructor(up, first = []) {
    this.up = up;
    this.runs = [...first];
    this.boxes = new Map();
    this.root = el("p", { class: "picks", "aria-live": "polite", hidden: true });
    this.#tell();
  }

  /** Make the checkbox that picks a run; a third pick replaces the first one. A site has no page of two runs, so no checkbox. @param {string} run @param {string} words its label */
  box(run, words = run) {
    if (isSite()) return null;
    const box = el("input", { type: "checkbox", class: "pick", checked: this.runs.includes(run), title: "side by side with another one", "aria-label": `pick ${short(words, 80)}` });
    box.addEventListener("change", () => {
      this.runs = this.runs.filter((picked) => picked !== run);
      if (box.checked) this.runs = [...this.runs, run].slice(-2);
      this.#tell();
    });
    this.boxes.set(run, box);
    return box;
  }

  #tell() {
    for (const [run, box] of this.boxes) box.checked = this.runs.includes(run);
    this.root.hidden = !this.runs.length;
    const [one, other] = this.runs;
    const both = other !== undefined;
    const name = (run) => el("b", { title: run }, el("bdi", {}, ends(run)));
    fill(this.root, [
      both ? el("a", { class: "open-pair", href: `${this.up}pair/${encodeURIComponent(one)}/${encodeURIComponent(other)}` }, "side by side") : "side by side: pick another run next to ",
      both ? ": " : null, one === undefined ? null : name(one), both ? [" | ", name(other)] : null,
      button("\u00d7", "pick none", () => {
        this.runs = [];
        this.#tell();
      }),
    ]);
  }
}
