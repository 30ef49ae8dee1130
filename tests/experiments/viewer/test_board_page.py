"""The board in a real browser: its size, what plans mean to do, and the agent that it follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.experiments.viewer.conftest import Open
from tests.experiments.viewer.test_ways import ways_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NARROWER = """() => {
  document.body.style.width = "420px";
  const wide = [".board", ".marks"].map((name) => document.querySelector(name))
    .map((canvas) => canvas.getBoundingClientRect().right - canvas.parentElement.getBoundingClientRect().right);
  document.body.style.width = "";
  return wide;
}"""


PIXELS = """t => {
  quorum.player.seek(t);
  const shown = document.querySelector(".board").toDataURL();
  return [quorum.picture().ways, shown];
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


def test_the_ways_of_every_instant_are_those_that_were_sent(page: Page, episodes: dict[str, Path]) -> None:
    """Backwards, so that they come from keys and differences and not from one pass."""
    expected = ways_of(episodes["cube"])
    for t in reversed(range(len(expected))):
        found, _ = page.evaluate(PIXELS, t)
        assert {int(agent): (way["points"], way["target"]) for agent, way in found.items()} == expected[t], t


def test_the_way_of_the_chosen_agent_is_drawn_and_p_draws_those_of_all(page: Page) -> None:
    page.locator(".agent").nth(1).click()
    shared = page.get_by_role("button", name="paths and targets of all agents")
    ways, of_one = page.evaluate(PIXELS, 7)
    assert len(ways) == 3
    page.keyboard.press("p")
    assert shared.get_attribute("aria-pressed") == "true"
    of_all = page.evaluate(PIXELS, 7)[1]
    page.evaluate("quorum.world.film.at(7).ways.clear(); quorum.world.board.draw()")
    without = page.evaluate("document.querySelector('.board').toDataURL()")
    assert len({of_one, of_all, without}) == 3
    shared.click()
    assert shared.get_attribute("aria-pressed") == "false"
    page.evaluate("quorum.player.seek(0)")
    page.locator(".agent").nth(1).click()


def test_a_world_without_ways_has_no_control_for_them(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, complaints = opened(f"{site}run/{episodes['squeeze'].name}")
    page.keyboard.press("p")
    assert page.get_by_role("button", name="paths and targets").count() == 0
    assert complaints == []
