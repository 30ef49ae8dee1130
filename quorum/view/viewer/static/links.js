/* Links to instants, and the proofs of a statement, each with its instant. */
import { button, el } from "./dom.js";
import { shown } from "./text.js";

/** Make the link to an instant. @param seek called with `t`. @param {number|null} [tHat] its cognitive time, if that is known */
export function instantLink(seek, t, tHat = null) {
  return button(`t = ${t}${tHat === null ? "" : `, t^ = ${shown(tHat)}`}`, "go to this instant", () => seek(t), { class: "link" });
}

/** List proofs. @param {import("./contract.js").Proof[]} proofs */
export function proofList(proofs, seek) {
  return el("ul", { "aria-label": "what proves it" }, proofs.map(({ t, words }) => el("li", {}, instantLink(seek, t), " ", el("bdi", {}, words))));
}
