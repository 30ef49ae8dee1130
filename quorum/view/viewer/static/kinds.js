/* The look of kinds: a colour, and always also a shape, a texture or a sign. */
import { isDark } from "./theme.js";

const TILE = 8;
const THIN = 4;
const tiles = new Map();

/** Return a pattern of strokes in a colour. */
export function texture(context, name, ink) {
  const key = `${name} ${ink}`;
  if (!tiles.has(key)) tiles.set(key, tile(name, ink));
  return context.createPattern(tiles.get(key), "repeat");
}

function tile(name, ink) {
  const canvas = document.createElement("canvas");
  canvas.width = TILE;
  canvas.height = TILE;
  const c = canvas.getContext("2d");
  c.strokeStyle = ink;
  c.fillStyle = ink;
  c.lineWidth = 1.2;
  c.beginPath();
  if (name === "dots") {
    c.fillRect(1, 1, 1.7, 1.7);
    c.fillRect(5, 5, 1.7, 1.7);
  } else if (name === "stripes") {
    for (const d of [-TILE, 0, TILE]) line(c, d - 1, TILE + 1, d + TILE + 1, -1);
  } else if (name === "crosses") {
    line(c, 0, TILE, TILE, 0);
    line(c, 0, 0, TILE, TILE);
  } else if (name === "waves") {
    c.moveTo(0, 4);
    c.quadraticCurveTo(2, 1, 4, 4);
    c.quadraticCurveTo(6, 7, 8, 4);
  } else if (name === "bricks") {
    line(c, 0, 0.5, TILE, 0.5);
    line(c, 0, 4.5, TILE, 4.5);
    line(c, 2.5, 0.5, 2.5, 4.5);
    line(c, 6.5, 4.5, 6.5, TILE);
  }
  c.stroke();
  return canvas;
}

function line(c, x0, y0, x1, y1) {
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
}

/** Return the colour of a kind. */
export function hue(kind) {
  const found = isDark() ? kind.dark : kind.light;
  return /^#[0-9a-fA-F]{6}$/.test(found) ? found : "#888888";
}

/** Return black or white, whichever is readable on a colour. */
export function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (light + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";
}

function linear(value) {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Fill a cell of the ground. */
export function paintGround(c, kind, x, y, size) {
  const base = hue(kind);
  c.fillStyle = base;
  c.fillRect(x, y, size + 0.5, size + 0.5);
  const faint = inkOn(base) === "#ffffff" ? "rgba(255,255,255,.2)" : "rgba(0,0,0,.16)";
  if (kind.texture !== "plain") {
    c.fillStyle = texture(c, kind.texture, faint);
    c.fillRect(x, y, size + 0.5, size + 0.5);
  }
  if (kind.sign && size >= 9) {
    c.fillStyle = inkOn(base);
    c.font = `600 ${Math.round(size * 0.62)}px system-ui, sans-serif`;
    c.fillText(kind.sign, x + size / 2, y + size / 2 + size * 0.03);
  } else if (kind.sign && size >= 4) {
    c.fillStyle = inkOn(base);
    c.fillRect(x + size * 0.35, y + size * 0.35, size * 0.3, size * 0.3);
  }
}

/** Draw a mark in its rectangle. */
export function paintMark(c, kind, mark, x, y, width, height) {
  const base = hue(kind);
  const edge = isDark() ? "rgba(255,255,255,.75)" : "rgba(0,0,0,.7)";
  c.beginPath();
  outline(c, kind.shape, mark.turn, x, y, width, height);
  c.lineWidth = Math.max(0.75, Math.min(1.5, width / 16));
  if (kind.shape === "ring") {
    c.lineWidth = Math.max(1.5, width / 7);
    c.strokeStyle = base;
    c.stroke();
    if (kind.texture !== "plain") {
      c.fillStyle = texture(c, kind.texture, base);
      c.fill();
    }
  } else {
    c.fillStyle = base;
    c.fill();
    if (kind.texture !== "plain") {
      c.fillStyle = texture(c, kind.texture, inkOn(base) === "#ffffff" ? "rgba(255,255,255,.55)" : "rgba(0,0,0,.45)");
      c.fill();
    }
    if (Math.min(width, height) >= THIN) {
      c.strokeStyle = edge;
      c.stroke();
    }
  }
  label(c, kind, mark, base, x, y, width, height);
}

function outline(c, shape, turn, x, y, w, h) {
  const inset = Math.min(1, w / 12);
  if (shape === "disc") {
    c.ellipse(x + w / 2, y + h / 2, Math.max(0.5, w / 2 - inset), Math.max(0.5, h / 2 - inset), 0, 0, 2 * Math.PI);
  } else if (shape === "diamond") {
    polygon(c, x, y, w, h, [[0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5]]);
  } else if (shape === "wedge") {
    const points = { right: [[0, 0], [1, 0.5], [0, 1]], left: [[1, 0], [0, 0.5], [1, 1]], down: [[0, 0], [1, 0], [0.5, 1]] };
    polygon(c, x, y, w, h, points[turn] || [[0, 1], [0.5, 0], [1, 1]]);
  } else if (shape === "ring") {
    const thick = Math.max(1.5, w / 7) / 2;
    c.rect(x + thick, y + thick, w - 2 * thick, h - 2 * thick);
  } else {
    c.rect(x + inset, y + inset, Math.max(0.5, w - 2 * inset), Math.max(0.5, h - 2 * inset));
  }
}

function polygon(c, x, y, w, h, points) {
  points.forEach(([px, py], i) => (i ? c.lineTo(x + px * w, y + py * h) : c.moveTo(x + px * w, y + py * h)));
  c.closePath();
}

function label(c, kind, mark, base, x, y, width, height) {
  if (!mark.label) return;
  const size = Math.min(height * 0.62, (width * 1.25) / Math.max(1.6, mark.label.length), 26);
  if (size < 6.5) return;
  c.font = `600 ${size}px system-ui, sans-serif`;
  const ink = kind.shape === "ring" ? (isDark() ? "#ffffff" : "#111114") : inkOn(base);
  if (kind.texture !== "plain") {
    c.lineWidth = 3;
    c.strokeStyle = kind.shape === "ring" ? (isDark() ? "#111114" : "#ffffff") : base;
    c.strokeText(mark.label, x + width / 2, y + height / 2 + size * 0.04);
  }
  c.fillStyle = ink;
  c.fillText(mark.label, x + width / 2, y + height / 2 + size * 0.04);
}
