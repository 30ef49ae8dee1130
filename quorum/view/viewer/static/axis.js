/* One axis for both clocks: each environment step has the width 1, and the thinking before it is unfolded in front of it. */
import { lastUpTo } from "./order.js";

const EACH_THOUGHT = 0.35;
const MOST = 8;

export class Axis {
  /**
   * @param first the first `t`.
   * @param spans of each `t` from the first on: cognitive time at its start and end, number of thoughts.
   * @param steps environment steps taken from the first on.
   */
  constructor(first, spans, steps) {
    this.first = first;
    this.last = first + steps;
    this.spans = spans;
    this.starts = new Float64Array(steps + 2);
    this.thinking = new Float64Array(steps + 1);
    for (let i = 0; i <= steps; i++) {
      const [from, to, thoughts] = spans[i] || [0, 0, 0];
      this.thinking[i] = to > from ? Math.min(MOST, 0.6 + EACH_THOUGHT * thoughts) : 0;
      this.starts[i + 1] = this.starts[i] + this.thinking[i] + (i < steps ? 1 : 0.5);
    }
    this.length = this.starts[steps + 1];
  }

  /** Position at which `t` starts, with the thinking before its step. */
  begin(t) {
    return t < this.first ? 0 : t > this.last ? this.length : this.starts[t - this.first];
  }

  /** Width of the thinking before the step from `t`. */
  unfolded(t) {
    return this.thinking[t - this.first];
  }

  /** Position of an instant. */
  at(t, tHat) {
    if (t < this.first || t > this.last) return this.begin(t);
    const [from, to] = this.spans[t - this.first] || [0, 0];
    const share = to > from ? Math.min(1, Math.max(0, (tHat - from) / (to - from))) : 0;
    return this.begin(t) + share * this.unfolded(t);
  }

  /** Position at which the environment's step from `t` starts. */
  step(t) {
    return t < this.first || t > this.last ? this.begin(t) : this.begin(t) + this.unfolded(t);
  }

  /** The `t` of a position. */
  t(x) {
    return this.first + Math.max(0, lastUpTo(this.starts.subarray(0, -1), x));
  }
}
