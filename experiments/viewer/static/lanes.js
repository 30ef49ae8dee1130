/* The three lanes on one axis. What is in view is drawn on a canvas; the cursor lies above it, so that to move it is cheap. */
import { el, fitted } from "./dom.js";
import { STAGES, lastBy, lastUpTo, taskLine } from "./model.js";
import { arrow, block, cross, tag } from "./strokes.js";
import { short, shown } from "./text.js";
import { colour } from "./theme.js";

const GUTTER = 104;
const AXIS = 22;
const TITLE = 20;
const LARGEST_STEP = 160;
const MANY_RECIPIENTS = 12;
const LABEL_ROOM = 30;
const ARROWS = { up: "\u2191", down: "\u2193", left: "\u2190", right: "\u2192" };
const NOTHING = new Set(["stay", "noop", "nothing"]);
const STATUS = {
  success: { colour: "ok", texture: "plain" },
  failed: { colour: "bad", texture: "crosses" },
  timeout: { colour: "warn-mark", texture: "stripes" },
  cancelled: { colour: "stage-w", texture: "dots" },
};

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
    this.base = el("canvas", { class: "lanes-base", role: "img", "aria-label": "stages, messages, actions and constraints over time" });
    this.over = el("div", { class: "lanes-cursor", hidden: true });
    this.spacer = el("div", { class: "lanes-spacer" });
    this.root = el("div", { class: "lanes", tabIndex: 0 }, el("div", { class: "lanes-stick" }, this.base, this.over), this.spacer);
    this.rows = this.#layout();
    this.#listen();
  }

  /** Show another page, at the scale of this one, or all of it where all of this one is shown. */
  turn(model) {
    const whole = this.#isWhole();
    this.model = model;
    this.rows = this.#layout();
    this.left = 0;
    if (whole) this.scale = 0;
  }

  /** Show the same page, which has grown; stay where the view is, unless all of it is shown. */
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

  /** Set the step that the cursor stands at; follow it where it leaves the view. */
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

  /** Change the scale around a place of the axis. */
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
    this.view = { from: this.left, to: this.left + this.width / this.scale, high, width };
    c.fillStyle = colour("paper");
    c.fillRect(0, 0, width, high);
    c.textBaseline = "middle";
    c.save();
    c.beginPath();
    c.rect(0, AXIS, width, high - AXIS);
    c.clip();
    const seen = this.rows.filter((row) => this.#y(row) + row.height > AXIS && this.#y(row) < high);
    for (const row of seen) this.#row(c, row);
    this.#messages(c);
    for (const row of seen) this.#gutter(c, row);
    c.restore();
    this.#axis(c);
    this.#cursor();
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
    if (row.sort === "stage") this.#stages(c, row, y);
    else if (row.sort === "action") this.#actions(c, row, y);
    else if (row.sort === "task") this.#task(c, row, y);
    else if (row.sort === "score") this.#score(c, row, y);
    else if (row.sort === "capability") this.#capabilities(c, row, y);
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
      c.fillText(row.text, 6, y + row.height / 2);
      return;
    }
    c.fillStyle = row.agent !== undefined && row.agent === this.chosen ? colour("chosen") : colour("paper");
    c.fillRect(0, y, GUTTER, row.height);
    const text = row.agent !== undefined ? this.model.name(row.agent) : row.sort === "task" ? row.task.name : row.sort;
    if (row.agent !== undefined) this.hits.push([0, y, GUTTER, y + row.height, "agent", row.agent]);
    if (row.height < 9) return;
    if (row.sort === "score") {
      const [, reached, goals, score] = this.model.episode.scores.at(-1) || [0, 0, 0, 0];
      this.#note(c, `score, ${shown(score)} at the end`, y + row.height / 2 - 8);
      this.#note(c, `${shown(reached)} of ${shown(goals)} goals`, y + row.height / 2 + 8);
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

  #stages(c, row, y) {
    const { starts, codes } = this.model.stages[row.agent];
    const from = Math.max(0, lastUpTo(starts, this.view.from));
    let reached = -1;
    for (let i = from; i < codes.length && starts[i] <= this.view.to; i++) {
      const x = this.#x(starts[i]);
      const end = Math.min(this.view.width, this.#x(i + 1 < codes.length ? starts[i + 1] : this.model.axis.length));
      if (end - reached < 0.7 && codes[i] !== "I") continue;
      reached = end;
      const stage = STAGES[codes[i]] || STAGES.W;
      const height = stage.full ? row.height - 3 : Math.max(2, row.height / 4);
      const top = stage.full ? y + 1.5 : y + (row.height - height) / 2;
      block(c, x, top, Math.max(1, end - x), height, colour(stage.colour), stage.texture);
      if (end - x > 30 && row.height > 14 && stage.full) tag(c, stage.name, x + 4, y + row.height / 2, end - x - 6);
    }
    for (const thought of this.#visible(this.model.thoughtsOf[row.agent])) {
      const x = Math.max(GUTTER, this.#x(thought.x));
      const end = Math.max(x + 2, this.#x(thought.end));
      this.hits.push([x, y, end, y + row.height, "thought", thought]);
      if (thought.refused?.length) cross(c, end - 4, y + row.height / 2, 3.5);
      else if (end - x > 5) {
        c.fillStyle = "rgba(255,255,255,.8)";
        c.fillRect(end - 1, y + 2, 1, row.height - 4);
      }
    }
  }

  #visible(items) {
    const { from, to } = this.view;
    const first = Math.max(0, lastBy(items, (item) => item.x <= from));
    const found = [];
    for (let i = first; i < items.length && items[i].x <= to; i++) if (items[i].end >= from) found.push(items[i]);
    return found;
  }

  #messages(c) {
    const rows = new Map(this.rows.filter((row) => row.sort === "stage").map((row) => [row.agent, this.#y(row) + row.height / 2]));
    const { messages } = this.model;
    const first = lastBy(messages, (message) => message.x < this.view.from - 1) + 1;
    c.save();
    c.beginPath();
    c.rect(GUTTER, AXIS, this.view.width - GUTTER, this.view.high);
    c.clip();
    for (let i = first; i < messages.length && messages[i].x <= this.view.to; i++) {
      const message = messages[i];
      const chosen = this.chosen < 0 || message.sender === this.chosen || message.recipients.includes(this.chosen);
      const x = this.#x(message.x);
      const y = rows.get(message.sender);
      c.globalAlpha = chosen ? 1 : 0.15;
      c.strokeStyle = colour("message");
      c.fillStyle = colour("message");
      c.lineWidth = 1.1;
      const end = Math.max(x + 5, this.#x(message.arrives));
      const targets = message.recipients.filter((recipient) => rows.has(recipient)).map((recipient) => rows.get(recipient));
      if (targets.length <= MANY_RECIPIENTS) for (const target of targets) arrow(c, x, y, end, target);
      else for (const target of [Math.min(...targets), Math.max(...targets)]) arrow(c, x, y, end, target);
      c.beginPath();
      c.arc(x, y, 3.4, 0, 2 * Math.PI);
      c.fill();
      c.strokeStyle = colour("paper");
      c.lineWidth = 1;
      c.stroke();
      this.hits.push([x - 5, y - 6, x + 5, y + 6, "message", message]);
    }
    c.restore();
  }

  #actions(c, row, y) {
    const upper = Math.round(row.height * 0.58);
    for (const action of this.#visible(this.model.actionsOf[row.agent])) {
      if (action.endT !== null && action.endT < this.model.first) continue; // of a plan that goes on from the page before
      const x = Math.max(GUTTER - 2, this.#x(action.x));
      const end = Math.max(x + 1.5, this.#x(action.end));
      const look = STATUS[action.status] || { colour: "stage-x", texture: "plain" };
      block(c, x, y + 1, Math.max(1.5, end - x - 0.7), upper - 2, colour(look.colour), look.texture);
      if (end - x > 26 && upper >= 9) tag(c, action.name, x + 3, y + upper / 2, end - x - 5);
      this.hits.push([x, y, end, y + upper, "action", action]);
    }
    const { axis, plain } = this.model;
    if (this.scale < 3) return;
    const first = axis.t(this.view.from);
    const last = Math.min(axis.last - 1, axis.t(this.view.to));
    const size = row.height - upper - 1;
    c.textAlign = "center";
    c.font = `600 ${Math.min(12, size + 2)}px system-ui, sans-serif`;
    for (let t = first; t <= last; t++) {
      const name = this.model.primitive(plain.joint[t - axis.first][row.agent]);
      const x = this.#x(axis.step(t));
      const wide = this.scale;
      c.fillStyle = colour(NOTHING.has(name) ? "line" : "primitive");
      if (wide < 9 || size < 7) c.fillRect(x + 0.5, y + upper + (NOTHING.has(name) ? size / 2 : 0), Math.max(1, wide - 1), NOTHING.has(name) ? 1 : size - 1);
      else {
        const sign = NOTHING.has(name) ? "\u00b7" : ARROWS[name.replace("move_", "")] || (wide > 60 ? short(name, Math.floor(wide / 6)) : name.slice(0, 1).toUpperCase());
        c.fillStyle = colour(NOTHING.has(name) ? "soft" : "ink");
        c.fillText(sign, x + wide / 2, y + upper + size / 2, wide);
      }
    }
  }

  #task(c, row, y) {
    const { changes, starts } = row.task;
    const from = Math.max(0, lastUpTo(starts, this.view.from));
    const high = (row.height - 4) / 4;
    let reached = -1;
    for (let i = from; i < changes.length && starts[i] <= this.view.to; i++) {
      const [t, threshold, spatial, temporal, participation, joint, dependency] = changes[i];
      if (threshold === 0) continue;
      const x = this.#x(starts[i]);
      const end = Math.min(this.view.width, this.#x(i + 1 < changes.length ? starts[i + 1] : this.model.axis.step(this.model.axis.last)));
      if (end - reached < 0.6) continue;
      reached = end;
      const met = [spatial >= threshold, temporal >= threshold, participation >= threshold, dependency];
      met.forEach((holds, k) => {
        c.fillStyle = colour(holds ? `met-${k}` : "unmet");
        c.fillRect(x, y + 2 + k * high, Math.max(0.8, end - x), holds ? high : 1);
      });
      if (joint >= threshold && dependency) {
        c.strokeStyle = colour("ink");
        c.lineWidth = 1.4;
        c.strokeRect(x + 0.7, y + 1, Math.max(1, end - x - 1.4), row.height - 2);
      }
      this.hits.push([x, y, end, y + row.height, "task", { name: row.task.name, change: changes[i], t }]);
    }
  }

  #capabilities(c, row, y) {
    c.textAlign = "center";
    for (const [t, agent, name, gained] of this.model.plain.capabilities) {
      const x = this.#x(this.model.axis.step(t) + 0.5);
      if (x < GUTTER - 6 || x > this.view.width + 6) continue;
      c.globalAlpha = this.chosen < 0 || this.chosen === agent ? 1 : 0.2;
      c.fillStyle = colour(gained ? "ok" : "bad");
      c.font = "12px system-ui, sans-serif";
      c.fillText(gained ? "\u25b2" : "\u25bd", x, y + row.height / 2);
      this.hits.push([x - 6, y, x + 6, y + row.height, "capability", { t, agent, name, gained }]);
      c.globalAlpha = 1;
    }
  }

  #score(c, row, y) {
    const { axis, episode: { scores } } = this.model;
    if (!scores.length) return;
    const highest = scores.reduce((most, [, , , score]) => Math.max(most, score), 1e-9);
    const lowest = scores.reduce((least, [, , , score]) => Math.min(least, score), 0);
    const place = (score) => y + row.height - 5 - ((row.height - 10) * (score - lowest)) / (highest - lowest);
    c.beginPath();
    let last = place(scores[0][3]);
    c.moveTo(this.#x(0), last);
    for (const [t, , , score] of scores) {
      if (t > axis.last) break;
      const x = this.#x(t && t >= axis.first ? axis.step(t) + 1 : 0);
      c.lineTo(x, last);
      last = place(score);
      c.lineTo(x, last);
    }
    c.lineTo(this.#x(axis.length), last);
    c.strokeStyle = colour("ok");
    c.lineWidth = 2;
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
    if (sort === "message") return `${this.model.name(item.sender)} ${item.what}: ${short(item.content, 200)}`;
    if (sort === "thought") return `${this.model.name(item.agent)} ${this.model.thoughtLine(item)}`;
    if (sort === "action") return `${item.plan}: ${item.name}, ${item.status ?? "running"} ${short(item.reason ?? "")}`;
    if (sort === "capability") return `${this.model.name(item.agent)} ${item.gained ? "gains" : "loses"} ${item.name}`;
    if (sort === "task") return taskLine(item);
    return "";
  }
}
