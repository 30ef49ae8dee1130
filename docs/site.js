/* What the theme leaves without a name, or out of reach of the keyboard. It adds some of this after the page has loaded. */
const NAMES = {
  ".md-search": (search) => search.setAttribute("aria-label", "Search"),
  ".md-option": (option) => option.setAttribute("tabindex", "-1"), // follows the system, and cannot be seen
  ".md-code__nav": (buttons) => buttons.setAttribute("role", "none"), // no navigation
  ".md-nav[aria-labelledby]": (part) => {
    const label = document.getElementById(part.getAttribute("aria-labelledby"));
    if (label.textContent.trim()) return;
    part.removeAttribute("aria-labelledby");
    part.setAttribute("aria-label", part.parentElement.querySelector(".md-nav__link").textContent.trim());
  },
  ".md-typeset__scrollwrap, .md-typeset pre > code": (wide) => {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    else wide.removeAttribute("tabindex");
  },
};

function name() {
  for (const [selector, act] of Object.entries(NAMES)) document.querySelectorAll(selector).forEach(act);
}

new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", name);
name();
