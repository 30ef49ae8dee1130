"""Where running actions lead at each instant of a replay, in the pages of an episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from maeil.contracts import check_type
from maeil.errors import InvalidThought
from maeil.plans import PlanStatus
from maeil.trace import Stamped
from maeil.trace import events as e
from maeil.world import Controller, World, closing_world
from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.film import built_world
from quorum.view.viewer.pages import Json, rounded
from quorum.view.viewer.replayed import Replayed, Script
from quorum_base.drawing import ShowsWays, Way

_FINAL = frozenset(status.value for status in PlanStatus if status.final)
Point = tuple[float, float]
_Running = tuple[str, int]
"""Id of the plan, and index of its action."""


class Ways:
    """The ways of running actions, while a world is replayed from events.

    The actions come from the trace. Their controllers are started, called and closed as in the loop, so a way is the
    one that the action would take.

    Args:
        world: the replayed world; if it shows no ways, none are found.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._plans: dict[str, Sequence[Mapping[str, Any]]] = {}
        self._running: dict[int, _Running] = {}
        """By agent, as far as the events have been read."""
        self._controllers: dict[int, tuple[_Running, Controller]] = {}

    def watched(self, events: Iterable[Stamped]) -> Iterator[Stamped]:
        """Pass events on to a replay, after processing all events up to the first step in advance."""
        coming = self._noted(events)
        first = []
        for stamped in coming:
            first.append(stamped)
            if isinstance(stamped.event, e.StepTaken):
                break
        yield from first
        yield from coming

    def now(self) -> dict[int, Way]:
        """Return the way of each agent that has one; call it once for each state, before its step is taken."""
        world = self._world
        if not isinstance(world, ShowsWays):
            return {}
        self._start_and_close(world)
        found: dict[int, Way] = {}
        for agent, (_, controller) in self._controllers.items():
            if controller.status() is not None:
                continue
            way = world.way(controller)
            if way is not None:
                found[agent] = check_type(way, Way, world.way, "a quorum_base.drawing.Way, or None")
            controller.act()
        return found

    def _noted(self, events: Iterable[Stamped]) -> Iterator[Stamped]:
        for stamped in events:
            event = stamped.event
            if isinstance(event, e.PlanChange):
                if event.actions is not None:
                    self._plans[event.plan] = event.actions
                if event.status in _FINAL:
                    self._plans.pop(event.plan, None)
            elif isinstance(event, e.ActionChange):
                key = event.plan, event.index
                if event.status == "started":
                    self._running[event.agent] = key
                elif self._running.get(event.agent) == key:
                    del self._running[event.agent]
            yield stamped

    def _start_and_close(self, world: World) -> None:
        for agent, (key, controller) in list(self._controllers.items()):
            if self._running.get(agent) != key:
                controller.close()
                del self._controllers[agent]
        for agent, key in self._running.items():
            if agent not in self._controllers and agent in range(len(world.agents)):
                plan, index = key
                record = dict(enumerate(self._plans.get(plan, ()))).get(index)
                try:
                    action = world.vocabulary.parse(record) if record is not None else None
                except InvalidThought:  # another version, or damaged
                    action = None
                if action is not None:
                    self._controllers[agent] = key, world.start_action(agent, action)


def turns(points: Sequence[Point]) -> Iterator[Point]:
    """Yield the first point of a way, its turning points, and the last one, which give the same line."""
    yield from points[:1]
    for (x, y), (u, v), (right, down) in zip(points, points[1:], points[2:], strict=False):
        if u - x != right - u or v - y != down - v:
            yield u, v
    yield from points[1:][-1:]


def way_pages(folder: RunFolder, name: str | None, script: Script, firsts: Sequence[int]) -> Iterator[Json]:
    """Yield the ways of an episode, in the pages of its lanes. The film reports why a world cannot be built.

    Args:
        folder: folder of the run; its configuration builds the world.
        name: name of the world; None for a trace without a start.
        script: the events to replay.
        firsts: the first step of each page.
    """
    world, _ = built_world(folder, name)
    if world is None or not isinstance(world, ShowsWays):
        yield from ({"first": first, "frames": [], "problems": []} for first in firsts)
        return
    with closing_world(world):
        going = Ways(world)
        seen = Replayed(going.watched(script.events()), world, going.now, "paths are shown")
        for first, instants in seen.pages(firsts):
            frames = [_difference(before, ways) for before, ways in pairwise(chain([{}], instants))]
            yield {"first": first, "frames": frames, "problems": seen.problems}


def _difference(before: Mapping[int, Way], ways: Mapping[int, Way]) -> Json:
    """Return the agents whose way has become one cell shorter, and the ways that changed; an empty way means none."""
    gone_on: list[float] = []
    changed: list[tuple[Any, ...]] = []
    for agent in sorted({*before, *ways}):
        was, now = before.get(agent, _NO_WAY), ways.get(agent, _NO_WAY)
        if was == now:
            continue
        if now.points and was.target == now.target and was.points[1:] == now.points:
            gone_on += (agent, *map(rounded, now.points[0]))
        else:
            points = [rounded(length) for point in turns(now.points) for length in point]
            changed.append((agent, points, [rounded(length) for length in now.target or ()]))
    return {key: value for key, value in {"s": gone_on, "w": changed}.items() if value}


_NO_WAY = Way()
