/* Elements, made with their text as text: nothing on the page is ever parsed as HTML. */
import { visible } from "./text.js";

/** Make an element; `properties` are set on it, `class`, `title` and names with a dash as attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "title") element.title = visible(value);
    else if (name === "class" || name === "for" || name === "role" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  fill(element, children);
  return element;
}

/** Replace the children of an element. */
export function fill(element, children) {
  const nodes = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : visible(child))));
}

/** Set an element's text only if it differs, because setting it again costs a layout. */
export function say(element, text) {
  const wanted = visible(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** Make a button. */
export function button(label, title, onclick, properties = {}) {
  return el("button", { type: "button", title, "aria-label": title, onclick, ...properties }, label);
}

/** Give a canvas a size in CSS pixels; return its context in CSS pixels. */
export function fitted(canvas, width, height) {
  const [styleWidth, styleHeight] = [`${width}px`, `${height}px`];
  if (canvas.style.width !== styleWidth) canvas.style.width = styleWidth;
  if (canvas.style.height !== styleHeight) canvas.style.height = styleHeight;
  return sharp(canvas, width, height);
}

/** The same for a canvas that fills its box: resize it to the box before redrawing. */
export function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
