"""The status line of an episode: its words, and where and how often it is shown."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from maeil.trace import Stamped
from maeil.trace.events import ScoreChange, StepTaken
from quorum.agents.llm.protocol import Finish, Origin, Reply, Usage
from quorum.agents.llm.spending import UnderWay
from quorum.episode import status as module
from quorum.episode.status import EpisodeStatus, status_line


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def _reply(*, cache_hit: bool = False, simulated: bool = False) -> Reply:
    usage = Usage(1000, 200)
    return Reply("x", Finish.STOP, usage, 0.25, 1.0, "m", cache_hit=cache_hit, simulated=simulated)


def test_the_line_says_how_far_the_episode_is_who_thinks_for_how_long_and_what_it_took() -> None:
    clock = Clock()
    under_way = UnderWay(clock)
    status = EpisodeStatus(under_way)
    assert status.line == "step 0 · 0:00 min · nobody thinks"
    calls = [under_way.begin(Origin(f"agent_{i}", 0, role)) for i, role in enumerate(("", "actor", "", "", ""))]
    clock.now += 12.4
    under_way.end(calls[0], _reply())
    status(Stamped(0, 4, 0.0, 0.0, ScoreChange(1, 3, 2.0)))
    status(Stamped(1, 4, 0.0, 0.0, StepTaken((0,), 0.0)))
    assert status.line == (
        "step 5 · 1/3 goals · 0:12 min · agent_1 (actor) thinks 12 s, agent_2 12 s, agent_3 12 s, and 1 more · "
        "1 answers · 1,200 tokens · $0.25"
    )
    under_way.end(calls[1], _reply(cache_hit=True, simulated=True))
    assert status.models.endswith("2 answers, 1 from the cache · 2,400 tokens · $0.50 (simulated)")


def test_in_a_terminal_the_line_is_drawn_again_every_second_though_nothing_happens() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    under_way = UnderWay()
    under_way.begin(Origin("agent_0", 0))
    drawn = lambda: len(set(re.findall(r"agent_0 thinks \d+ s", console.file.getvalue())))  # noqa: E731
    with status_line(console, EpisodeStatus(under_way)):
        _wait_until(lambda: drawn() >= 3)
    assert drawn() >= 3


def _wait_until(holds: Callable[[], bool]) -> None:
    """Wait, for a minute at most."""
    for _ in range(6000):
        if holds():
            return
        threading.Event().wait(0.01)


@pytest.mark.parametrize("seconds", [0.05, 600.0])
def test_without_a_terminal_a_line_comes_now_and_then(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_EVERY", seconds)
    console = Console(file=io.StringIO(), width=20)
    under_way = UnderWay()
    under_way.begin(Origin("agent_0", 0))
    begin = time.monotonic()
    with status_line(console, EpisodeStatus(under_way)):
        threading.Event().wait(0.5)
        _wait_until(lambda: bool(console.file.getvalue()) or seconds > 1)
    passed = time.monotonic() - begin
    lines = console.file.getvalue().splitlines()
    assert all(re.fullmatch(r"step 0 · 0:\d\d min · agent_0 thinks \d+ s", line) for line in lines)
    assert len(lines) in (range(1, int(passed / seconds) + 1) if seconds < 1 else [0])


def test_what_a_participant_is_called_cannot_act_on_the_terminal() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    under_way = UnderWay()
    under_way.begin(Origin("[red]\x1b]0;title\x07", 0))
    with status_line(console, EpisodeStatus(under_way)):
        pass
    assert "[red]␛]0;title␇" in console.file.getvalue()
