/* The world at an instant, on a canvas: wheel to zoom, drag to move, double click for the whole board. */
import { el, sharp } from "./dom.js";
import { hue, paintGround, paintMark } from "./kinds.js";
import { colour } from "./theme.js";
import { paintPaths, paintTargets } from "./ways.js";

const PAPER = 255;
const LARGEST_ZOOM = 12;
const SMALLEST_AGENT = 11;
const SMALLEST_MARK = 1.8;
const READABLE = 16;
const FOLLOWED = 28;
const IMAGES = 50;

export class Board {
  /** @param on `pick(agent)`, called with the clicked agent, or -1; `follow()`, called when following starts, ends, or becomes available or unavailable. */
  constructor(film, on) {
    this.film = film;
    this.canvas = el("canvas", { class: "board", role: "img", "aria-label": "the world at the chosen instant" });
    this.base = document.createElement("canvas");
    this.zoom = 1;
    this.centre = null;
    this.chosen = -1;
    this.ways = null;
    this.differing = [];
    this.allWays = false;
    this.on = on;
    this.follows = false;
    this.followable = false;
    this.t = 0;
    this.drawn = null;
    this.images = new Map();
    this.#listen();
  }

  /** Take the pictures of another page. */
  project(film) {
    this.film = film;
    this.ways = null;
    this.drawn = null;
  }

  /** Show the world at `t`. */
  show(t) {
    this.t = t;
    this.draw();
  }

  /** Keep the chosen agent in the middle, zoomed in so that its label is readable; or show the whole board again. */
  follow(wanted) {
    if (wanted === this.follows) return;
    this.follows = wanted;
    this.zoom = wanted ? Math.max(this.zoom, FOLLOWED / this.#fit()) : 1;
    if (!wanted) this.centre = null;
    this.draw();
    this.on.follow();
  }

  /** Pixels of a cell when the whole board is shown. */
  #fit() {
    const { canvas: frame } = this.film;
    const { clientWidth: width, clientHeight: high } = this.canvas.parentElement;
    const around = 2 * this.#margin();
    return Math.min(width / (frame.width + around), high / (frame.height + around));
  }

  #margin() {
    const { canvas: frame } = this.film;
    return frame.margin + 0.02 * Math.max(frame.width, frame.height);
  }

  /** The position in the middle: the dragged one, or the followed agent, limited by the edges of the world. */
  #middle(picture, size, width, high) {
    const { canvas: frame } = this.film;
    const mark = this.follows && [...picture.marks.values()].find(({ agent }) => agent === this.chosen);
    if (mark) {
      const within = (place, cells, pixels) => {
        const half = pixels / size / 2;
        const [least, most] = [half - this.#margin(), cells + this.#margin() - half];
        return least > most ? cells / 2 : Math.min(most, Math.max(least, place));
      };
      this.centre = [within(mark.x + mark.width / 2, frame.width, width), within(mark.y + mark.height / 2, frame.height, high)];
    }
    return this.centre || [frame.width / 2, frame.height / 2];
  }

  /** Redraw after a change of size or theme. */
  refresh() {
    this.drawn = null;
    this.draw();
  }

  draw() {
    const { canvas: frame } = this.film;
    const box = this.canvas.parentElement;
    const width = box.clientWidth;
    const high = box.clientHeight;
    if (width < 20 || high < 20) return;
    const c = sharp(this.canvas, width, high);
    const fit = this.#fit();
    const size = fit * this.zoom;
    const picture = this.film.at(this.t);
    const middle = this.#middle(picture, size, width, high);
    const left = width / 2 - middle[0] * size;
    const top = high / 2 - middle[1] * size;
    this.view = { left, top, size };
    this.#offer(fit < READABLE);
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = colour("board");
    c.fillRect(0, 0, width, high);
    if (picture.image) this.#image(c, picture.image);
    else this.#ground(c, picture.ground, width, high);
    const marks = [...picture.marks.values()].sort((one, other) => one.kind - other.kind);
    const ways = this.#ways(picture);
    paintPaths(c, ways, this.view);
    for (const mark of marks) {
      const [x, y, w, h] = rectangle(mark, this.view);
      if (x > width || y > high || x + w < 0 || y + h < 0 || (mark.width < 1 && w < SMALLEST_MARK)) continue;
      paintMark(c, frame.kinds[mark.kind], mark, x, y, w, h);
      if (mark.agent >= 0 && mark.agent === this.chosen) ring(c, x, y, w, h);
    }
    paintTargets(c, ways, this.view);
    for (const place of this.differing) this.#outline(c, place);
  }

  /** Outline a place that differs in another run, in two colours so that it stands out from any background. */
  #outline(c, [x, y, width, height]) {
    const { left, top, size } = this.view;
    const box = [left + x * size - 1, top + y * size - 1, width * size + 2, height * size + 2];
    c.lineWidth = 2.5;
    c.strokeStyle = colour("differs");
    c.strokeRect(...box);
    c.lineWidth = 1;
    c.setLineDash([3, 3]);
    c.strokeStyle = colour("paper");
    c.strokeRect(...box);
    c.setLineDash([]);
  }

  /** Report whether the board is too large to read as a whole, so following an agent is available. */
  #offer(followable) {
    if (followable === this.followable) return;
    this.followable = followable;
    this.on.follow();
  }

  /** The paths to draw; the chosen agent's comes last, above the others. */
  #ways({ marks }) {
    if (!this.ways) return [];
    const kindOf = new Map([...marks.values()].filter((mark) => mark.agent >= 0).map((mark) => [mark.agent, mark.kind]));
    const found = [];
    for (const [agent, way] of this.ways.at(this.t)) {
      const chosen = agent === this.chosen;
      const kind = this.film.canvas.kinds[kindOf.get(agent)];
      if ((chosen || this.allWays) && kind) found.push([way, hue(kind), chosen]);
    }
    return found.sort((one, other) => one[2] - other[2]);
  }

  /** Draw ground and lines on a separate canvas that is kept: between most pictures only a few cells differ. */
  #ground(c, ground, width, high) {
    const { left, top, size } = this.view;
    const { width: columns, kinds } = this.film.canvas;
    const ratio = window.devicePixelRatio || 1;
    const key = `${left} ${top} ${size} ${width} ${high} ${ratio}`;
    const whole = !this.drawn || this.drawn.key !== key;
    const b = whole ? sharp(this.base, width, high) : this.base.getContext("2d");
    if (whole) {
      b.clearRect(0, 0, width, high);
      b.textAlign = "center";
      b.textBaseline = "middle";
    }
    let changed = whole;
    for (let cell = 0; cell < ground.length; cell++) {
      if (!whole && this.drawn.ground[cell] === ground[cell]) continue;
      changed = true;
      const x = left + (cell % columns) * size;
      const y = top + Math.floor(cell / columns) * size;
      if (x > width || y > high || x + size < 0 || y + size < 0) continue;
      if (ground[cell] === PAPER) b.clearRect(x, y, size, size);
      else paintGround(b, kinds[ground[cell]], x, y, size);
    }
    if (changed) {
      this.#rules(b, width, high);
      this.drawn = { key, ground };
    }
    c.drawImage(this.base, 0, 0, width, high);
  }

  /** Draw the picture of a world that draws itself; the browser decodes it first, and the board is drawn again then. */
  #image(c, url) {
    const { left, top, size } = this.view;
    const { width: columns, height: rows } = this.film.canvas;
    if (!this.images.has(url)) {
      const image = new Image();
      image.src = url;
      this.images.set(url, image);
      if (this.images.size > IMAGES) this.images.delete(this.images.keys().next().value);
      image.decode().then(() => this.draw());
    }
    const image = this.images.get(url);
    if (image.complete) this.shown = image;
    if (this.shown) c.drawImage(this.shown, left, top, columns * size, rows * size);
  }

  #rules(c, width, high) {
    const { left, top, size } = this.view;
    const { width: columns, height: rows, ruled } = this.film.canvas;
    c.strokeStyle = colour("line");
    c.lineWidth = 1;
    if (ruled && size >= 5) {
      c.beginPath();
      for (let column = 1; column < columns; column++) {
        const x = Math.round(left + column * size) + 0.5;
        if (x >= 0 && x <= width) {
          c.moveTo(x, Math.max(0, top));
          c.lineTo(x, Math.min(high, top + rows * size));
        }
      }
      for (let row = 1; row < rows; row++) {
        const y = Math.round(top + row * size) + 0.5;
        if (y >= 0 && y <= high) {
          c.moveTo(Math.max(0, left), y);
          c.lineTo(Math.min(width, left + columns * size), y);
        }
      }
      c.stroke();
    }
    c.strokeStyle = colour("soft");
    c.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, Math.round(columns * size), Math.round(rows * size));
  }

  /** Stop following, and stay at the position. */
  #letGo() {
    if (!this.follows) return;
    this.follows = false;
    this.on.follow();
  }

  #under(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.view.left) / this.view.size;
    const y = (event.clientY - box.top - this.view.top) / this.view.size;
    const marks = [...this.film.at(this.t).marks.values()].sort((one, other) => other.kind - one.kind);
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const mark = marks.find((m) => {
      const [left, top, width, height] = rectangle(m, this.view);
      return px >= left && px < left + width && py >= top && py < top + height;
    });
    const { width, height, kinds } = this.film.canvas;
    const inside = x >= 0 && y >= 0 && x < width && y < height;
    const ground = inside ? kinds[this.film.at(this.t).ground[Math.floor(y) * width + Math.floor(x)]] : undefined;
    return { x, y, mark, ground, inside };
  }

  #listen() {
    let drag = null;
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { x, y } = this.#under(event);
      const largest = Math.max(LARGEST_ZOOM, FOLLOWED / this.#fit());
      const zoom = Math.min(largest, Math.max(1, this.zoom * Math.exp(-event.deltaY / 400)));
      if (zoom === 1) this.follow(false);
      const { width, height } = this.film.canvas;
      const middle = this.centre || [width / 2, height / 2];
      const ratio = this.zoom / zoom;
      this.zoom = zoom;
      this.centre = zoom === 1 ? null : [x + (middle[0] - x) * ratio, y + (middle[1] - y) * ratio];
      this.draw();
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      const { width, height } = this.film.canvas;
      drag = { x: event.clientX, y: event.clientY, from: this.centre || [width / 2, height / 2], moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (drag && this.zoom > 1 && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 3) {
        drag.moved = true;
        this.#letGo();
        const { size } = this.view;
        this.centre = [drag.from[0] - (event.clientX - drag.x) / size, drag.from[1] - (event.clientY - drag.y) / size];
        this.draw();
      } else if (this.view) {
        const { mark, ground, inside, x, y } = this.#under(event);
        const place = inside ? ` (row ${Math.floor(y)}, column ${Math.floor(x)})` : "";
        this.canvas.title = mark ? `${mark.title}${place}` : ground ? `${ground.name}${place}` : "";
      }
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.on.pick(this.#under(event).mark?.agent ?? -1);
      drag = null;
    });
    this.canvas.addEventListener("dblclick", () => {
      this.follow(false);
      this.zoom = 1;
      this.centre = null;
      this.draw();
    });
  }
}

/** The rectangle of a mark: agents on a large map are drawn larger than they are, so that they can be found. */
function rectangle(mark, { left, top, size }) {
  const grown = mark.agent >= 0 ? Math.max(0, SMALLEST_AGENT - mark.width * size) : 0;
  const half = grown / 2;
  return [left + mark.x * size - half, top + mark.y * size - half, mark.width * size + grown, mark.height * size + grown];
}

function ring(c, x, y, w, h) {
  c.beginPath();
  c.ellipse(x + w / 2, y + h / 2, w / 2 + 4, h / 2 + 4, 0, 0, 2 * Math.PI);
  c.lineWidth = 2.5;
  c.strokeStyle = colour("cursor");
  c.stroke();
}
