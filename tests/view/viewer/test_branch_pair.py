"""A run and its branch side by side: what one has at a step and the other has not is marked, on lanes and in worlds."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from maeil.trace import Instant
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.storage.outputs import Output
from quorum.view.viewer import pages
from quorum.view.viewer.command import export
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.parent import Parent
from tests.view.viewer.conftest import Open, Tabs, complaints_of, load, served
from tests.view.viewer.test_episode_page import until

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOUND = "quorum.sides.map(side => [...(side.lanes.differs ?? new Map())].map(([item, sort]) => [sort, item.t]))"
PLACES = "quorum.sides.map(side => side.world.board.differing)"


@pytest.fixture(scope="module")
def branched(episodes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, int]:
    """A run, its branch, and the step of the instant: the second one at which somebody thinks."""
    run = Path(shutil.copytree(episodes["cube"], tmp_path_factory.mktemp("branched") / "first"))
    thoughts = [event for event in read(run) if event["event"] == "thought_start" and event["t"]]
    instant = Instant(thoughts[0]["t"], thoughts[0]["t_hat"])
    planned = Parent.open(run).branch(instant, Change(("agents=heuristic",)))
    return run, run_cell(planned.cell, run.parent, start=planned.start).folder, instant.t


def read(run: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, (run / "trace.jsonl").read_text().splitlines()))


@pytest.fixture(scope="module")
def shown(branched: tuple[Path, Path, int], tabs: Tabs) -> Iterator[Page]:
    """The page of both; each test moves it to where it needs it."""
    with served(*branched[:2]) as address, tabs.tab(address) as page, complaints_of(page, address) as complaints:
        page.set_viewport_size({"width": 1280, "height": 900})
        load(page, address)
        yield page
        assert complaints == []


def test_it_begins_at_the_instant_and_says_what_is_another(shown: Page, branched: tuple[Path, Path, int]) -> None:
    *_, t = branched
    shown.reload()
    shown.wait_for_selector("html[data-ready=yes]")
    assert shown.evaluate("quorum.player.t") == t
    assert f"one beginning, up to t = {t}, t^ = " in shown.locator(".facts").inner_text()
    reported = shown.locator(".off-list").inner_text()
    assert f"B branches off first from t = {t}, t^ = " in reported
    assert reported.endswith("agents=heuristic")
    common = shown.evaluate("quorum.sides.map(side => side.lanes.common.t)")
    assert common == [t, t]


def test_nothing_differs_before_the_instant_and_what_differs_is_what_the_traces_have_alone(
    shown: Page, branched: tuple[Path, Path, int]
) -> None:
    *runs, t = branched
    found = shown.evaluate(FOUND)
    assert all(item[1] >= t for items in found for item in items)

    def plans(run: Path) -> list[str]:
        committed = [event for event in read(run) if event["event"] == "plan" and event["status"] == "committed"]
        return [json.dumps([e["t"], e["agent"], e["task"], e["actions"]], sort_keys=True) for e in committed]

    def messages(run: Path) -> list[str]:
        keys = ("t", "sender", "recipients", "what", "content")
        return [json.dumps([event[key] for key in keys]) for event in read(run) if event["event"] == "message_sent"]

    for sort, of in (("plan", plans), ("message", messages)):
        one, other = map(of, runs)
        for own, opposite, items in ((one, other, found[0]), (other, one, found[1])):
            left = list(opposite)
            alone = [key for key in own if key not in left or left.remove(key)]
            assert sorted(step for kind, step in items if kind == sort) == sorted(
                json.loads(key)[0] for key in alone
            ), sort
    assert {sort for items in found for sort, _ in items} >= {"thought", "plan", "action"}


def places(run: Path, t: int) -> tuple[Any, dict[str, Any]]:
    """Give ground and marks of a step, by the world itself."""
    episode = open_episode(run)
    world: Any = episode.world()
    for step, _ in enumerate(episode.replay(world)):
        if step == t:
            drawing = world.draw()
            return drawing.ground, dict(drawing.marks)
    raise AssertionError(t)


def test_the_cells_that_differ_at_a_step_are_outlined_in_both_worlds(
    shown: Page, branched: tuple[Path, Path, int]
) -> None:
    *runs, t = branched
    shown.evaluate("t => quorum.seek(t)", t)
    assert shown.evaluate(PLACES) == [[], []], "up to the instant the worlds are the same"
    shown.keyboard.press("d")
    t = shown.evaluate("quorum.player.t") + 2
    shown.evaluate("t => quorum.seek(t)", t)
    (ground, marks), (their_ground, their_marks) = (places(run, t) for run in runs)
    assert ground == their_ground, "in CUBE the ground stays"
    expected = set()
    for name in marks.keys() | their_marks.keys():
        if marks.get(name) != their_marks.get(name):
            for mark in filter(None, (marks.get(name), their_marks.get(name))):
                x, y = math.floor(mark.x), math.floor(mark.y)
                expected.add((x, y, math.ceil(mark.x + mark.width) - x, math.ceil(mark.y + mark.height) - y))
    assert expected
    for found in shown.evaluate(PLACES):
        assert set(map(tuple, found)) == expected
    shown.keyboard.press("x")
    assert shown.evaluate(PLACES) == [[], []]
    assert shown.evaluate(FOUND) == [[], []]
    shown.keyboard.press("x")
    until(shown, f"{PLACES}[0].length > 0")


def test_keys_go_from_difference_to_difference(shown: Page) -> None:
    shown.keyboard.press("Home")
    steps = sorted({t for items in shown.evaluate(FOUND) for _, t in items})
    for step in steps[:3]:
        shown.keyboard.press("e")
        assert shown.evaluate("quorum.sides.map(side => side.t)") == [step] * 2, "one cursor moves both"
    shown.keyboard.press("Shift+E")
    assert shown.evaluate("quorum.player.t") == steps[:3][-2]


def test_the_common_beginning_of_the_transcripts_is_folded_until_it_is_asked_for(
    shown: Page, branched: tuple[Path, Path, int]
) -> None:
    *_, t = branched
    shown.keyboard.press("Home")
    until(shown, "quorum.sides.every(({ transcript }) => transcript.t === 0)")
    shown.keyboard.press("End")
    shown.keyboard.press("x")
    shown.keyboard.press("x")
    until(shown, f"{FOUND}[0].length > 0")
    shown.keyboard.press("m")
    side = shown.locator(".side").nth(0)
    fold = side.locator(".transcript > button.link").first
    assert f"entries before step {t}, the same in both" in fold.inner_text()
    assert side.locator(".common").count() == 0
    assert side.locator(".differs").count() > 0
    fold.click()
    assert side.locator(".common").count() > 0
    assert side.locator(".common.differs").count() == 0
    shown.keyboard.press("m")
    assert shown.locator(".side .lanes").nth(0).is_visible()


def test_primitives_have_their_names_on_the_lanes_of_both(shown: Page) -> None:
    assert shown.evaluate("quorum.sides.map(side => side.model.primitive(1))") == ["up", "up"]


def test_a_run_and_its_branch_stand_in_one_file(branched: tuple[Path, Path, int], tmp_path: Path, opened: Open) -> None:
    page, complaints = opened(export(branched[:2], Output(tmp_path / "pair.html", "--export")).as_uri(), offline=True)
    until(page, f"{FOUND}.every(items => items.length)")
    assert page.locator(".off-list a").count() == 0, "there is no other page"
    assert complaints == []


def test_of_long_runs_each_page_is_held_against_all_pages_with_its_steps(
    branched: tuple[Path, Path, int], shown: Page, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    whole = shown.evaluate(FOUND)
    monkeypatch.setattr(pages, "WHOLE", 0)
    monkeypatch.setattr(pages, "PAGE", 4_000)
    with served(*branched[:2]) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.sides[0].plain.pages.length") > 2
        until(page, f"{FOUND}.some(items => items.length)")
        for side in (0, 1):
            first, last = page.evaluate(f"[quorum.sides[{side}].model.first, quorum.sides[{side}].model.axis.last]")
            here = [[sort, t] for sort, t in page.evaluate(FOUND)[side] if sort in ("plan", "message") and t >= first]
            assert sorted(here) == sorted(
                [sort, t] for sort, t in whole[side] if sort in ("plan", "message") and first <= t < last
            )
        assert complaints == []
