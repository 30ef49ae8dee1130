/* Plans in words, as elements: one line for all agents with the same plan. */
import { el } from "./dom.js";
import { jointWords, plansIn } from "./plan_words.js";

/** Make the lines of the plans in a text or a value; null if it contains none. */
export function planLines(value, phrases) {
  const plans = plansIn(value);
  if (!plans.length) return null;
  const lines = jointWords(plans, phrases);
  return el("ul", { class: "plan-words", "aria-label": "in words" }, lines.map(({ who, words }) => el("li", {}, who ? [el("b", {}, el("bdi", {}, who)), ": "] : null, el("bdi", {}, words))));
}
