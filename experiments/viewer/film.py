"""The pictures of an episode: replayed from seed and joint actions, and kept as what changes from step to step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, islice, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from maeil.contracts import check_type
from maeil.drawing import Canvas, Drawable, Drawing, Mark, ShowsWays
from maeil.user_errors import UserError
from maeil.world import World
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.results.recorded_episode import rebuild_world
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer.pages import Json, MadePages, rounded
from quorum.experiments.viewer.replayed import Replayed, Script


class Film(MadePages[Json]):
    """The pictures of an episode, by the pages of its lanes.

    Args:
        folder: of the run; its configuration builds the world.
        script: what is replayed.
        firsts: the step that each page begins with.
        used: the primitives of each page.
    """

    def __init__(
        self, folder: RunFolder, script: Script, firsts: Sequence[int], used: Sequence[Collection[int]]
    ) -> None:
        super().__init__()
        self._folder = folder
        self._script = script
        self._firsts = firsts
        self._used = used

    def _made(self) -> Iterator[Json]:
        if self._script.world is None:
            yield from (_nothing() for _ in self._firsts)
            return
        try:
            world = rebuild_world(self._folder.configuration())
        except UserError as error:
            reason = error.brief if isinstance(error, DamagedFile) else error.message
            nothing = _nothing(f"The world cannot be built again, so it is not drawn: {reason}")
            yield from (nothing for _ in self._firsts)
            return
        if not isinstance(world, Drawable):
            reason = f"The world {self._script.world!r} has no pictures (maeil.drawing.Drawable)."
            nothing = _nothing(reason, phrases=_phrases(world))
            yield from (nothing for _ in self._firsts)
            return
        yield from self._drawn(world)

    def _drawn(self, world: World) -> Iterator[Json]:
        assert isinstance(world, Drawable)
        canvas: Canvas | None = None

        def see() -> Drawing:
            nonlocal canvas
            canvas = canvas or world.canvas()
            return check_type(world.draw(), Drawing, world.draw, "a maeil.drawing.Drawing")

        drawings = Replayed(self._script.events(), world, see, "the world is shown")
        phrases = _phrases(world)
        for number, first in enumerate(self._firsts):
            last = number + 1 == len(self._firsts)
            writer = _DifferenceWriter()
            for drawing in islice(drawings, None if last else self._firsts[number + 1] - first):
                writer.add(drawing)
            if canvas is None:
                yield _nothing(*drawings.problems, phrases=phrases)
                continue
            ways = isinstance(world, ShowsWays)
            pictures = writer.pictures(canvas, first, ways=ways) if writer.frames else None
            primitives = dict(_named(world, self._used[number]))
            yield {
                "pictures": pictures,
                "primitives": primitives,
                "phrases": phrases,
                "problems": drawings.problems,
            }


def _nothing(*problems: str, phrases: Mapping[str, str] | None = None) -> Json:
    return {"pictures": None, "primitives": {}, "phrases": phrases or {}, "problems": list(problems)}


def _phrases(world: World) -> dict[str, str]:
    named = zip(world.vocabulary.names, world.vocabulary, strict=True)
    return {name: model.phrase for name, model in named if model.phrase}


def _named(world: Drawable, primitives: Collection[int]) -> Iterator[tuple[str, str]]:
    for primitive in sorted(primitives):
        try:
            yield str(primitive), world.primitive_name(primitive)
        except (ValueError, IndexError, KeyError):
            yield str(primitive), f"unknown ({primitive})"


class _DifferenceWriter:
    """Writes drawings as differences."""

    def __init__(self) -> None:
        self.frames: list[Json] = []
        self._first: bytes = b""
        self._ground: bytes = b""
        self._marks: dict[str, Mark] = {}
        self._caption = ""
        self._holdings: tuple[str, ...] = ()
        self._names: dict[str, int] = {}

    def add(self, drawing: Drawing) -> None:
        """Take the drawing of the next instant."""
        if not self.frames:
            self._first = self._ground = drawing.ground
        marks = drawing.marks
        frame: Json = {}
        if cells := self._cells(drawing.ground):
            frame["g"] = cells
        moved, changed = self._moves(marks)
        if moved:
            frame["p"] = moved
        if changed:
            frame["m"] = changed
        if gone := [self._names[name] for name in self._marks if name not in marks]:
            frame["d"] = gone
        held = enumerate(zip_longest(self._holdings, drawing.holdings, fillvalue=""))
        if holdings := [part for agent, (was, has) in held if was != has for part in (agent, has)]:
            frame["h"] = holdings
        if drawing.caption != self._caption:
            frame["c"] = drawing.caption
        self.frames.append(frame)
        self._ground, self._marks = drawing.ground, marks
        self._caption, self._holdings = drawing.caption, drawing.holdings

    def pictures(self, canvas: Canvas, first: int, *, ways: bool) -> Json:
        """Return what was written.

        Args:
            canvas: of all drawings.
            first: the step of the first one.
            ways: whether the world shows where actions lead.
        """
        runs = [part for kind, cells in groupby(self._first) for part in (kind, len(list(cells)))]
        return {
            "first": first,
            "canvas": canvas,
            "ground": runs,
            "names": list(self._names),
            "ways": ways,
            "frames": self.frames,
        }

    def _cells(self, ground: bytes) -> list[int]:
        if ground == self._ground:
            return []
        now = np.frombuffer(ground, dtype=np.uint8)
        cells = np.flatnonzero(now != np.frombuffer(self._ground, dtype=np.uint8))
        pairs: list[int] = np.stack((cells, now[cells]), axis=1).ravel().tolist()
        return pairs

    def _moves(self, marks: Mapping[str, Mark]) -> tuple[list[float], list[tuple[Any, ...]]]:
        moved: list[float] = []
        changed: list[tuple[Any, ...]] = []
        for name, mark in marks.items():
            was = self._marks.get(name)
            if was is mark or was == mark:
                continue
            index = self._names.setdefault(name, len(self._names))
            x, y, *rest = _VALUES(mark)
            if was is not None and list(_VALUES(was)[2:]) == rest:
                moved += (index, rounded(x), rounded(y))
            else:
                width, height, kind, label, title, agent, turn = rest
                box = (rounded(x), rounded(y), rounded(width), rounded(height))
                changed.append((index, kind, *box, label, title, -1 if agent is None else agent, turn.value))
        return moved, changed


_VALUES = attrgetter("x", "y", "width", "height", "kind", "label", "title", "agent", "turn")
