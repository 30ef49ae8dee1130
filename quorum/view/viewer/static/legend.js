/* The meaning of colours, textures and shapes. */
import { el, fitted } from "./dom.js";
import { PATTERNS, REACTIONS, drawReaction, mark, reactionsOf } from "./findings.js";
import { paintGround, paintMark } from "./kinds.js";
import { CONSTRAINTS, OUTCOMES, STAGES, UNDER_WAY } from "./looks.js";
import { block, pill } from "./strokes.js";
import { colour } from "./theme.js";

const SIZE = 15;
let unfolded = false;

/** Make the legend of a world, for the kinds that occur on the page. */
export function boardLegend(film) {
  const { kinds } = film.canvas;
  const grounds = new Set(film.at(film.first).ground);
  const marked = new Set(film.frames.flatMap((frame) => (frame.m || []).map((mark) => mark[1])));
  for (const frame of film.frames) for (let i = 1; i < (frame.g || []).length; i += 2) grounds.add(frame.g[i]);
  const items = kinds.flatMap((kind, index) => {
    if (!grounds.has(index) && !marked.has(index)) return [];
    const paint = (c) => {
      if (grounds.has(index)) paintGround(c, kind, 0, 0, SIZE);
      else paintMark(c, kind, { label: "", turn: "right" }, 1, 1, SIZE - 2, SIZE - 2);
    };
    return [entry(kind.name, paint)];
  });
  return el("div", { class: "legend", "aria-label": "legend of the world" }, items);
}

/** Make the legend of the lanes, of the signs that occur: one line until it is unfolded. Items that differ by colour form a group. @param {import("./model.js").Model} model */
export function lanesLegend({ stages, actionsOf, messages, findings, plain }) {
  const ends = new Set(actionsOf.flat().map(({ status }) => OUTCOMES[status] || UNDER_WAY));
  const reactions = new Set(messages.flatMap((message) => [...reactionsOf(message).values()]));
  const groups = [
    ["stage", Object.entries(STAGES).filter(([code]) => stages.some(({ codes }) => codes.includes(code))).map(([, stage]) => entry(stage.name, (c) => {
      const y = stage.full ? 2 : SIZE / 2 - 2;
      block(c, 0, y, SIZE, SIZE - 2 * y, colour(stage.colour), stage.texture);
    }))],
    ["outcome", [...Object.values(OUTCOMES), UNDER_WAY].filter((look) => ends.has(look)).map((look) => entry(look.name, (c) => pill(c, 0, 2, SIZE, SIZE - 4, colour(look.colour), look.texture)))],
    ["constraint", (plain.tasks.length ? CONSTRAINTS : []).map(({ name, place, colour: own }) => entry(name, (c) => {
      for (let other = 0; other < CONSTRAINTS.length; other++) {
        c.fillStyle = colour(other === place ? own : "unmet");
        c.fillRect(0, 1 + other * 3.5, SIZE, other === place ? 3.5 : 1);
      }
    }))],
    ["reaction", REACTIONS.filter((name) => reactions.has(name)).map((name) => entry(name, (c) => drawReaction(c, name, SIZE / 2, SIZE / 2)))],
    ["interaction", Object.entries(PATTERNS).filter(([name]) => findings.some(({ pattern }) => pattern === name)).map(([name, [letter]]) => entry(name.replaceAll("_", " "), (c) => {
      c.font = "600 11px system-ui, sans-serif";
      mark(c, letter, SIZE / 2, SIZE / 2);
    }))],
  ].filter(([, items]) => items.length);
  const keep = ({ currentTarget }) => {
    unfolded = !currentTarget.parentElement.open; // before the redraw that the new height causes
  };
  return el("details", { class: "legend", open: unfolded, "aria-label": "legend of the lanes" }, el("summary", { title: "show all signs, or one line of them", onclick: keep }, groups.map(([name, items]) => el("span", { class: "legend-group" }, el("b", {}, name), items))));
}

function entry(name, paint) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const c = fitted(canvas, SIZE, SIZE);
  c.textAlign = "center";
  c.textBaseline = "middle";
  paint(c);
  return el("span", {}, canvas, name);
}
