/* Untrusted text: shown as text, without characters that hide or reverse the rest. */

const PICTURES = 0x2400;
const TURNS = /[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f]/g;

/** Return a text with control characters as pictures, and characters that reverse or hide text as numbers. */
export function visible(text) {
  return String(text)
    .replace(/\r\n/g, "\n")
    .replace(CONTROLS, (c) => String.fromCharCode(PICTURES + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f]/g, (c) => `\u27e8${hex(c)}\u27e9`)
    .replace(TURNS, (c) => `\u27e8${hex(c)}\u27e9`);
}

function hex(c) {
  return `U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Return the start of a text in one line. */
export function short(text, length = 90) {
  const start = visible(String(text).slice(0, 4 * length)).replace(/\s+/g, " ").trim();
  return start.length > length ? `${start.slice(0, length - 1)}\u2026` : start;
}

/** Return a name in one line, without its middle if it is long: names of runs differ at their ends. */
export function ends(text, length = 60) {
  const whole = visible(text).replace(/\s+/g, " ").trim();
  return whole.length > length ? `${whole.slice(0, Math.ceil(length / 2) - 1)}\u2026${whole.slice(-Math.floor(length / 2))}` : whole;
}

/** Return a number in readable form. */
export function shown(value) {
  if (value === null || value === undefined || value === "") return "\u2013";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 100 ? value.toFixed(1) : Number(value.toPrecision(3)).toString();
}

/** Whether an episode reached its end: the world was over, or a method gave up. */
export function ended(outcome) {
  return ["success", "failure", "ended", "truncated"].includes(outcome);
}

/** Return a symbolic action as a call. */
export function asCall(action) {
  const values = Object.entries(action || {}).filter(([name, value]) => name !== "action" && value !== null);
  const inside = values.map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  return `${action?.action ?? "?"}(${inside.join(", ")})`;
}
