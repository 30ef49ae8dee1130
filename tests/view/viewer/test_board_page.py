"""The board in a real browser: its size, what plans mean to do, and the agent that it follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, Tabs, load, served
from tests.view.viewer.test_ways import ways_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


KNOWN = "async () => { while (!quorum.world.board.ways) await new Promise(requestAnimationFrame); }"


@pytest.fixture(scope="module")
def page(tabs: Tabs, site: str, episodes: dict[str, Path]) -> Iterator[Page]:
    """An episode of CUBE."""
    address = f"{site}run/{episodes['cube'].name}"
    with tabs.tab(address) as page:
        load(page, address)
        yield page


def test_canvases_follow_their_box_before_they_are_redrawn(page: Page) -> None:
    assert page.evaluate(NARROWER) == pytest.approx([0, 0], abs=1)


def test_the_ways_of_every_instant_are_those_that_were_sent(page: Page, episodes: dict[str, Path]) -> None:
    """Backwards, so that they come from keys and differences and not from one pass."""
    expected = ways_of(episodes["cube"])
    page.keyboard.press("p")
    page.evaluate(KNOWN)
    for t in reversed(range(len(expected))):
        found, _ = page.evaluate(PIXELS, t)
        assert {int(agent): (way["points"], way["target"]) for agent, way in found.items()} == expected[t], t
    page.keyboard.press("p")


def test_the_way_of_the_chosen_agent_is_drawn_and_p_draws_those_of_all(page: Page) -> None:
    page.locator(".agent").nth(1).click()
    page.evaluate(KNOWN)
    shared = page.get_by_role("button", name="paths and targets of all agents")
    ways, of_one = page.evaluate(PIXELS, 7)
    assert len(ways) == 3
    page.keyboard.press("p")
    assert shared.get_attribute("aria-pressed") == "true"
    of_all = page.evaluate(PIXELS, 7)[1]
    page.evaluate("quorum.world.board.ways.at(7).clear(); quorum.world.board.draw()")
    without = page.evaluate("document.querySelector('.board').toDataURL()")
    assert len({of_one, of_all, without}) == 3
    shared.click()
    assert shared.get_attribute("aria-pressed") == "false"
    page.evaluate("quorum.player.seek(0)")
    page.locator(".agent").nth(1).click()


def test_ways_are_asked_for_once_and_not_before_somebody_wants_to_see_them(
    site: str, episodes: dict[str, Path], opened: Open
) -> None:
    page, complaints = opened(f"{site}run/{episodes['cube'].name}")
    asked: list[str] = []
    page.on("request", lambda request: "/api/" in request.url and asked.append(request.url.rpartition("/api/")[2]))
    page.evaluate("quorum.player.seek(7)")
    assert page.evaluate("quorum.world.board.ways") is None
    assert asked == []
    for _ in range(2):
        page.locator(".agent").first.click()
        page.evaluate(KNOWN)
    page.keyboard.press("p")
    assert asked == [f"run/{episodes['cube'].name}/ways/0"]
    assert complaints == []


def test_a_world_without_ways_has_no_control_for_them(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, complaints = opened(f"{site}run/{episodes['squeeze'].name}")
    page.keyboard.press("p")
    assert page.get_by_role("button", name="paths and targets").count() == 0
    assert complaints == []


LARGE = ["n=12", "agents=heuristic", "topology=individual", "env.side=40", "max_steps=30"]
MIDDLE = """([agent, t]) => {
  quorum.player.seek(t);
  const { left, top, size } = quorum.world.board.view;
  const mark = Object.values(quorum.picture().marks).find((mark) => mark.agent === agent);
  const canvas = document.querySelector(".board");
  const [width, high] = [canvas.clientWidth, canvas.clientHeight];
  const at = [left + (mark.x + 0.5) * size, top + (mark.y + 0.5) * size];
  return { size, at, box: [width, high], edges: [left, top, left + 40 * size, top + 40 * size] };
}"""


@pytest.fixture(scope="module")
def large(tabs: Tabs) -> Iterator[Page]:
    """A board that does not fit."""
    with served(recorded_run(*LARGE)) as address, tabs.tab(address) as page:
        load(page, address)
        yield page


def resized(page: Page, width: int) -> None:
    """Give a page another width, and wait until it is laid out and drawn in it."""
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("width", [1280, 390])
def test_f_keeps_the_chosen_agent_in_the_middle_within_the_edges_of_the_world(large: Page, width: int) -> None:
    resized(large, width)
    control = large.get_by_role("button", name="follow the chosen agent")
    whole = large.evaluate(MIDDLE, [0, 0])
    large.locator(".agent").nth(3).click()
    large.keyboard.press("f")
    assert control.get_attribute("aria-pressed") == "true"
    central = 0
    for agent in (3, 7):
        if agent == 7:
            large.locator(".agent").nth(7).click()
        for t in range(0, 30, 3):
            seen = large.evaluate(MIDDLE, [agent, t])
            assert seen["size"] > 20
            for place, length, first, last in zip(
                seen["at"], seen["box"], seen["edges"][:2], seen["edges"][2:], strict=True
            ):
                assert 0 < place < length
                rim = seen["size"]  # a margin of 2 % of the board, 0.8 of a cell, may be seen beyond its edges
                assert first <= rim
                assert last >= length - rim
                at_edge = first > -1 or last < length + 1
                assert at_edge or place == pytest.approx(length / 2, abs=1)
                central += not at_edge
    assert central > 10
    large.keyboard.press("f")
    assert control.get_attribute("aria-pressed") == "false"
    assert large.evaluate(MIDDLE, [0, 0]) == whole
    large.locator(".agent").nth(7).click()


def test_to_follow_begins_with_the_first_agent_and_ends_with_nobody_chosen(large: Page) -> None:
    resized(large, 1280)
    control = large.get_by_role("button", name="follow the chosen agent")
    control.click()
    assert large.evaluate("[quorum.world.board.chosen, quorum.world.board.follows]") == [0, True]
    large.locator(".agent").first.click()
    assert large.evaluate("[quorum.world.board.chosen, quorum.world.board.follows, quorum.world.board.zoom]") == [
        -1,
        False,
        1,
    ]
    assert control.get_attribute("aria-pressed") == "false"


def test_dragging_stops_to_follow_and_stays_there(large: Page) -> None:
    large.keyboard.press("f")
    box = large.locator(".board").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    large.mouse.move(x + 60, y + 60)
    large.mouse.down()
    large.mouse.move(x - 20, y - 20, steps=3)
    large.mouse.up()
    assert large.evaluate("[quorum.world.board.follows, quorum.world.board.zoom > 1]") == [False, True]
    large.locator(".board").dblclick()
    assert large.evaluate("quorum.world.board.zoom") == 1


def test_a_board_that_can_be_read_as_a_whole_offers_no_following(page: Page) -> None:
    assert page.get_by_role("button", name="follow the chosen agent").count() == 0
    page.keyboard.press("f")
    assert page.evaluate("[quorum.world.board.zoom, quorum.world.board.chosen]") == [1, -1]
