/* The pictures of a page, from their differences: see `Frame` in contract.js. */

const EVERY = 24;

export class Film {
  /** @param {import("./contract.js").Pictures} plain */
  constructor(plain) {
    this.canvas = plain.canvas;
    this.names = plain.names;
    this.tellsWays = plain.ways;
    this.frames = plain.frames;
    this.first = plain.first;
    this.last = plain.first + plain.frames.length - 1;
    this.keys = [];
    this.now = { t: plain.first - 1, ground: unrolled(plain.ground), marks: new Map(), caption: "", holdings: [], image: null, changed: null };
    while (this.now.t < this.last) this.#forward();
  }

  /** Return the picture at `t`, or the last available one: `ground`, `marks` by name, `caption`, `holdings`. */
  at(t) {
    const wanted = Math.max(this.first, Math.min(t, this.last));
    if (wanted < this.now.t || wanted - this.now.t > EVERY) {
      const key = this.keys[Math.floor((wanted - this.first) / EVERY)];
      this.now = { ...key, ground: key.ground.slice(), marks: new Map(key.marks), holdings: [...key.holdings], changed: null };
    }
    while (this.now.t < wanted) this.#forward();
    return this.now;
  }

  #forward() {
    const now = this.now;
    const frame = this.frames[now.t + 1 - this.first];
    const { names } = this;
    now.t += 1;
    const cells = frame.g || [];
    for (let i = 0; i < cells.length; i += 2) now.ground[cells[i]] = cells[i + 1];
    const moved = frame.p || [];
    for (let i = 0; i < moved.length; i += 3) {
      const name = names[moved[i]];
      now.marks.set(name, { ...now.marks.get(name), x: moved[i + 1], y: moved[i + 2] });
    }
    for (const [name, kind, x, y, width, height, label, title, agent, turn] of frame.m || []) {
      now.marks.set(names[name], { kind, x, y, width, height, label, title, agent, turn });
    }
    for (const name of frame.d || []) now.marks.delete(names[name]);
    if (frame.c !== undefined) now.caption = frame.c;
    if (frame.i !== undefined) now.image = frame.i;
    const held = frame.h || [];
    for (let i = 0; i < held.length; i += 2) now.holdings[held[i]] = held[i + 1];
    const [number, rest] = [Math.floor((now.t - this.first) / EVERY), (now.t - this.first) % EVERY];
    if (rest === 0 && !this.keys[number]) {
      const before = this.keys[number - 1];
      const ground = before && same(before.ground, now.ground) ? before.ground : now.ground.slice();
      this.keys[number] = { ...now, ground, marks: new Map(now.marks), holdings: [...now.holdings] };
    }
  }
}

function unrolled(runs) {
  let cells = 0;
  for (let i = 1; i < runs.length; i += 2) cells += runs[i];
  const ground = new Uint8Array(cells);
  let from = 0;
  for (let i = 0; i < runs.length; i += 2) {
    ground.fill(runs[i], from, from + runs[i + 1]);
    from += runs[i + 1];
  }
  return ground;
}

function same(one, other) {
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
