/* The three lanes on one axis. A canvas shows the visible part; the cursor is above it, so moving it is cheap. */
import { beliefLine, drawBeliefs } from "./beliefs.js";
import { el, fitted } from "./dom.js";
import { drawActions, drawCapabilities, drawMessages, drawScore, drawStages, drawTask } from "./lane_rows.js";
import { taskLine } from "./model.js";
import { drawFindings, findingLine } from "./findings.js";
import { drawFailures, failureLine } from "./failures.js";
import { drawRepairs, repairLine } from "./repairs.js";
import { short, shown } from "./text.js";
import { drawUsage, usageWords } from "./usage.js";
import { colour } from "./theme.js";
import { drawBlamed, drawVerdict, verdictLine } from "./verdict.js";

const GUTTER = 104;
const AXIS = 22;
const TITLE = 20;
const LARGEST_STEP = 160;
const LABEL_ROOM = 30;
const DRAWN = { stage: drawStages, action: drawActions, task: drawTask, score: drawScore, capability: drawCapabilities, repair: drawRepairs, failure: drawFailures, verdict: drawVerdict, belief: drawBeliefs, finding: drawFindings, usage: drawUsage };

export class Lanes {
  /** @param on `seek(t)`, `open(sort, item)`, `agent(index)`. */
  constructor(model, on) {
    this.model = model;
    this.on = on;
    this.t = 0;
    this.chosen = -1;
    this.left = 0;
    this.scale = 0;
    this.hits = [];
    this.differs = null;
    this.common = null;
    this.base = el("canvas", { class: "lanes-base", role: "img", "aria-label": "stages, messages, actions and constraints over time" });
    this.over = el("div", { class: "lanes-cursor", hidden: true });
    this.spacer = el("div", { class: "lanes-spacer" });
    this.root = el("div", { class: "lanes", tabIndex: 0 }, el("div", { class: "lanes-stick" }, this.base, this.over), this.spacer);
    this.rows = this.#layout();
    this.#listen();
  }

  /** Show another page at the scale of this one, or all of it if all of this one is visible. */
  turn(model) {
    const whole = this.#isWhole();
    this.model = model;
    this.rows = this.#layout();
    this.left = 0;
    if (whole) this.scale = 0;
  }

  /** Show the same page after it has grown; keep the view, unless the whole page is visible. */
  grow(model) {
    const { left } = this;
    this.turn(model);
    this.left = left;
  }

  get width() {
    return Math.max(10, this.root.clientWidth - GUTTER - 8);
  }

  get fitScale() {
    return this.width / this.model.axis.length;
  }

  /** Set the step of the cursor; follow it when it leaves the view. */
  show(t) {
    this.t = t;
    const from = this.model.axis.begin(t);
    const to = this.model.axis.begin(t + 1);
    const span = this.width / this.scale;
    if (to > this.left + span || from < this.left) {
      this.left = this.#bounded(from - span * 0.15);
      this.draw();
    } else this.#cursor();
  }

  choose(agent) {
    this.chosen = agent;
    this.draw();
  }

  /** The first and the last step in view. */
  window() {
    const { axis } = this.model;
    return [axis.t(this.left), axis.t(this.left + this.width / (this.scale || this.fitScale))];
  }

  /** Change the scale around a position of the axis. */
  zoom(factor, around = this.model.axis.begin(this.t)) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitScale), Math.max(LARGEST_STEP, this.fitScale));
    this.left = around - ((around - this.left) * this.scale) / scale;
    this.scale = scale;
    this.left = this.#bounded(this.left);
    this.draw();
  }

  fit() {
    this.scale = this.fitScale;
    this.left = 0;
    this.draw();
  }

  resize() {
    if (this.#isWhole()) this.scale = this.fitScale;
    this.left = this.#bounded(this.left);
    this.draw();
  }

  #isWhole() {
    return !this.scale || this.scale <= this.fitScale * 1.0001;
  }

  #bounded(left) {
    return Math.max(0, Math.min(left, this.model.axis.length - this.width / this.scale));
  }

  #layout() {
    const { model } = this;
    const n = model.names.length;
    const stage = n <= 8 ? 20 : n <= 20 ? 15 : 11;
    const action = n <= 8 ? 28 : n <= 20 ? 22 : 17;
    const rows = [{ sort: "title", text: "stages and messages", height: TITLE }];
    model.names.forEach((_, agent) => rows.push({ sort: "stage", agent, height: stage }));
    rows.push({ sort: "title", text: "actions: symbolic above, primitive below", height: TITLE });
    model.episode.agents.forEach((_, agent) => rows.push({ sort: "action", agent, height: action }));
    rows.push({ sort: "title", text: "constraints (S T P D met; framed: all at once), capabilities, score", height: TITLE });
    rows.push({ sort: "score", height: 54 });
    if (model.plain.capabilities.length) rows.push({ sort: "capability", height: 18 });
    for (const task of model.tasks) rows.push({ sort: "task", task, height: 17 });
    if (model.findings.length) rows.push({ sort: "title", text: "interaction: failures of cooperation by their letters", height: TITLE }, { sort: "finding", height: 20 });
    const unread = model.messages.some(({ asks }) => !asks) ? "; messages are text only: ignored input and mismatch are unknown" : "";
    if (model.failures.length || unread) rows.push({ sort: "title", text: `failures by rule: each with the first letter of its kind${unread}`, height: TITLE }, { sort: "failure", height: 16 });
    if (model.verdict.length) rows.push({ sort: "title", text: "blame: the decision that made it fail (filled), and others with a sufficient correction", height: TITLE }, { sort: "verdict", height: 20 });
    if (model.beliefs.length) rows.push({ sort: "title", text: "beliefs: green is the share of right answers", height: TITLE });
    for (const { agent } of model.beliefs) rows.push({ sort: "belief", agent, height: stage });
    if (model.repairs.length) rows.push({ sort: "title", text: "repairs: expected violations of plans (S T P D); framed: repaired; dashed: not repaired", height: TITLE }, { sort: "repair", height: 20 });
    if (model.usage.any) rows.push({ sort: "title", text: "language models: tokens out above the line, in below; dashed: money so far", height: TITLE }, { sort: "usage", height: 64 });
    let y = 0;
    for (const row of rows) {
      row.y = y;
      y += row.height;
    }
    this.spacer.style.height = `${y + AXIS + 6}px`;
    return rows;
  }

  draw() {
    const width = this.root.clientWidth;
    const high = this.root.clientHeight;
    if (width < 50 || high < 30) return;
    if (!this.scale) this.scale = this.fitScale;
    const c = fitted(this.base, width, high);
    this.hits = [];
    this.scroll = this.root.scrollTop;
    this.view = {
      c, width, high, gutter: GUTTER, top: AXIS, from: this.left, to: this.left + this.width / this.scale, scale: this.scale,
      model: this.model, chosen: this.chosen, hits: this.hits, x: (place) => this.#x(place),
    };
    c.fillStyle = colour("paper");
    c.fillRect(0, 0, width, high);
    c.textBaseline = "middle";
    c.save();
    c.beginPath();
    c.rect(0, AXIS, width, high - AXIS);
    c.clip();
    const seen = this.rows.filter((row) => this.#y(row) + row.height > AXIS && this.#y(row) < high);
    for (const row of seen) this.#row(c, row);
    const middles = new Map(this.rows.filter((row) => row.sort === "stage").map((row) => [row.agent, this.#y(row) + row.height / 2]));
    drawMessages(this.view, middles);
    drawBlamed(this.view, middles);
    if (this.differs) this.#underline(c);
    if (this.common) this.#grey(c);
    for (const row of seen) this.#gutter(c, row);
    c.restore();
    this.#axis(c);
    this.#cursor();
  }

  /** Underline the differences from another run. */
  #underline(c) {
    c.fillStyle = colour("differs");
    for (const [x, y, end, low, sort, item] of this.hits) {
      if (!this.differs.has(item)) continue;
      const from = Math.max(GUTTER, x);
      const to = Math.min(this.view.width, end);
      if (sort === "message") c.fillRect(from - 1, y - 3, 6, 3);
      else if (to > GUTTER) c.fillRect(from, low - 3, Math.max(3, to - from), 3);
    }
  }

  /** Grey the common beginning of two runs. */
  #grey(c) {
    const { t, t_hat: tHat } = this.common;
    const { axis } = this.model;
    const x = this.#x(tHat === null ? axis.begin(t) : axis.at(t, tHat));
    if (x <= GUTTER) return;
    c.globalAlpha = 0.62;
    c.fillStyle = colour("paper");
    c.fillRect(GUTTER, AXIS, Math.min(x, this.view.width) - GUTTER, this.view.high);
    c.globalAlpha = 1;
    c.strokeStyle = colour("ink");
    c.setLineDash([4, 3]);
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(Math.round(x) + 0.5, AXIS);
    c.lineTo(Math.round(x) + 0.5, this.view.high);
    c.stroke();
    c.setLineDash([]);
  }

  /** Show everything from a step on. */
  showFrom(t) {
    const left = this.model.axis.begin(t);
    this.scale = Math.min(this.width / Math.max(1, this.model.axis.length - left), Math.max(LARGEST_STEP, this.fitScale));
    this.left = this.#bounded(left);
    this.draw();
  }

  #y(row) {
    return row.y + AXIS - this.scroll;
  }

  #x(place) {
    return GUTTER + (place - this.left) * this.scale;
  }

  #row(c, row) {
    const y = this.#y(row);
    if (row.sort !== "title" && row.agent !== undefined && row.agent === this.chosen) {
      c.fillStyle = colour("chosen");
      c.fillRect(0, y, this.view.width, row.height);
    }
    c.save();
    c.beginPath();
    c.rect(GUTTER, y, this.view.width - GUTTER, row.height);
    c.clip();
    DRAWN[row.sort]?.(this.view, row, y);
    c.restore();
  }

  #gutter(c, row) {
    const y = this.#y(row);
    if (row.sort === "title") {
      c.fillStyle = colour("panel");
      c.fillRect(0, y, this.view.width, row.height);
      c.fillStyle = colour("soft");
      c.font = "600 11px system-ui, sans-serif";
      c.textAlign = "left";
      c.fillText(row.text, 6, y + row.height / 2, this.view.width - 12);
      return;
    }
    c.fillStyle = row.agent !== undefined && row.agent === this.chosen ? colour("chosen") : colour("paper");
    c.fillRect(0, y, GUTTER, row.height);
    const text = row.sort === "stage" ? this.model.lane(row.agent) : row.agent !== undefined ? this.model.name(row.agent) : row.sort === "task" ? row.task.name : row.sort;
    if (row.agent !== undefined) this.hits.push([0, y, GUTTER, y + row.height, "agent", row.agent]);
    if (row.height < 9) return;
    if (row.sort === "score") {
      const [, reached, goals, score] = this.model.episode.scores.at(-1) || [0, 0, 0, 0];
      this.#note(c, `score, ${shown(score)} at the end`, y + row.height / 2 - 8);
      if (goals) this.#note(c, `${shown(reached)} of ${shown(goals)} goals`, y + row.height / 2 + 8);
      return;
    }
    if (row.sort === "usage") {
      const { prompt, completion, usd, simulated } = this.model.usage.upTo(this.model.axis.length);
      [`out ${shown(completion)}`, `in ${shown(prompt)}`, `$${shown(usd)}`, simulated ? "simulated" : ""].forEach((text, line) => this.#note(c, text, y + 9 + 15 * line));
      return;
    }
    c.fillStyle = colour(row.sort === "task" ? "soft" : "ink");
    c.font = `${Math.min(12, row.height - 1)}px system-ui, sans-serif`;
    c.textAlign = "left";
    c.fillText(short(text, 40), 6, y + row.height / 2, GUTTER - 12);
  }

  #note(c, text, y) {
    c.fillStyle = colour("soft");
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "left";
    c.fillText(text, 6, y, GUTTER - 12);
  }

  #axis(c) {
    const { width } = this.view;
    const { axis } = this.model;
    c.fillStyle = colour("paper");
    c.fillRect(0, 0, width, AXIS);
    c.strokeStyle = colour("line");
    c.fillStyle = colour("soft");
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "left";
    c.fillText("t", 6, AXIS / 2);
    c.textAlign = "center";
    const first = axis.t(this.view.from);
    const last = Math.min(axis.last, axis.t(this.view.to) + 1);
    const per = (this.view.to - this.view.from) / Math.max(1, last - first);
    const every = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000].find((k) => k * per * this.scale > 34) || 10000;
    let labelled = -LABEL_ROOM;
    c.beginPath();
    for (let t = first; t <= last; t++) {
      const x = this.#x(axis.begin(t));
      if (x < GUTTER - 1 || x > width) continue;
      if (axis.unfolded(t) * this.scale > 3) {
        c.fillStyle = colour("thinking");
        c.fillRect(x, AXIS - 5, axis.unfolded(t) * this.scale, 5);
      }
      if (t % every === 0 && x - labelled >= LABEL_ROOM) {
        labelled = x;
        c.fillStyle = colour("soft");
        c.fillText(String(t), Math.max(x, GUTTER + 4), AXIS / 2 - 2);
        c.moveTo(Math.round(x) + 0.5, AXIS - 5);
        c.lineTo(Math.round(x) + 0.5, AXIS);
      }
    }
    c.moveTo(0, AXIS - 0.5);
    c.lineTo(width, AXIS - 0.5);
    c.stroke();
  }

  #cursor() {
    const { width, high } = this.view || {};
    if (!width) return;
    const x = Math.max(GUTTER, this.#x(this.model.axis.begin(this.t)));
    const end = this.#x(this.model.axis.begin(this.t + 1));
    this.over.hidden = end < GUTTER || x > width;
    this.over.style.transform = `translateX(${Math.round(x) - 1}px)`;
    this.over.style.width = `${Math.max(2, Math.min(end, width) - x)}px`;
    this.over.style.height = `${high}px`;
  }

  #hit(event) {
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return { x, y, found: this.hits.findLast(([x0, y0, x1, y1]) => x >= x0 && x <= x1 && y >= y0 && y <= y1 && y > AXIS) };
  }

  #listen() {
    let drag = null;
    this.root.addEventListener("scroll", () => this.draw());
    this.root.addEventListener("wheel", (event) => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const place = this.left + (this.#hit(event).x - GUTTER) / this.scale;
        this.zoom(Math.exp(-event.deltaY / 300), place);
      } else if (sideways) {
        event.preventDefault();
        this.left = this.#bounded(this.left + sideways / this.scale);
        this.draw();
      }
    }, { passive: false });
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button || this.#hit(event).x > this.root.clientWidth) return;
      drag = { x: event.clientX, left: this.left, axis: this.#hit(event).y <= AXIS, moved: false };
      this.root.setPointerCapture(event.pointerId);
    });
    this.root.addEventListener("pointermove", (event) => {
      const { x, found } = this.#hit(event);
      if (!drag) {
        this.root.title = found ? this.#title(found) : "";
        this.root.style.cursor = found ? "pointer" : "default";
        return;
      }
      if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
      if (drag.axis) this.on.seek(this.model.axis.t(this.left + (x - GUTTER) / this.scale));
      else if (drag.moved) {
        this.left = this.#bounded(drag.left - (event.clientX - drag.x) / this.scale);
        this.draw();
      }
    });
    this.root.addEventListener("pointerup", (event) => {
      const was = drag;
      drag = null;
      if (!was || was.moved) return;
      const { x, found } = this.#hit(event);
      if (found?.[4] === "agent") this.on.agent(found[5]);
      else {
        if (x > GUTTER) this.on.seek(this.model.axis.t(this.left + (x - GUTTER) / this.scale));
        if (found) this.on.open(found[4], found[5]);
      }
    });
  }

  #title([, , , , sort, item]) {
    if (sort === "agent") return this.model.lane(item);
    if (sort === "message") return `${this.model.name(item.sender)} ${item.what}: ${short(item.content, 200)}`;
    if (sort === "thought") return `${this.model.name(item.agent)} ${this.model.thoughtLine(item)}`;
    if (sort === "action") return `${item.plan}: ${item.name}, ${item.status ?? "running"} ${short(item.reason ?? "")}`;
    if (sort === "capability") return `${this.model.name(item.agent)} ${item.gained ? "gains" : "loses"} ${item.name}`;
    if (sort === "task") return taskLine(item);
    if (sort === "finding") return findingLine(this.model, item);
    if (sort === "failure") return failureLine(this.model, item);
    if (sort === "verdict") return short(verdictLine(this.model, item), 300);
    if (sort === "belief") return `${this.model.name(item.agent)} ${beliefLine(item)}`;
    if (sort === "repair") return repairLine(this.model, item);
    if (sort === "usage") return usageWords(item);
    return "";
  }
}
