"""The board in a real browser: its size, what plans mean to do, and the agent that it follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NARROWER = """() => {
  document.body.style.width = "420px";
  const wide = [".board", ".marks"].map((name) => document.querySelector(name))
    .map((canvas) => canvas.getBoundingClientRect().right - canvas.parentElement.getBoundingClientRect().right);
  document.body.style.width = "";
  return wide;
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, site: str, episodes: dict[str, Path]) -> Iterator[Page]:
    """An episode of CUBE."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{site}run/{episodes['cube'].name}")
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    yield page
    context.close()


def test_canvases_follow_their_box_before_they_are_drawn_anew(page: Page) -> None:
    assert page.evaluate(NARROWER) == pytest.approx([0, 0], abs=1)
