/* Light and dark: the system's choice, until the user changes it. */
import { button } from "./dom.js";

const KEY = "quorum-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = [];
const colours = new Map();

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** Return a colour of the style sheet, as it is in this theme. */
export function colour(name) {
  if (!colours.has(name)) {
    const { style } = document.documentElement;
    style.outlineColor = `var(--${name})`; // a computed value has no light-dark()
    colours.set(name, getComputedStyle(document.documentElement).outlineColor);
    style.outlineColor = "";
  }
  return colours.get(name);
}

/** Call a function whenever the theme has changed. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** Make the switch between light and dark. */
export function themeSwitch() {
  restore();
  system.addEventListener("change", tell);
  return button("\u25d0", "light or dark", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    keep(document.documentElement.dataset.theme);
    tell();
  });
}

function tell() {
  colours.clear();
  for (const listener of listeners) listener();
}

function restore() {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    /* a page from disk may have no storage: the choice then holds until it is closed */
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* as above */
  }
}
