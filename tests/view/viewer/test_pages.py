"""A long run is shown page by page: its pages together are the whole, and each can be shown alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import orjson
import pytest

from maeil.trace import read_trace
from maeil.trace.events import MessageSent
from quorum.view.viewer import lanes, library, page, pages
from quorum.view.viewer.episode import Episode, read_episode
from quorum.view.viewer.page import exported_page
from quorum_base.user_errors import UserError
from tests.conftest import ROOT, environment
from tests.view.viewer.conftest import EPISODES, Open, served
from tests.view.viewer.long_traces import repeated
from tests.view.viewer.test_episode_page import address, until

STARTED = ("thoughts", "messages", "plans", "outcomes", "capabilities", "forced", "interruptions", "usage")
"""Lanes whose items tell by their `t` when they began."""
SEEK = "t => { quorum.player.seek(t); return quorum.turning; }"


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is a long one, and a page has a few steps."""
    monkeypatch.setattr(pages, "WHOLE", 0)
    monkeypatch.setattr(pages, "PAGE", 3_000)


def began(item: Any, lane: str) -> int:
    return item[4] if lane == "actions" else item["t"] if isinstance(item, dict) else item[0]


def read(folder: Path) -> tuple[Episode, list[Any]]:
    episode = read_episode(folder)
    return episode, [orjson.loads(episode.pages.data(number)) for number in range(len(episode.pages))]


@pytest.fixture(params=EPISODES)
def both(request: pytest.FixtureRequest, episodes: dict[str, Path]) -> tuple[Any, list[Any]]:
    """An episode as one page, and in pages."""
    folder = episodes[request.param]
    whole = read_episode(folder)
    assert len(whole.pages) == 1, "a short run is one page"
    request.getfixturevalue("short_pages")
    paged, parts = read(folder)
    assert len(parts) >= 3
    assert {**paged.overview, "pages": [0]} == whole.overview
    assert paged.overview["pages"] == [part["first"] for part in parts]
    return orjson.loads(whole.pages.data(0)), parts


def test_pages_together_are_the_whole(both: tuple[Any, list[Any]]) -> None:
    """Also what came of an item after its page: who read a message, how a plan and an action ended."""
    whole, parts = both
    for lane in ("joint", "spans"):
        assert [item for part in parts for item in part[lane]] == whole[lane]
    for lane in (*STARTED, "actions"):
        found = [item for part in parts for item in part[lane] if began(item, lane) >= part["first"]]
        assert found == whole[lane], lane
    for agent, stages in enumerate(whole["stages"]):
        flat = [
            value
            for part in parts
            for i in range(0, len(part["stages"][agent]), 4)
            for value in part["stages"][agent][i : i + 4]
            if part["stages"][agent][i] >= part["first"]
        ]
        assert flat == stages
    changes: dict[str, list[Any]] = {}
    for part in parts:
        for task in part["tasks"]:
            changes.setdefault(task["name"], []).extend(c for c in task["changes"] if c[0] >= part["first"])
    assert changes == {task["name"]: task["changes"] for task in whole["tasks"]}
    assert [part["end"] for part in parts] == [None] * (len(parts) - 1) + [whole["end"]]


def test_a_page_holds_what_goes_on_in_it(both: tuple[Any, list[Any]]) -> None:
    whole, parts = both
    for part in parts:
        first = part["first"]
        for agent, stages in enumerate(whole["stages"]):
            before = [stages[i : i + 4] for i in range(0, len(stages), 4) if stages[i] < first]
            assert part["stages"][agent][:4] == before[-1] if before else True
        latest = {plan["agent"]: plan for plan in whole["plans"] if plan["t"] < first}
        assert all(plan in part["plans"] for plan in latest.values())
        for action in whole["actions"]:
            if action[4] < first and (action[6] is None or action[6] >= first):
                assert action in part["actions"]
        for task in whole["tasks"]:
            if before := [change for change in task["changes"] if change[0] < first]:
                carried = [t["changes"][0] for t in part["tasks"] if t["name"] == task["name"]]
                assert before[-1][1] == 0 or carried == [before[-1]]


def test_the_page_of_a_step_is_the_one_that_holds_it(episodes: dict[str, Path], short_pages: None) -> None:
    episode, parts = read(episodes["cube"])
    for number, part in enumerate(parts):
        for t in range(part["first"], part["first"] + len(part["joint"])):
            assert episode.pages.holding(t) == number
    assert episode.pages.holding(10**9) == len(parts) - 1
    with pytest.raises(IndexError):
        episode.film.data(len(parts))


def test_a_step_with_more_events_than_a_page_can_hold_is_cut_and_said_to_be(
    episodes: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "FULL", 2_000)
    episode, parts = read(episodes["cube"])
    assert any("events are left out" in problem for problem in episode.overview["problems"])
    assert sum(len(part["joint"]) for part in parts) == episode.overview["steps"] == 42


SHOWN = """t => [
  quorum.picture(),
  quorum.model.names.map((_, agent) => [quorum.model.stageAt(agent, t), quorum.model.planAt(agent, t)?.id]),
  quorum.plain.agents.map((_, agent) => quorum.model.actionAt(agent, t)?.name),
  quorum.model.eventsAt(t).map((event) => quorum.model.line(event)),
]"""
"""What the page shows of an instant."""


def there(t: int) -> str:
    drawn = f"quorum.model.has({t}) && quorum.world.film?.first <= {t}"
    return f"quorum.turning === null && quorum.player.t === {t} && {drawn}"


@pytest.mark.parametrize(
    "world", [w if w in ("cube", "squeeze") else pytest.param(w, marks=pytest.mark.conformance) for w in EPISODES]
)
def test_a_long_run_shows_the_same_as_a_short_one(
    episodes: dict[str, Path], opened: Open, request: pytest.FixtureRequest, world: str
) -> None:
    with served(episodes[world]) as site:
        page, _ = opened(site)
        last = page.evaluate("quorum.player.last")
        instants = [*range(0, last + 1, 3), last, 1, 0]
        expected = [page.evaluate(f"t => {{ quorum.player.seek(t); return ({SHOWN})(t); }}", t) for t in instants]
    request.getfixturevalue("short_pages")
    with served(episodes[world]) as site:
        page, complaints = opened(site)
        assert page.evaluate("quorum.plain.pages.length") >= 3
        for t, wanted in zip(instants, expected, strict=True):
            page.evaluate(SEEK, t)
            until(page, there(t))
            assert page.evaluate(SHOWN, t) == wanted, t
        assert complaints == []


@pytest.fixture
def paged_site(episodes: dict[str, Path], short_pages: None) -> Iterator[str]:
    with served(episodes["cube"].parent) as site:
        yield site


def test_a_long_run_is_searched_and_moved_through_as_a_whole(
    paged_site: str, episodes: dict[str, Path], opened: Open
) -> None:
    folder = episodes["cube"]
    loaded = []
    long, complaints = opened(address(paged_site, folder, 30))
    assert long.evaluate("[quorum.player.t, quorum.model.has(30), quorum.model.has(0)]") == [30, True, False]
    assert "steps " in long.locator(".where").inner_text()
    long.on("request", lambda request: loaded.append(request.url.rpartition("/run/")[2]))
    message = next(s for s in read_trace(folder).stamped(MessageSent) if s.t < 20)
    long.locator("input[type=search]").fill(message.event.content)
    long.locator(".results button", has_text=f"t = {message.t} ").first.click()
    until(long, there(message.t))
    assert message.event.content in long.locator(".reader pre").inner_text()
    long.keyboard.press("Escape")
    long.locator("h1").click()
    long.keyboard.press("Home")
    breaks = long.evaluate("quorum.plain.breaks.filter((t) => t > 0)")
    for t in breaks:
        long.keyboard.press("n")
        until(long, there(t))
        long.locator(".reader p.bad").first.wait_for()
    long.locator(".player select").select_option("64")
    long.locator("h1").click()
    long.keyboard.press("Home")
    long.keyboard.press("Space")
    until(long, "quorum.player.t === 42 && quorum.model.has(42)")
    assert any("/page/" in url for url in loaded)
    assert complaints == []


def test_a_result_that_is_pressed_while_others_are_found_is_opened(
    paged_site: str, episodes: dict[str, Path], opened: Open
) -> None:
    folder = episodes["cube"]
    message = next(s for s in read_trace(folder).stamped(MessageSent) if s.t < 20)
    page, complaints = opened(address(paged_site, folder, 30))
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/search*", hold)
    page.locator("input[type=search]").fill(message.event.content)
    page.locator(".results p", has_text="searching the calls").wait_for()
    page.locator(".results button", has_text=f"t = {message.t} ").first.hover()
    page.mouse.down()
    held[0].continue_()
    page.locator(".results[data-found]").wait_for()
    page.mouse.up()
    until(page, there(message.t))
    page.unroute("**/search*")
    assert complaints == []


def test_an_export_of_a_long_run_has_all_its_pages(
    episodes: dict[str, Path], opened: Open, short_pages: None, tmp_path: Path
) -> None:
    target = tmp_path / "long.html"
    target.write_text(exported_page(read_episode(episodes["transport"])))
    shown, complaints = opened(target.as_uri(), offline=True)
    last = shown.evaluate("quorum.player.last")
    shown.evaluate(SEEK, last)
    until(shown, there(last))
    assert shown.evaluate("quorum.picture().t") == last
    assert complaints == []


@pytest.mark.parametrize("bound", ["LONGEST_TRACE", "MOST_CALLS"])
def test_an_export_of_a_run_that_is_too_long_is_refused(
    episodes: dict[str, Path], monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(page, bound, 100)
    with pytest.raises(UserError, match=r"too much for one file\n.*quorum view "):
        exported_page(read_episode(episodes["cube"]))


def measured(run: Path) -> tuple[int, int]:
    """Pages of a run, and the MiB that it takes to read it and to give them."""
    command = [sys.executable, "-m", "tests.view.viewer.long_traces", str(run)]
    done = subprocess.run(command, cwd=ROOT, env=environment(PYTHONPATH=str(ROOT)), capture_output=True, check=True)
    number, mebibytes = map(int, done.stdout.split())
    return number, mebibytes


@pytest.mark.conformance
def test_the_pages_of_a_long_trace_take_little_memory(episodes: dict[str, Path], tmp_path: Path) -> None:
    """As objects, the events of this trace take some 200 MiB."""
    number, mebibytes = measured(repeated(episodes["cube"], tmp_path / "long", 36_000_000))
    assert number >= 4
    assert mebibytes < 90


@pytest.mark.soak
def test_a_trace_of_336_megabytes_takes_less_than_600(episodes: dict[str, Path], tmp_path: Path) -> None:
    number, mebibytes = measured(repeated(episodes["cube"], tmp_path / "long", 336_000_000))
    assert number >= 40
    assert mebibytes < 600


def test_while_a_long_trace_is_read_the_page_says_how_far(
    episodes: dict[str, Path], opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reading waits after its first mebibyte until the page has shown that."""
    reported, seen = [], Event()

    def slowly(path: Path, tell: Callable[[float], None]) -> Episode:
        def told_slowly(share: float) -> None:
            tell(share)
            reported.append(share)
            seen.wait(20)

        return read_episode(path, told_slowly)

    monkeypatch.setattr(library, "read_episode", slowly)
    with served(repeated(episodes["cube"], tmp_path / "long", 2_000_000)) as site:
        page, complaints = opened(site, whole=False)
        try:
            page.locator(".loading", has_text=re.compile(r"reading the trace: [1-9]\d? %")).wait_for()
        finally:
            seen.set()
        page.wait_for_selector("html[data-ready=yes]")
        assert all(0 < share <= 1 for share in reported)
        assert reported == sorted(reported)
        assert complaints == []
