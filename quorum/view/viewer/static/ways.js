/* Paths of plans: the rest of a running action's path, and a ring around its target. */
import { colour } from "./theme.js";

const GAP = 3;

/** Draw paths, below the marks. @param ways `[way, hue, chosen]` */
export function paintPaths(c, ways, { left, top, size }) {
  for (const [{ points }, hue, chosen] of ways) {
    if (points.length < 4) continue;
    c.beginPath();
    for (let i = 0; i < points.length; i += 2) c.lineTo(left + points[i] * size, top + points[i + 1] * size);
    twice(c, hue, width(size, chosen));
    const [x, y] = points.slice(-2);
    c.beginPath();
    c.arc(left + x * size, top + y * size, width(size, chosen) + 1, 0, 2 * Math.PI);
    c.fillStyle = hue;
    c.fill();
  }
}

/** Draw rings around targets, above the targets. */
export function paintTargets(c, ways, { left, top, size }) {
  c.setLineDash([5, 3]);
  for (const [{ target }, hue, chosen] of ways) {
    if (!target.length) continue;
    const [x, y, w, h] = target;
    const gap = chosen ? GAP : GAP - 2;
    c.beginPath();
    c.roundRect(left + x * size - gap, top + y * size - gap, w * size + 2 * gap, h * size + 2 * gap, Math.min(8, size / 3) + gap);
    twice(c, hue, chosen ? 2.5 : 1.5);
  }
  c.setLineDash([]);
}

function width(size, chosen) {
  return Math.max(1.5, Math.min(5, size / 9)) * (chosen ? 1 : 0.6);
}

/** Stroke in a colour over a wider line in the board's colour, so that it is visible on any ground. */
function twice(c, hue, wide) {
  const dash = c.getLineDash();
  c.lineJoin = "round";
  c.lineCap = "round";
  c.setLineDash([]);
  c.lineWidth = wide + 2.5;
  c.strokeStyle = colour("board");
  c.stroke();
  c.setLineDash(dash);
  c.lineCap = "butt";
  c.lineWidth = wide;
  c.strokeStyle = hue;
  c.stroke();
}
