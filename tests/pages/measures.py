"""What is measured of every page: whether it can be read, reached and operated, by whoever looks at it.

Each measure returns what is wrong, in words, so that a test says `assert measure(page) == []`. That each can fail is
held by `test_measures.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRIPT = Path(__file__).with_suffix(".js")
"""Must run before the scripts of a page that is measured."""
AA = 4.5
"""Least contrast of text: WCAG 2.2, 1.4.3."""


def axe(page: Page, *rules: str) -> list[str]:
    """Return what axe-core finds: names, roles, headings, contrast of text (WCAG 2.2 A and AA, and good practice).

    Args:
        page: the page.
        rules: the rules of axe-core to check; none for all.
    """
    from axe_playwright_python.sync_playwright import Axe

    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found: dict[str, Any] = Axe().run(page, options=options).response
    return [
        f"{finding['id']} ({finding['impact']}): {finding['help']}: {node['html'][:160]}"
        for finding in found["violations"]
        for node in finding["nodes"]
    ]


def resize(page: Page, width: int = 1400) -> None:
    """Give the window a width, and wait until what follows its size has done so: a control may come or go by it."""
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def beyond_the_width(page: Page) -> list[str]:
    """Return the elements that stand beyond the window's width, but for those in a part that scrolls by itself."""
    return list(page.evaluate("measures.beyond()"))


def covered_or_cut(page: Page, selector: str) -> list[str]:
    """Return the words and controls of a part that overlap each other, or are cut off."""
    return list(page.evaluate("selector => measures.covered(selector)", selector))


def faint(page: Page) -> list[str]:
    """Return the words in drawings and on canvases whose contrast is less than AA (axe-core looks at neither)."""
    words: list[tuple[str, float]] = page.evaluate("[...measures.drawn(), ...measures.painted()]")
    return sorted({f'"{text}" has a contrast of {contrast:.2f}' for text, contrast in words if contrast < AA})


def unnamed(page: Page) -> list[str]:
    """Return the pictures without words, the tables without name or headers, and what the page lacks of both."""
    return list(page.evaluate("measures.unnamed()"))


def moving(page: Page) -> list[str]:
    """Return what moves by itself. The page must be opened by somebody who asks for reduced motion."""
    return list(page.evaluate("measures.moving()"))


def out_of_reach(page: Page, most: int = 400) -> list[str]:
    """Return the controls that Tab, Enter or Space do not reach, that do not show it, or are for the mouse alone.

    Args:
        page: the page.
        most: presses of Tab.
    """
    names: list[str] = page.evaluate("measures.controls()")
    wrong: list[str] = page.evaluate("measures.mouseAlone()")
    page.evaluate("document.activeElement && document.activeElement.blur()")
    page.evaluate("measures.listen(true)")
    missing = set(range(len(names)))
    for _ in range(min(most, len(names) + 20)):
        page.keyboard.press("Tab")
        focused = page.evaluate("measures.focused()")
        if focused is None:
            continue
        control, shown, keys = focused
        if control and int(control) in missing:
            missing.discard(int(control))
            if not shown:
                wrong.append(f"{names[int(control)]} does not show that it has the focus")
            for key in keys:
                page.keyboard.press(key)
            heard: list[str] = page.evaluate("measures.clicks()")
            if heard != [control] * len(keys):
                wrong.append(f"{names[int(control)]} hears {len(heard)} of {' and '.join(keys)}")
        if not missing:
            break
    page.evaluate("measures.listen(false)")
    return wrong + [f"{names[number]} is not reached by Tab" for number in sorted(missing)]
