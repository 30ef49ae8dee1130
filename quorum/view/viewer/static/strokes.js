/* Drawing primitives of the lanes: textured bars, text on them, crosses, arrows. */
import { texture } from "./kinds.js";
import { short } from "./text.js";
import { colour } from "./theme.js";

const LETTER = 6.2;

/** Fill a bar in a colour, and over it a texture. */
export function block(c, x, y, width, height, base, pattern) {
  c.fillStyle = base;
  c.fillRect(x, y, width, height);
  if (pattern !== "plain" && width > 3) {
    c.fillStyle = texture(c, pattern, "rgba(255,255,255,.5)");
    c.fillRect(x, y, width, height);
  }
}

/** Fill a bar with round ends. */
export function pill(c, x, y, width, height, base, pattern) {
  const radius = Math.min(4, width / 2, height / 2);
  for (const ink of [base, pattern !== "plain" && width > 3 ? texture(c, pattern, "rgba(255,255,255,.5)") : null]) {
    if (!ink) continue;
    c.fillStyle = ink;
    c.beginPath();
    c.roundRect(x, y, width, height, radius);
    c.fill();
  }
}

/** Write as much of a text on a bar as fits. */
export function tag(c, text, x, y, width) {
  c.font = "600 10.5px system-ui, sans-serif";
  c.textAlign = "left";
  const words = short(text).slice(0, Math.floor(width / LETTER));
  c.lineWidth = 2.5;
  c.strokeStyle = "rgba(0,0,0,.55)";
  c.strokeText(words, x, y);
  c.fillStyle = "#ffffff";
  c.fillText(words, x, y);
}

/** Cross out a point. */
export function cross(c, x, y, size) {
  c.strokeStyle = colour("bad");
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x - size, y - size);
  c.lineTo(x + size, y + size);
  c.moveTo(x - size, y + size);
  c.lineTo(x + size, y - size);
  c.stroke();
}

/** Draw an arrow. */
export function arrow(c, x0, y0, x1, y1) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 6 * Math.cos(angle - 0.4), y1 - 6 * Math.sin(angle - 0.4));
  c.lineTo(x1 - 6 * Math.cos(angle + 0.4), y1 - 6 * Math.sin(angle + 0.4));
  c.fill();
}
