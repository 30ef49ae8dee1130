"""Where plans lead, as the page of an episode gets it: from the trace alone, and no longer than an action runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from cube_env.symbolic.actions import Direction, Move
from maeil.trace import Stamped, read_trace, replay_events
from maeil.trace.events import ActionChange, PlanChange
from quorum.runs.recorded_episode import rebuild_world
from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.pages import Json
from quorum.view.viewer.ways import Point, Ways, turns
from tests.cube_env.acting import OPEN, world

Shown = dict[int, tuple[list[float], list[float]]]


def shown(page: Json) -> Iterator[Shown]:
    """The ways of each frame: turns and target by agent."""
    ways: Shown = {}
    for frame in page["frames"]:
        along = frame.get("s", [])
        for agent, x, y in zip(map(int, along[::3]), along[1::3], along[2::3], strict=True):
            points, target = ways[agent]
            ways[agent] = [x, y, *points[4 if points[2:4] == [x, y] else 2 :]], target
        for agent, points, target in frame.get("w", []):
            ways[agent] = list(points), list(target)
            if not points and not target:
                del ways[agent]
        yield dict(ways)


def ways_of(folder: Path) -> list[Shown]:
    page = orjson.loads(read_episode(folder).ways.data(0))
    assert page["problems"] == []
    return list(shown(page))


def cells(kept: list[float]) -> list[tuple[float, float]]:
    """The middles of all cells of a way."""
    found = []
    x, y = kept[:2]
    for u, v in zip(kept[2::2], kept[3::2], strict=True):
        while (x, y) != (u, v):
            found.append((x, y))
            x, y = x + np.sign(u - x), y + np.sign(v - y)
    return [*found, (x, y)]


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


@pytest.mark.parametrize("name", LEADS)
def test_an_action_has_a_way_as_long_as_it_runs_and_no_longer(episodes: Mapping[str, Path], name: str) -> None:
    ways, actions = ways_of(episodes[name]), running(episodes[name])
    assert len(ways) == len(actions)
    leading = 0
    for t, (led, now) in enumerate(zip(ways, actions, strict=True)):
        assert set(led) <= set(now), t
        wanted = {agent for agent, action in now.items() if action in LEADS[name]}
        leading += len(wanted)
        assert wanted <= set(led), t
    assert leading > 5


def test_an_agent_of_cube_goes_where_its_way_said(episodes: Mapping[str, Path]) -> None:
    """Where it did not wait: each first point is where the agent is, and most next ones where it is a step later."""
    folder = episodes["cube"]
    pictures: Any = orjson.loads(read_episode(folder).film.data(0))["pictures"]
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
            here, *rest = cells(points)
            assert here == places[t][f"agent_{agent}"]
            if rest:
                after = places[t + 1][f"agent_{agent}"]
                went += rest[0] == after
                stood += after == places[t][f"agent_{agent}"]
    assert went > 10
    assert went > 3 * stood


def test_a_world_that_tells_no_ways_has_none(episodes: Mapping[str, Path]) -> None:
    pictures = orjson.loads(read_episode(episodes["squeeze"]).film.data(0))["pictures"]
    assert pictures is not None
    assert not pictures["ways"]
    assert orjson.loads(read_episode(episodes["squeeze"]).ways.data(0)) == {"first": 0, "frames": [], "problems": []}


def test_a_way_that_is_walked_on_is_not_written_again(episodes: Mapping[str, Path]) -> None:
    frames = orjson.loads(read_episode(episodes["cube"]).ways.data(0))["frames"]
    assert sum(len(frame.get("s", [])) // 3 for frame in frames) > 20


def test_every_cell_of_a_way_follows_from_what_is_written(episodes: Mapping[str, Path]) -> None:
    folder = episodes["cube"]
    cube = rebuild_world(RunFolder(folder).configuration())
    going = Ways(cube)
    states = replay_events(going.watched(read_trace(folder).events), cube)
    for _, led in zip(states, ways_of(folder), strict=True):
        expected = {agent: way.points for agent, way in going.now().items()}
        assert {agent: tuple(cells(kept)) for agent, (kept, _) in led.items()} == expected


TURNS: list[tuple[list[Point], list[Point]]] = [
    ([], []),
    ([(3, 4)], [(3, 4)]),
    ([(0, 0), (1, 0)], [(0, 0), (1, 0)]),
    ([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)], [(0, 0), (2, 0), (2, 2)]),
    ([(0, 0), (1, 1), (2, 1), (3, 1), (4, 2)], [(0, 0), (1, 1), (3, 1), (4, 2)]),
    ([(0, 0), (1, 0), (0, 0)], [(0, 0), (1, 0), (0, 0)]),
]


@pytest.mark.parametrize(("points", "expected"), TURNS)
def test_a_way_turns_where_its_next_step_is_another(points: list[Point], expected: list[Point]) -> None:
    assert list(turns(points)) == expected


def test_what_is_left_of_a_blind_walk_grows_shorter_by_each_step() -> None:
    cube = world(OPEN)
    walk = Move(direction=Direction.down, steps=3)
    plan = PlanChange("P0.1", 0, "committed", actions=[{"action": walk.action, **walk.arguments()}])
    started = (plan, ActionChange("P0.1", 0, 0, walk.action, "started"))
    ways = Ways(cube)
    list(ways.watched(Stamped(seq, 0, 0, 0.0, event) for seq, event in enumerate(started)))
    left = []
    for _ in range(4):
        left.append([len(way.points) - 1 for way in ways.now().values()])
        cube.step([0, 0])  # blocked steps count as well
    assert left == [[3], [2], [1], []]
