/* Search in messages, plans, thoughts, outcomes, prompts and answers. */
import { button, el, fill, say } from "./dom.js";
import { short } from "./text.js";

const MOST = 200;
const PAUSE = 150;

export class Search {
  /** @param on `open(sort, item)`, `call(number)`, `seek(t)`, a promise if the page is not read yet. */
  constructor(model, pages, source, on) {
    this.model = model;
    this.pages = pages;
    this.source = source;
    this.on = on;
    this.asked = 0;
    this.input = el("input", { type: "search", placeholder: "search ( / )", "aria-label": "search messages, plans and calls" });
    this.note = el("p", { class: "soft" });
    this.rows = el("div");
    this.list = el("div", { class: "results", hidden: true }, this.note, this.rows);
    this.root = el("div", { class: "search" }, this.input, this.list);
    let waiting;
    this.input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#find(this.input.value.trim()), PAUSE);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      if (event.key === "Enter") this.list.querySelector("button")?.click();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.root.contains(event.target)) this.list.hidden = true;
    });
  }

  close() {
    this.list.hidden = true;
    this.input.blur();
  }

  async #find(words) {
    const asked = ++this.asked;
    if (!words) {
      this.list.hidden = true;
      return;
    }
    const rows = [];
    let calls = [];
    let note = "";
    try {
      for (let number = 0; number < this.pages.firsts.length && rows.length < MOST; number++) {
        const shown = this.model.first === this.pages.firsts[number];
        if (!shown) this.#show(rows, words, `searching ${this.pages.steps(number)}\u2026`);
        rows.push(...this.#events(shown ? this.model : await this.pages.model(number), words.toLowerCase(), MOST - rows.length));
        if (asked !== this.asked) return;
      }
      this.#show(rows, words, "searching the calls\u2026");
      if (this.pages.episode.calls) calls = await this.source.search(words);
    } catch (error) {
      note = `Not all could be searched: ${error.message}`;
    }
    if (asked !== this.asked) return;
    const found = calls.map((number) => button([el("b", {}, "call"), ` ${number}`], "read this call", () => this.on.call(number)));
    this.#show([...rows, ...found], words, note);
    this.list.dataset.found = words;
  }

  #events(model, wanted, most) {
    const rows = [];
    for (const event of model.events) {
      if (rows.length >= most) break;
      if (event.sort === "plan" && event.status[2] !== "committed" && !`${event.status}`.toLowerCase().includes(wanted)) continue;
      const name = model.name(event.agent);
      const text = haystack(event);
      const at = text.toLowerCase().indexOf(wanted);
      if (at < 0 && !name.toLowerCase().includes(wanted)) continue;
      const passage = at > 40 ? `\u2026${text.slice(at - 30, at + 120)}` : text.slice(0, 150);
      rows.push(button([el("b", {}, `t = ${event.t} `), el("bdi", {}, name), ` ${event.sort}: `, el("bdi", {}, short(passage, 110))], "go there", async () => {
        await this.on.seek(event.t);
        this.on.open(event.sort, event.item);
      }));
    }
    return rows;
  }

  #show(rows, words, note) {
    const count = rows.length ? `${rows.length >= MOST ? "the first " : ""}${rows.length} found` : `nothing has \u201c${short(words, 40)}\u201d`;
    say(this.note, note || count);
    // Visible rows stay in place: removing a row while the user presses it would lose the click.
    if (this.rows.firstChild === rows[0]) this.rows.append(...rows.slice(this.rows.childElementCount));
    else fill(this.rows, rows);
    this.list.hidden = false;
  }
}

/** The searchable text of an event. */
function haystack({ sort, item, status }) {
  if (sort === "message") return item.content;
  if (sort === "thought") return [...(item.refused || []), ...item.problems].join(" ");
  if (sort === "plan") return `${item.id} ${status[2]} ${status[3]} ${item.task ? `${item.task.kind}:${item.task.target}` : ""} ${item.rationale} ${item.flag} ${JSON.stringify(item.actions)}`;
  if (sort === "action") return `${item.name} ${item.status} ${item.reason}`;
  return JSON.stringify(item);
}
