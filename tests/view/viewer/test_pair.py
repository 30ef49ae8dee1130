"""Two runs of one board stand side by side: one time moves both, and what parts them is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.storage.outputs import Output
from quorum.view.viewer import pages
from quorum.view.viewer.command import export, view
from quorum.view.viewer.library import Library
from quorum_base.user_errors import UserError
from tests.view.viewer.conftest import Open, Tabs, complaints_of, load, served, started
from tests.view.viewer.test_episode_page import until

if TYPE_CHECKING:
    from playwright.sync_api import Page

INSTANTS = "quorum.sides.map(side => [side.t, side.world.board.t])"


@pytest.fixture(scope="module")
def address(two: tuple[Path, Path]) -> Iterator[str]:
    with served(*two) as found:
        yield found


@pytest.fixture(scope="module")
def shown(address: str, tabs: Tabs) -> Iterator[Page]:
    """The page of two runs; each test moves it to where it needs it."""
    with tabs.tab(address) as page, complaints_of(page, address) as complaints:
        page.set_viewport_size({"width": 1280, "height": 900})
        load(page, address)
        yield page
        assert complaints == []


def steps(run: Path) -> int:
    return open_episode(run).steps


def first_difference(one: Path, other: Path) -> int:
    """Find it by the worlds themselves."""
    played = []
    for run in map(open_episode, (one, other)):
        world: Any = run.world()
        played.append(
            [(drawing := world.draw()).ground + str(sorted(drawing.marks.items())).encode() for _ in run.replay(world)]
        )
    return next(t for t, (a, b) in enumerate(zip(*played, strict=False)) if a != b)


def test_one_slider_moves_both_and_the_shorter_run_stays_at_its_end(shown: Page, two: tuple[Path, Path]) -> None:
    long, short = map(steps, two)
    assert short < long
    shown.get_by_label("step of the environment").fill(str(short - 1))
    assert shown.evaluate(INSTANTS) == [[short - 1, short - 1]] * 2
    assert shown.locator(".over").all_inner_texts() == ["success", "truncated"]
    shown.get_by_label("step of the environment").fill(str(long))
    assert shown.evaluate(INSTANTS) == [[long, long], [short, short]]
    over = ["success", f"truncated: it stays at its end, t = {short}"]
    assert shown.locator(".over").all_inner_texts() == over
    until(shown, f"location.hash === '#t={long}'")
    shown.reload()
    shown.wait_for_selector("html[data-ready=yes]")
    assert shown.evaluate(INSTANTS) == [[long, long], [short, short]], "the address is a link to the instant"
    assert shown.locator(".over").all_inner_texts() == over


def test_the_keyboard_moves_and_plays_both(shown: Page) -> None:
    shown.keyboard.press("Home")
    shown.keyboard.press("Shift+ArrowRight")
    shown.keyboard.press("ArrowLeft")
    assert shown.evaluate(INSTANTS) == [[9, 9], [9, 9]]
    shown.keyboard.press("Space")
    until(shown, "quorum.player.t > 10")
    shown.keyboard.press("Space")
    assert not shown.evaluate("quorum.player.playing")
    shown.keyboard.press("End")
    assert shown.evaluate("quorum.player.t === quorum.player.last")


def test_only_what_differs_is_named_in_words(shown: Page) -> None:
    reported = shown.locator(".differences").inner_text()
    assert "topology: debate | centralized" in reported
    assert "\nmax steps: 60 | 25" in reported
    assert "env max steps" not in reported, "the world repeats a common knob"
    assert "agents" not in reported
    assert "seed" not in reported
    folded = shown.locator(".differences details")
    assert folded.get_attribute("open") is None
    assert folded.locator("li").count() >= 1, "what comes with a topology is folded"


def test_the_figures_stand_beside_each_other_with_the_difference(shown: Page, two: tuple[Path, Path]) -> None:
    one, other = (json.loads((run / "metrics.json").read_text()) for run in two)
    rows = {
        row[0]: row[1:]
        for row in (line.split("\t") for line in shown.locator(".figures tbody").inner_text().split("\n"))
    }
    for words, name in (
        ("steps", "outcome.steps"), ("messages", "communication.messages"), ("tokens in", "model.prompt_tokens"),
        ("tokens out", "model.completion_tokens"),
    ):  # fmt: skip
        a, b = int(one[name]), int(other[name])
        assert rows[words] == [f"{a:,}", f"{b:,}", f"{b - a:+,}".replace("-", "\u2212") if a != b else "0"], words
    assert float(rows["completion, share of goals"][1]) == pytest.approx(other["outcome.completion"], abs=5e-4)
    assert float(rows["money, USD"][0]) == pytest.approx(one["model.usd"], rel=5e-3)


def test_the_first_step_at_which_the_boards_differ_is_found_and_reached(shown: Page, two: tuple[Path, Path]) -> None:
    t = first_difference(*two)
    assert shown.locator(".first").inner_text() == f"boards differ from t = {t}"
    shown.keyboard.press("End")
    shown.keyboard.press("d")
    assert shown.evaluate("quorum.player.t") == t
    shown.keyboard.press("End")
    shown.locator(".first button").click()
    assert shown.evaluate(INSTANTS) == [[t, t], [t, t]]


def test_below_each_board_stands_what_was_said_at_the_step(shown: Page) -> None:
    spoken = shown.evaluate("quorum.sides.map(side => side.model.messages.at(-1).t)")
    for place, t in enumerate(spoken):
        shown.evaluate("t => quorum.seek(t)", t)
        said = shown.locator(".side").nth(place).locator(".said.here").first
        said.wait_for()
        seen = said.evaluate("""node => {
          const [own, box] = [node, node.closest('.transcript')].map(part => part.getBoundingClientRect());
          return own.top >= box.top && own.bottom <= box.bottom; }""")
        assert seen, "the transcript has followed"
        said.click()
        reader = shown.locator(".side").nth(place).locator(".reader")
        assert reader.locator("h2").inner_text().startswith("message")


def test_an_agent_is_chosen_in_both(shown: Page) -> None:
    shown.locator(".side").nth(1).locator(".agent").nth(2).click()
    assert shown.evaluate("quorum.sides.map(side => side.world.board.chosen)") == [2, 2]
    shown.locator(".side").nth(0).locator(".agent").nth(2).click()
    assert shown.evaluate("quorum.sides.map(side => side.world.board.chosen)") == [-1, -1]


def test_each_run_leads_to_its_own_page_and_back(address: str, two: tuple[Path, Path], opened: Open) -> None:
    page, complaints = opened(address)
    page.locator(".side-head a").nth(1).click()
    page.wait_for_selector(".lanes")
    assert page.locator("h1").inner_text() == two[1].name
    page.locator("header a").click()
    page.wait_for_selector(".sides")
    assert complaints == []


def test_on_a_narrow_page_they_stand_below_each_other(shown: Page) -> None:
    shown.set_viewport_size({"width": 390, "height": 844})
    try:
        one, other = (shown.locator(".side").nth(place).bounding_box() for place in (0, 1))
        assert one is not None
        assert other is not None
        assert other["y"] >= one["y"] + one["height"]
        for part in (".board", ".transcript", ".agents"):
            for place in (0, 1):
                box = shown.locator(".side").nth(place).locator(part).bounding_box()
                assert box is not None, part
                assert 330 < box["width"] <= 390, part
    finally:
        shown.set_viewport_size({"width": 1280, "height": 900})


def test_both_stand_in_one_file(two: tuple[Path, Path], tmp_path: Path, opened: Open) -> None:
    target = export(two, Output(tmp_path / "pair.html", "--export"))
    page, complaints = opened(target.as_uri(), offline=True)
    t = first_difference(*two)
    page.locator(".first", has_text=f"boards differ from t = {t}").wait_for()
    page.keyboard.press("d")
    assert page.evaluate(INSTANTS) == [[t, t], [t, t]]
    assert page.locator(".side-head a").count() == 0, "there is no other page"
    assert complaints == []


def test_long_runs_are_read_page_by_page(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, opened: Open) -> None:
    monkeypatch.setattr(pages, "WHOLE", 0)
    monkeypatch.setattr(pages, "PAGE", 3_000)
    with served(*two) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.sides.every(side => side.plain.pages.length > 2)")
        t = first_difference(*two)
        page.locator(".first", has_text=f"boards differ from t = {t}").wait_for()
        page.keyboard.press("End")
        long, short = map(steps, two)
        until(page, f"JSON.stringify({INSTANTS}) === '[[{long},{long}],[{short},{short}]]'")
        assert page.evaluate("quorum.sides.every(side => side.model.has(side.t))")
    assert complaints == []


def test_a_run_under_way_is_shown_up_to_where_it_was(two: tuple[Path, Path], tmp_path: Path, opened: Open) -> None:
    running = started(tmp_path, two[1])
    with running.guarded(), served(two[0], running.path) as address:
        page, complaints = opened(address)
        reached = page.evaluate("quorum.sides[1].plain.steps")
        assert 0 < reached < steps(two[1])
        over = ["success", f"read up to t = {reached}: reload the page for more"]
        assert page.locator(".over").all_inner_texts() == over
        assert page.locator(".side").nth(1).locator(".badge.under-way").inner_text() == "under way"
        page.keyboard.press("End")
        assert page.evaluate(INSTANTS)[1] == [reached, reached]
        assert page.locator(".figures tr", has_text="messages").locator("td").last.inner_text() == "\u2013"
    assert complaints == []


def test_runs_of_one_name_are_distinguished(two: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / two[0].name
    shutil.copytree(two[0], copy)
    library = Library.side_by_side(two[0], copy)
    one, other = library.names()
    assert one != other
    assert (library.folder(one), library.folder(other)) == (two[0].resolve(), copy.resolve())
    assert library.pair is not None
    assert library.pair["differences"] == ()


def test_a_run_is_no_pair_with_itself(two: tuple[Path, Path]) -> None:
    assert Library.of(two[0].parent).side_of(two[0].name, two[0].name) is None


def test_what_is_no_pair_of_one_board_is_refused_in_one_message(
    two: tuple[Path, Path], episodes: dict[str, Path], tmp_path: Path
) -> None:
    run, board = two[0], ["n=3", "agents=heuristic", "max_steps=1"]
    seed = run_cell(Cell.compose([*board, "seed=1"]), tmp_path).folder
    size = run_cell(Cell.compose([*board, "env.side=24"]), tmp_path).folder
    for folders, wanted, way_out in (
        ((run, seed), "they do not play the same board; differences: seed 0 and 1", "two runs of one board"),
        ((run, size), "differences: env.side", "two runs of one board"),
        ((run, episodes["crafter"]), "differences: env.name cube and crafter", "two runs of one board"),
        ((*two, seed), f"{seed}: one of 3 folders, but a page shows one, or two", "two runs of one board"),
        ((run, tmp_path), f"{tmp_path}: it is not a run", "give the folder of each"),
        ((run, tmp_path / "nowhere"), "there is no such folder", ""),
    ):
        with pytest.raises(UserError) as reported:
            view(folders, 0, browser=False, echo=lambda _: pytest.fail("it was served"))
        assert wanted in reported.value.message
        assert way_out in reported.value.hint
        assert "\n" not in reported.value.message
