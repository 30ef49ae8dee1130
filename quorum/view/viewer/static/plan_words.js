/* Plans in words: with the world's phrases for its symbolic actions, or else their names and arguments. */
import { el } from "./dom.js";

const DEEPEST = 6;
const LONGEST = 200000;

/** Return a symbolic action in words; `phrases`: the world's phrases, by name. */
export function actionWords(action, phrases) {
  const name = String(action?.action ?? "?");
  const phrase = Object.hasOwn(phrases, name) ? phrases[name] : "";
  if (!phrase) return plainWords(name, action);
  const parts = phrase.replace(/\[([^\]]*)\]/g, (_, part) => (names(part).some((key) => given(action, key) === null) ? "" : part));
  if (names(parts).some((key) => given(action, key) === null)) return plainWords(name, action); // recorded by another version
  return parts.replace(/\{(\w+)\}( \w+)?(\(s\))?/g, (_, key, noun = "", plural = "") => `${worded(given(action, key))}${noun}${plural && given(action, key) !== 1 ? "s" : ""}`);
}

function names(phrase) {
  return [...phrase.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
}

function given(action, key) {
  return Object.hasOwn(action, key) ? action[key] : null;
}

function worded(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** push_block, {block: 3, steps: 2} -> "push block 3, steps 2" */
function plainWords(name, action) {
  const words = name.replaceAll("_", " ");
  const parts = Object.entries(action || {}).filter(([key, value]) => key !== "action" && value !== null).map(([key, value]) => {
    const text = worded(value);
    return text.startsWith(`${key}_`) ? text : `${key} ${text}`;
  });
  if (parts.length && words.endsWith(` ${parts[0].split(" ")[0]}`)) return [`${words} ${parts[0].split(" ").slice(1).join(" ")}`, ...parts.slice(1)].join(", ");
  return parts.length ? `${words} ${parts.join(", ")}` : words;
}

/** Return a plan in words: its actions in order, and its task. */
export function planWords(plan, phrases) {
  const actions = plan.actions.map((action) => (typeof action === "string" ? action : actionWords(action, phrases)));
  const parts = [];
  for (const words of actions) {
    if (parts.length && parts.at(-1).words === words) parts.at(-1).count++;
    else parts.push({ words, count: 1 });
  }
  return parts.map(({ words, count }) => (count > 1 ? `${words} (${count} times)` : words)).join(", then ") || "nothing";
}

/** Find the plans of several agents in a text that may be JSON, or in a value: `[name, plan]` each. */
export function plansIn(value) {
  if (typeof value === "string") {
    if (value.length > LONGEST || !value.includes('"actions"')) return [];
    try {
      return plansIn(JSON.parse(value));
    } catch {
      return []; // words, or truncated JSON
    }
  }
  const found = [];
  look(value, "", found, 0);
  return found;
}

function look(value, name, found, depth) {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return;
  if (Array.isArray(value.actions)) {
    found.push([name, value]);
    return;
  }
  const own = typeof value.agent === "string" ? value.agent : "";
  for (const [key, part] of Object.entries(value)) look(part, own || (Array.isArray(value) ? name : key), found, depth + 1);
}

/** Return plans of several agents in words, with one line for equal plans, as `{ who, words }`. */
export function jointWords(plans, phrases) {
  const lines = new Map();
  for (const [name, plan] of plans) {
    const words = planWords(plan, phrases);
    if (!lines.has(words)) lines.set(words, []);
    lines.get(words).push(name);
  }
  return [...lines].map(([words, who]) => ({ who: listed(who), words }));
}

/** Make the lines of the plans in a text or a value, as elements, one for all agents with the same plan; null if it contains none. */
export function planLines(value, phrases) {
  const plans = plansIn(value);
  if (!plans.length) return null;
  const lines = jointWords(plans, phrases);
  return el("ul", { class: "plan-words", "aria-label": "in words" }, lines.map(({ who, words }) => el("li", {}, who ? [el("b", {}, el("bdi", {}, who)), ": "] : null, el("bdi", {}, words))));
}

/** a, b, c -> "a, b and c" */
export function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}
