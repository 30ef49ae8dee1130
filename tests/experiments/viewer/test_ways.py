"""Where plans lead, as the page of an episode gets it: from the trace alone, and no longer than an action runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import read_trace
from maeil.trace.events import ActionChange
from quorum.experiments.viewer import contract
from quorum.experiments.viewer.episode import read_episode

Shown = dict[int, tuple[list[float], list[float]]]


def shown(pictures: contract.Pictures) -> Iterator[Shown]:
    """The ways of each frame: points and target by agent."""
    ways: Shown = {}
    for frame in pictures["frames"]:
        for agent in frame.get("s", []):
            points, target = ways[agent]
            ways[agent] = points[2:], target
        for agent, points, target in frame.get("w", []):
            ways[agent] = list(points), list(target)
            if not points and not target:
                del ways[agent]
        yield dict(ways)


def ways_of(folder: Path) -> list[Shown]:
    pictures = read_episode(folder).film.page(0)["pictures"]
    assert pictures is not None
    return list(shown(pictures))


def running(folder: Path) -> list[dict[int, str]]:
    """The name of the running action of each agent before each step, and at the end."""
    trace = read_trace(folder)
    now: dict[int, str] = {}
    found: list[dict[int, str]] = []
    for stamped in trace.events:
        event = stamped.event
        if isinstance(event, ActionChange):
            if event.status == "started":
                now[event.agent] = event.action
            else:
                now.pop(event.agent, None)
        elif event.kind == "step":
            found.append(dict(now))
    return [*found, now]


LEADS = {
    "cube": {"move_to_block", "rendezvous", "push_block"},
    "crafter": {"navigate", "collect"},
    "transport": {"move"},
}


@pytest.mark.parametrize("world", LEADS)
def test_an_action_has_a_way_as_long_as_it_runs_and_no_longer(episodes: Mapping[str, Path], world: str) -> None:
    ways, actions = ways_of(episodes[world]), running(episodes[world])
    assert len(ways) == len(actions)
    leading = 0
    for t, (led, now) in enumerate(zip(ways, actions, strict=True)):
        assert set(led) <= set(now), t
        wanted = {agent for agent, action in now.items() if action in LEADS[world]}
        leading += len(wanted)
        assert wanted <= set(led), t
    assert leading > 5


def test_an_agent_of_cube_goes_where_its_way_said(episodes: Mapping[str, Path]) -> None:
    """Where it did not wait: each first point is where the agent is, and most next ones where it is a step later."""
    folder = episodes["cube"]
    pictures: Any = read_episode(folder).film.page(0)["pictures"]
    ways = ways_of(folder)
    marks: dict[str, tuple[float, float]] = {}
    places = []
    for frame in pictures["frames"]:
        for name, _, x, y, *_ in frame.get("m", []):
            marks[pictures["names"][name]] = x + 0.5, y + 0.5
        moved = frame.get("p", [])
        for name, x, y in zip(moved[::3], moved[1::3], moved[2::3], strict=True):
            marks[pictures["names"][name]] = x + 0.5, y + 0.5
        places.append(dict(marks))
    went = stood = 0
    for t, led in enumerate(ways[:-1]):
        for agent, (points, _) in led.items():
            assert tuple(points[:2]) == places[t][f"agent_{agent}"]
            if len(points) > 2:
                after = places[t + 1][f"agent_{agent}"]
                went += tuple(points[2:4]) == after
                stood += after == places[t][f"agent_{agent}"]
    assert went > 10
    assert went > 3 * stood


def test_a_world_that_tells_no_ways_has_none(episodes: Mapping[str, Path]) -> None:
    pictures = read_episode(episodes["squeeze"]).film.page(0)["pictures"]
    assert pictures is not None
    assert not pictures["ways"]
    assert not any("w" in frame for frame in pictures["frames"])


def test_a_step_along_a_way_is_written_as_one_number(episodes: Mapping[str, Path]) -> None:
    pictures = read_episode(episodes["cube"]).film.page(0)["pictures"]
    assert pictures is not None
    assert sum(len(frame.get("s", [])) for frame in pictures["frames"]) > 20
