/* The paths of actions at each instant of a page, from their differences: see `WayFrame` in contract.js. */

const EVERY = 24;

export class WayFilm {
  /** @param {import("./contract.js").Ways} plain */
  constructor({ first, frames }) {
    this.first = first;
    this.frames = frames;
    this.keys = [];
    this.now = { t: first - 1, ways: new Map() };
    for (let done = 0; done < frames.length; done++) this.#forward();
  }

  /** Return the paths at `t`, or the last available ones, by agent. */
  at(t) {
    const wanted = Math.max(this.first, Math.min(t, this.first + this.frames.length - 1));
    if (this.frames.length && (wanted < this.now.t || wanted - this.now.t > EVERY)) {
      const key = this.keys[Math.floor((wanted - this.first) / EVERY)];
      this.now = { t: key.t, ways: new Map(key.ways) };
    }
    while (this.frames.length && this.now.t < wanted) this.#forward();
    return this.now.ways;
  }

  #forward() {
    const { now } = this;
    const frame = this.frames[now.t + 1 - this.first];
    now.t += 1;
    const along = frame.s || [];
    for (let i = 0; i < along.length; i += 3) now.ways.set(along[i], goneOn(now.ways.get(along[i]), along[i + 1], along[i + 2]));
    for (const [agent, points, target] of frame.w || []) {
      if (points.length || target.length) now.ways.set(agent, { points, target });
      else now.ways.delete(agent);
    }
    const [number, rest] = [Math.floor((now.t - this.first) / EVERY), (now.t - this.first) % EVERY];
    if (rest === 0) this.keys[number] ??= { t: now.t, ways: new Map(now.ways) };
  }
}

/** The rest of a path from a later start; its points are its turns. */
function goneOn({ points, target }, x, y) {
  const reached = points[2] === x && points[3] === y;
  return { points: [x, y, ...points.slice(reached ? 4 : 2)], target };
}
