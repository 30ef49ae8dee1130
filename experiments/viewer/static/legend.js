/* What the colours, textures and shapes mean. */
import { el, fitted } from "./dom.js";
import { paintGround, paintMark, texture } from "./kinds.js";
import { STAGES } from "./model.js";
import { colour } from "./theme.js";

const SIZE = 15;

/** Make the legend of a world, of the kinds that occur on the page. */
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

/** Make the legend of the lanes. */
export function lanesLegend() {
  const items = Object.values(STAGES).map((stage) => entry(stage.name, (c) => {
    const y = stage.full ? 2 : SIZE / 2 - 2;
    c.fillStyle = colour(stage.colour);
    c.fillRect(0, y, SIZE, SIZE - 2 * y);
    if (stage.texture !== "plain") {
      c.fillStyle = texture(c, stage.texture, "rgba(255,255,255,.5)");
      c.fillRect(0, y, SIZE, SIZE - 2 * y);
    }
  }));
  const words = [["success", "ok", "plain"], ["failed", "bad", "crosses"], ["timed out", "warn-mark", "stripes"]];
  items.push(...words.map(([name, base, pattern]) => entry(name, (c) => {
    c.fillStyle = colour(base);
    c.fillRect(0, 3, SIZE, SIZE - 6);
    if (pattern !== "plain") {
      c.fillStyle = texture(c, pattern, "rgba(255,255,255,.5)");
      c.fillRect(0, 3, SIZE, SIZE - 6);
    }
  })));
  items.push(...["spatial", "temporal", "participation", "dependency"].map((name, k) => entry(name, (c) => {
    c.fillStyle = colour(`met-${k}`);
    c.fillRect(0, 2 + k * 3, SIZE, 3);
  })));
  return el("div", { class: "legend", "aria-label": "legend of the lanes" }, items);
}

function entry(name, paint) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const c = fitted(canvas, SIZE, SIZE);
  c.textAlign = "center";
  c.textBaseline = "middle";
  paint(c);
  return el("span", {}, canvas, name);
}
