/* What a page shows at each instant, from the differences between instants: its pictures, and the paths of its actions. */

const EVERY = 24;

/** The states of a page, of which some are kept, so that going back is cheap. A subclass applies differences and copies states. */
class Reel {
  /** @param first the step of the first frame. @param frames the differences, one for each step. @param state what is known before the first. */
  constructor(first, frames, state) {
    this.first = first;
    this.last = first + frames.length - 1;
    this.frames = frames;
    this.keys = [];
    this.now = { ...state, t: first - 1 };
  }

  /** Return the state at `t`, or the last available one. */
  at(t) {
    const wanted = Math.min(this.last, Math.max(this.first, t));
    const key = this.keys[Math.floor((wanted - this.first) / EVERY)];
    if (key && (wanted < this.now.t || wanted - this.now.t > EVERY)) this.now = this.copy(key);
    while (this.now.t < wanted) this.#forward();
    return this.now;
  }

  #forward() {
    this.now.t += 1;
    const number = this.now.t - this.first;
    this.apply(this.frames[number], this.now);
    if (number % EVERY === 0) this.keys[number / EVERY] ??= this.copy(this.now);
  }
}

/** The pictures: see `Frame` in contract.js. A state has `ground`, `marks` by name, `caption`, `holdings`, and `image`. */
export class Film extends Reel {
  /** @param {import("./contract.js").Pictures} plain */
  constructor(plain) {
    super(plain.first, plain.frames, { ground: unrolled(plain.ground), marks: new Map(), caption: "", holdings: [], image: null });
    this.canvas = plain.canvas;
    this.names = plain.names;
    this.tellsWays = plain.ways;
  }

  apply(frame, now) {
    const { names } = this;
    const cells = frame.g || [];
    if (cells.length) now.ground = now.ground.slice(); // states share what does not change
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
  }

  copy(state) {
    return { ...state, marks: new Map(state.marks), holdings: [...state.holdings] };
  }
}

/** The paths of running actions: see `WayFrame` in contract.js. */
export class WayFilm extends Reel {
  /** @param {import("./contract.js").Ways} plain */
  constructor({ first, frames }) {
    super(first, frames, { ways: new Map() });
  }

  /** Return the paths at `t`, or the last available ones, by agent. */
  at(t) {
    return super.at(t).ways;
  }

  apply(frame, { ways }) {
    const along = frame.s || [];
    for (let i = 0; i < along.length; i += 3) ways.set(along[i], goneOn(ways.get(along[i]), along[i + 1], along[i + 2]));
    for (const [agent, points, target] of frame.w || []) {
      if (points.length || target.length) ways.set(agent, { points, target });
      else ways.delete(agent);
    }
  }

  copy(state) {
    return { ...state, ways: new Map(state.ways) };
  }
}

/** The rest of a path from a later start; its points are its turns. */
function goneOn({ points, target }, x, y) {
  const reached = points[2] === x && points[3] === y;
  return { points: [x, y, ...points.slice(reached ? 4 : 2)], target };
}

function unrolled(runs) {
  const pairs = Array.from({ length: runs.length / 2 }, (_, i) => runs.slice(2 * i, 2 * i + 2));
  return Uint8Array.from(pairs.flatMap(([kind, cells]) => new Array(cells).fill(kind)));
}
