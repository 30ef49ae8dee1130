/* One axis for both clocks: a step of the environment has the width 1, and before it its thinking is unfolded. */

const EACH_THOUGHT = 0.35;
const MOST = 8;

export class Axis {
  /** @param spans of each `t`: cognitive time at its begin and end, thoughts. @param steps environment steps taken. */
  constructor(spans, steps) {
    this.spans = spans;
    this.steps = steps;
    this.starts = new Float64Array(steps + 2);
    this.thinking = new Float64Array(steps + 1);
    for (let t = 0; t <= steps; t++) {
      const [from, to, thoughts] = spans[t] || [0, 0, 0];
      this.thinking[t] = to > from ? Math.min(MOST, 0.6 + EACH_THOUGHT * thoughts) : 0;
      this.starts[t + 1] = this.starts[t] + this.thinking[t] + (t < steps ? 1 : 0.5);
    }
    this.length = this.starts[steps + 1];
  }

  /** Place of an instant. */
  at(t, tHat) {
    if (t > this.steps) return this.length;
    const [from, to] = this.spans[t] || [0, 0];
    const share = to > from ? Math.min(1, Math.max(0, (tHat - from) / (to - from))) : 0;
    return this.starts[t] + share * this.thinking[t];
  }

  /** Where the environment's step from `t` begins. */
  step(t) {
    return t > this.steps ? this.length : this.starts[t] + this.thinking[t];
  }

  /** The `t` of a place. */
  t(x) {
    let low = 0;
    let high = this.steps;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= x) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
