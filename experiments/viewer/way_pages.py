"""Where plans lead, by the pages of an episode: a replay of its own, made when somebody wants to see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from maeil.drawing import ShowsWays, Way
from maeil.user_errors import UserError
from maeil.world import World
from quorum.experiments.results.recorded_episode import rebuild_world
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer.lengths import rounded
from quorum.experiments.viewer.making import MadePages
from quorum.experiments.viewer.pages import Json
from quorum.experiments.viewer.replayed import Replayed
from quorum.experiments.viewer.script import Script
from quorum.experiments.viewer.ways import Ways, turns


class WayPages(MadePages[Json]):
    """The ways of an episode, by the pages of its lanes. Why a world cannot be built, its film tells.

    Args:
        folder: of the run; its configuration builds the world.
        script: what is replayed.
        firsts: the step that each page begins with.
    """

    def __init__(self, folder: RunFolder, script: Script, firsts: Sequence[int]) -> None:
        super().__init__()
        self._folder = folder
        self._script = script
        self._firsts = firsts

    def _made(self) -> Iterator[Json]:
        world = self._world()
        if world is None or not isinstance(world, ShowsWays):
            for first in self._firsts:
                yield {"first": first, "frames": [], "problems": []}
            return
        going = Ways(world)
        seen = Replayed(going.watched(self._script.events()), world, going.now, "paths are shown")
        for number, first in enumerate(self._firsts):
            last = number + 1 == len(self._firsts)
            frames = []
            before: Mapping[int, Way] = {}
            for ways in islice(seen, None if last else self._firsts[number + 1] - first):
                frames.append(_difference(before, ways))
                before = ways
            yield {"first": first, "frames": frames, "problems": seen.problems}

    def _world(self) -> World | None:
        try:
            return rebuild_world(self._folder.configuration()) if self._script.world is not None else None
        except UserError:
            return None


def _difference(before: Mapping[int, Way], ways: Mapping[int, Way]) -> Json:
    """Return whose way has become one cell shorter, and the ways that are others; an empty one is none."""
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
    frame: Json = {}
    if gone_on:
        frame["s"] = gone_on
    if changed:
        frame["w"] = changed
    return frame


_NO_WAY = Way()
