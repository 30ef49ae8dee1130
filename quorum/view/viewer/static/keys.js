/* The keys of a page, and the box that explains them. */
import { button, el } from "./dom.js";

/** Descriptions of the keys for time. */
export const TIME_KEYS = [
  ["space", "play or pause"], ["\u2190 \u2192", "one step back or forward"], ["shift + \u2190 \u2192", "ten steps"],
  ["home, end", "the beginning, the end"], ["n, N", "next, previous failure or interruption"],
];

/** Handle the keys. @param {import("./player.js").Player} player @param {Object<string, () => void>} more handlers of other keys. */
export function listen(player, more) {
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input[type=search], select, dialog *") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button, summary")) return; // the key presses the focused element
    const ten = event.shiftKey ? 10 : 1;
    const ways = {
      " ": () => player.toggle(),
      ArrowLeft: () => player.step(-ten),
      ArrowRight: () => player.step(ten),
      Home: () => player.step(-Infinity),
      End: () => player.step(Infinity),
      n: () => player.toBreak(1),
      N: () => player.toBreak(-1),
      ...more,
    };
    if (event.key in ways) {
      event.preventDefault();
      ways[event.key]();
    }
  });
}

/** The keys that zoom the time axis. @param {import("./lanes.js").Lanes[]} lanes */
export function zoomKeys(lanes) {
  const zoom = (factor) => () => lanes.forEach((own) => own.zoom(factor));
  return { "+": zoom(1.6), "=": zoom(1.6), "-": zoom(1 / 1.6), 0: () => lanes.forEach((own) => own.fit()) };
}

/** Make the box that explains the keys. @param {[string, string][]} keys */
export function keysBox(keys) {
  const box = el("dialog", { class: "help" }, el("h2", {}, "Keys"), el("dl", {}, keys.map(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])), button("close", "close", () => box.close()));
  return box;
}
