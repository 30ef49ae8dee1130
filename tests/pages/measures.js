/* What the measures of pages ask a page; it runs before the page's own scripts. `measures.py` says what each is for. */
(() => {
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const clip = (text, most = 30) => text.trim().slice(0, most);
  const name = (node) => `${node.tagName.toLowerCase()} "${clip(node.ariaLabel || node.innerText || node.title || "")}"`;
  const every = (selector, holder = document) => [...holder.querySelectorAll(selector)];

  /* Contrast: WCAG 2.2, relative luminance. */
  const channels = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const contrast = (ink, paper) => {
    const [dark, bright] = [light(ink), light(paper)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (node) => {
    for (let here = node; here; here = here.parentElement) {
      const found = channels(getComputedStyle(here).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };

  function beyond() {
    const wide = document.documentElement.clientWidth;
    const scrolls = (node) => node && node !== document.body
      && (/auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
    const wrong = every("body *").filter((node) => {
      const box = node.getBoundingClientRect();
      const out = box.right > wide + 1 || box.left < -1;
      return seen(node) && box.width && box.height && out && !scrolls(node.parentElement) && !node.closest("svg *");
    });
    const problems = wrong.map((node) => {
      const box = node.getBoundingClientRect();
      return `${name(node)} from ${Math.round(box.left)} to ${Math.round(box.right)} of ${wide}`;
    });
    const more = document.documentElement.scrollWidth - wide;
    return more > 0 ? [...problems, `the page is ${more} px wider than its window`] : problems;
  }

  function covered(selector) {
    const holder = document.querySelector(selector);
    const speaks = (node) => /INPUT|SELECT|BUTTON/.test(node.tagName)
      || [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    const parts = every("*", holder).filter((node) => seen(node) && speaks(node)
      && getComputedStyle(node).display !== "contents" && node.getBoundingClientRect().width
      && !node.parentElement.closest("button, select"));
    const wrong = [];
    for (const node of parts) {
      const style = getComputedStyle(node);
      const right = node.getBoundingClientRect().right;
      if (node.scrollWidth > node.clientWidth + 1 && style.overflowX !== "visible" && style.display !== "inline") {
        wrong.push(`${name(node)} is cut: ${node.scrollWidth} px in ${node.clientWidth}`);
      }
      for (let above = node.parentElement; above && above !== holder.parentElement; above = above.parentElement) {
        const cuts = above.scrollWidth > above.clientWidth + 1 && getComputedStyle(above).overflowX === "hidden";
        if (cuts && right > above.getBoundingClientRect().right + 1) wrong.push(`${name(node)} is cut by ${name(above)}`);
      }
    }
    for (const [i, one] of parts.entries()) {
      for (const other of parts.slice(i + 1)) {
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        const apart = !one.contains(other) && !other.contains(one);
        if (apart && wide > 1 && high > 2) wrong.push(`${name(one)} and ${name(other)} overlap`);
      }
    }
    return wrong;
  }

  function drawn() {
    return every("svg text").filter((node) => seen(node) && node.textContent.trim()).map((node) =>
      [clip(node.textContent), contrast(channels(getComputedStyle(node).fill), behind(node.closest("svg")))]);
  }

  function controls() {
    const kinds = "a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=slider], [role=tab]";
    const idle = (node) => node.disabled || node.tabIndex < 0 || node.closest("[inert], dialog:not([open])")
      || (node.type === "radio" && !node.checked);
    const found = every(kinds).filter((node) => seen(node) && !idle(node));
    found.forEach((node, number) => (node.dataset.control = String(number)));
    return found.map(name);
  }

  function mouseAlone() {
    const points = (node) => getComputedStyle(node).cursor === "pointer";
    return every("body *").filter((node) => seen(node) && points(node) && !points(node.parentElement)
      && !node.closest("a[href], button, input, select, summary, label, [tabindex]"))
      .map((node) => `${name(node)} is for the mouse alone`);
  }

  function focused() {
    const node = document.activeElement;
    if (!node || node === document.body) return null;
    const style = getComputedStyle(node);
    const acts = node.matches("button, summary, [role=button]") ? ["Enter", "Space"] : node.matches("a[href]") ? ["Enter"] : [];
    return [node.dataset.control ?? "", style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0, acts];
  }

  /* What a key sets off is heard and stopped, so that the page stays as it is while its controls are tried. */
  let heard = [];
  const hear = (event) => {
    heard.push(event.target.closest("[data-control]")?.dataset.control ?? "");
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const listen = (on) => (on ? addEventListener("click", hear, true) : removeEventListener("click", hear, true));
  const clicks = () => heard.splice(0);

  function unnamed() {
    const label = (node) => (node.getAttribute("aria-label")
      || (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ")).trim();
    const shows = (node) => seen(node) && !node.closest("[aria-hidden=true]");
    const tag = (node) => `${node.tagName.toLowerCase()}${[...node.classList].map((part) => `.${part}`).join("")}`;
    const pictures = every("canvas, svg, img").filter((node) => shows(node) && !node.parentElement.closest("svg")
      && !label(node) && !node.getAttribute("alt") && !node.parentElement.closest("[role=img][aria-label]"));
    const tables = every("table").filter(shows);
    return [
      ...pictures.map((node) => `${tag(node)} in ${tag(node.parentElement)} says nothing to who cannot see it`),
      ...tables.filter((node) => !label(node) && !node.caption?.textContent.trim()).map((node) => `${tag(node)} "${clip(node.innerText)}" has no name`),
      ...tables.filter((node) => !node.querySelector("th")).map((node) => `${tag(node)} "${clip(node.innerText)}" has no headers`),
      ...(document.title.trim() ? [] : ["the page has no title"]),
      ...(every("h1").filter(seen).length === 1 ? [] : ["the page has not one first heading"]),
    ];
  }

  function moving() {
    const running = document.getAnimations().filter((animation) => animation.playState === "running");
    const smooth = every("*").filter((node) => getComputedStyle(node).scrollBehavior === "smooth");
    return [...running.map((animation) => `${name(animation.effect.target)} moves`), ...smooth.map((node) => `${name(node)} scrolls smoothly`)];
  }

  /* Words on canvases leave nothing but pixels, so they are looked at while they are painted. */
  const painted = [];
  const MOST = 4000;
  const over = (top, below) => [0, 1, 2].map((i) => (top[i] * top[3] + below[i] * (255 - top[3])) / 255);
  const colour = (style) => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = style;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const { fillText, strokeText } = CanvasRenderingContext2D.prototype;
  let halo = null;
  CanvasRenderingContext2D.prototype.strokeText = function (text, ...place) {
    halo = { text, style: this.strokeStyle };
    return strokeText.call(this, text, ...place);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    if (painted.length < MOST && String(text).trim() && this.canvas.isConnected) {
      const size = this.measureText(text);
      const middle = new DOMPoint(
        x + (size.actualBoundingBoxRight - size.actualBoundingBoxLeft) / 2,
        y - (size.actualBoundingBoxAscent - size.actualBoundingBoxDescent) / 2,
      );
      const at = this.getTransform().transformPoint(middle);
      const pixel = this.getImageData(Math.round(at.x), Math.round(at.y), 1, 1).data;
      const paper = halo?.text === text ? colour(halo.style) : over(pixel, behind(this.canvas));
      const [r, g, b, a] = colour(this.fillStyle);
      painted.push([clip(String(text)), contrast(over([r, g, b, a * this.globalAlpha], paper), paper)]);
    }
    halo = null;
    return fillText.call(this, text, x, y, ...rest);
  };

  window.measures = { beyond, covered, drawn, painted: () => painted, controls, mouseAlone, focused, listen, clicks, unnamed, moving };
})();
