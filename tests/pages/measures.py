"""What is measured of every page: whether it can be read, reached and operated, by whoever looks at it.

Each measure returns what is wrong, in words, so that a test says `assert measure(page) == []`. That each can fail is
held by `test_measures.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = ("serious", "critical")
"""Impacts of axe-core's findings that no page may have."""

AA = 4.5
"""Least contrast of text, WCAG 2.2, 1.4.3."""

_BEYOND = """
() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = node => node && (/auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowX) && node !== document.body
    || scrolls(node.parentElement));
  return [...document.querySelectorAll("body *")].filter(node => {
    const box = node.getBoundingClientRect();
    const hidden = !node.checkVisibility({visibilityProperty: true}) || !box.width || !box.height;
    return !hidden && (box.right > wide + 1 || box.left < -1) && !scrolls(node.parentElement) && !node.closest("svg *");
  }).map(node => {
    const box = node.getBoundingClientRect();
    const name = `${node.tagName.toLowerCase()}.${String(node.className.baseVal ?? node.className)}`;
    return `${name} from ${Math.round(box.left)} to ${Math.round(box.right)} of ${wide}`;
  });
}
"""

_COVERED = """
selector => {
  const holder = document.querySelector(selector);
  const parts = [...holder.querySelectorAll("*")].filter(node => node.checkVisibility({visibilityProperty: true})
    && getComputedStyle(node).display !== "contents" && node.getBoundingClientRect().width
    && ([...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()) || /INPUT|SELECT|BUTTON/.test(node.tagName))
    && !node.parentElement.closest("button, select"));
  const name = node => `${node.tagName.toLowerCase()} "${(node.innerText || node.ariaLabel || "").trim().slice(0, 30)}"`;
  const wrong = [];
  for (const node of parts) {
    const style = getComputedStyle(node);
    if (node.scrollWidth > node.clientWidth + 1 && style.overflowX !== "visible" && style.display !== "inline")
      wrong.push(`${name(node)} is cut: ${node.scrollWidth} px in ${node.clientWidth}`);
    for (let above = node.parentElement; above && above !== holder.parentElement; above = above.parentElement)
      if (above.scrollWidth > above.clientWidth + 1 && getComputedStyle(above).overflowX === "hidden"
          && node.getBoundingClientRect().right > above.getBoundingClientRect().right + 1)
        wrong.push(`${name(node)} is cut by ${name(above)}`);
  }
  for (const [i, one] of parts.entries()) for (const other of parts.slice(i + 1)) {
    if (one.contains(other) || other.contains(one)) continue;
    const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
      wrong.push(`${name(one)} and ${name(other)} overlap`);
  }
  return wrong;
}
"""

_FAINT = """
() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const linear = value => (value /= 255) <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  const lightness = rgb => rgb.slice(0, 3).map(linear).reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    for (let here = node; here; here = here.parentElement) {
      const found = channels(getComputedStyle(here).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("svg text")].filter(node => node.checkVisibility() && node.textContent.trim())
    .flatMap(node => {
      const ink = channels(getComputedStyle(node).fill), paper = behind(node.closest("svg"));
      const [dark, light] = [lightness(ink), lightness(paper)].sort((a, b) => a - b);
      const contrast = (light + .05) / (dark + .05);
      return contrast < 4.5 ? [`"${node.textContent.trim().slice(0, 30)}" has a contrast of ${contrast.toFixed(2)}`] : [];
    });
}
"""

WATCH_CANVAS = """
(() => {
  const channels = text => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = text;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const linear = value => (value /= 255) <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  const lightness = rgb => rgb.slice(0, 3).map(linear).reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    for (let here = node; here; here = here.parentElement) {
      const found = (getComputedStyle(here).backgroundColor.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] / 255 + below[i] * (1 - top[3] / 255));
  const words = window.wordsOnCanvas = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  const halo = CanvasRenderingContext2D.prototype.strokeText;
  let haloed = null;
  CanvasRenderingContext2D.prototype.strokeText = function (text, ...place) {
    haloed = { text, colour: this.strokeStyle };
    return halo.call(this, text, ...place);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    if (words.length < 4000 && String(text).trim() && this.canvas.isConnected) {
      const wide = this.measureText(text);
      const at = this.getTransform().transformPoint(
        new DOMPoint(x + (wide.actualBoundingBoxRight - wide.actualBoundingBoxLeft) / 2, y - (wide.actualBoundingBoxAscent - wide.actualBoundingBoxDescent) / 2));
      const below = this.getImageData(Math.round(at.x), Math.round(at.y), 1, 1).data;
      const paper = haloed && haloed.text === text ? channels(haloed.colour) : over(below, behind(this.canvas));
      const ink = over(channels(this.fillStyle).map((value, i) => i === 3 ? value * this.globalAlpha : value), paper);
      const [dark, light] = [lightness(ink), lightness(paper)].sort((a, b) => a - b);
      words.push([String(text).slice(0, 30), (light + .05) / (dark + .05)]);
    }
    haloed = null;
    return write.call(this, text, x, y, ...rest);
  };
})();
"""
"""A script for the beginning of a page: it keeps the contrast of every word that is painted on a canvas."""

_CONTROLS = """
() => {
  const wanted = "a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=slider], [role=tab]";
  let number = 0;
  return [...document.querySelectorAll(wanted)].filter(node => node.checkVisibility({visibilityProperty: true})
      && !node.disabled && node.tabIndex >= 0 && !node.closest("[inert], dialog:not([open])")
      && !(node.type === "radio" && !node.checked)
      && !(node.getAttribute("role") === "tab" && node.getAttribute("aria-selected") === "false"))
    .map(node => {
      node.dataset.control = String(number++);
      return `${node.tagName.toLowerCase()} "${(node.ariaLabel || node.innerText || node.title || node.name || "").trim().slice(0, 40)}"`;
    });
}
"""

_CLICKED = """
() => [...document.querySelectorAll("body *")].filter(node => node.checkVisibility({visibilityProperty: true})
    && getComputedStyle(node).cursor === "pointer" && getComputedStyle(node.parentElement).cursor !== "pointer"
    && !node.closest("a[href], button, input, select, summary, label, [tabindex]"))
  .map(node => `${node.tagName.toLowerCase()}.${node.className} is for the mouse alone`)
"""

_FOCUSED = """
() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const style = getComputedStyle(node);
  return [node.dataset.control ?? "", style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
}
"""


def axe(page: Page) -> list[str]:
    """Return what axe-core finds that is serious or critical: names, roles, contrast of text (WCAG 2.2 A and AA)."""
    from axe_playwright_python.sync_playwright import Axe

    found: dict[str, Any] = Axe().run(page).response
    return [
        f"{finding['id']} ({finding['impact']}): {finding['help']}: {node['html'][:160]}"
        for finding in found["violations"]
        if finding["impact"] in GRAVE
        for node in finding["nodes"]
    ]


def beyond_the_width(page: Page) -> list[str]:
    """Return the elements that stand beyond the window's width, but for those in a part that scrolls by itself."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    found: list[str] = page.evaluate(_BEYOND)
    return found + ([f"the page is {width} px wider than its window"] if width > 0 else [])


def covered_or_cut(page: Page, selector: str) -> list[str]:
    """Return the words and controls of a part that overlap each other, or are cut off."""
    found: list[str] = page.evaluate(_COVERED, selector)
    return found


def faint_drawings(page: Page) -> list[str]:
    """Return the words in drawings whose contrast is less than WCAG AA's 4.5 (axe-core looks at no SVG text)."""
    found: list[str] = page.evaluate(_FAINT)
    return found


def faint_paintings(page: Page) -> list[str]:
    """Return the words painted on canvases whose contrast is less than 4.5; `WATCH_CANVAS` must have run."""
    words: list[tuple[str, float]] = page.evaluate("window.wordsOnCanvas")
    return sorted({f'"{text}" has a contrast of {contrast:.2f}' for text, contrast in words if contrast < AA})


def out_of_reach(page: Page, most: int = 400) -> list[str]:
    """Return the controls that Tab does not come to, those that do not show it, and those for the mouse alone.

    Args:
        page: the page.
        most: presses of the key.
    """
    names: list[str] = page.evaluate(_CONTROLS)
    wrong: list[str] = page.evaluate(_CLICKED)
    page.evaluate("document.activeElement && document.activeElement.blur()")
    missing = set(range(len(names)))
    for _ in range(min(most, len(names) + 20)):
        page.keyboard.press("Tab")
        focused = page.evaluate(_FOCUSED)
        if focused is None:
            continue
        control, shown = focused
        if control:
            missing.discard(int(control))
            if not shown:
                wrong.append(f"{names[int(control)]} does not show that it has the focus")
        if not missing:
            break
    return wrong + [f"{names[number]} is not reached by Tab" for number in sorted(missing)]
