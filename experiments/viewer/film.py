"""The pictures of an episode: replayed from seed and joint actions, and kept as what changes from step to step."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, islice, zip_longest
from operator import attrgetter
from threading import Lock

import numpy as np
import orjson

from maeil.contracts import promised
from maeil.drawing import Canvas, Drawable, Drawing, Mark, ShowsWays, Way
from maeil.errors import ReplayMismatch
from maeil.trace import replay_events
from maeil.user_errors import UserError
from maeil.world import World
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.common.their_code import told
from quorum.experiments.results.recorded_episode import rebuild_world
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer import contract
from quorum.experiments.viewer.pages import packed
from quorum.experiments.viewer.script import Script
from quorum.experiments.viewer.ways import Ways, turns

_DIGITS = 3
"""Decimals of a length that are kept: a thousandth of a cell is less than a pixel."""


class Film:
    """The pictures of an episode, by the pages of its lanes. A page is made when it or a later one is asked for, once.

    Args:
        folder: of the run; its configuration builds the world.
        script: what is replayed.
        firsts: the step that each page begins with.
        used: the primitives of each page.
    """

    def __init__(
        self, folder: RunFolder, script: Script, firsts: Sequence[int], used: Sequence[Collection[int]]
    ) -> None:
        self._folder = folder
        self._script = script
        self._firsts = firsts
        self._used = used
        self._packed: list[bytes] = []
        self._coming = self._pages()
        self._making = Lock()

    def data(self, number: int) -> bytes:
        """Return the pictures of a page as JSON. Pages that are made do not wait for one that is being made.

        Raises:
            IndexError: there is no such page.
        """
        if number >= len(self._packed):
            with self._making:
                while number >= len(self._packed):
                    made = next(self._coming, None)
                    if made is None:
                        raise IndexError(number)
                    self._packed.append(packed(made))
        return zlib.decompress(self._packed[number])

    def page(self, number: int) -> contract.Film:
        """Return the pictures of a page as they are read from their JSON."""
        page: contract.Film = orjson.loads(self.data(number))
        return page

    def _pages(self) -> Iterator[contract.Film]:
        """Make the pages, one after the other."""
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

    def _drawn(self, world: World) -> Iterator[contract.Film]:
        assert isinstance(world, Drawable)
        drawings, phrases = _Drawings(self._script, world), _phrases(world)
        tells_ways = isinstance(world, ShowsWays)
        for number, first in enumerate(self._firsts):
            last = number + 1 == len(self._firsts)
            writer = _DifferenceWriter()
            for drawing in islice(drawings, None if last else self._firsts[number + 1] - first):
                writer.add(drawing, drawings.ways)
            if drawings.canvas is None:
                yield _nothing(*drawings.problems, phrases=phrases)
                continue
            pictures = writer.pictures(drawings.canvas, first, ways=tells_ways) if writer.frames else None
            primitives = dict(_named(world, self._used[number]))
            yield {
                "pictures": pictures,
                "primitives": primitives,
                "phrases": phrases,
                "problems": drawings.problems,
            }


class _Drawings:
    """The drawings of a replay, as long as it goes."""

    def __init__(self, script: Script, world: World) -> None:
        assert isinstance(world, Drawable)
        self.canvas: Canvas | None = None
        self.problems: list[str] = []
        """Why there are no more."""
        self.ways: dict[int, Way] = {}
        """Where agents' actions lead in the last one."""
        self._drawable: Drawable = world
        self._going = Ways(world)
        self._states = replay_events(self._going.watched(script.events()), world)
        self._drawn = 0

    def __iter__(self) -> Iterator[Drawing]:
        """Go on with the replay."""
        return self

    def __next__(self) -> Drawing:
        """Return the next drawing; none where the episode ends or cannot be replayed further."""
        try:
            next(self._states)
            self.canvas = self.canvas or self._drawable.canvas()
            draw = self._drawable.draw
            drawing = promised(draw(), Drawing, draw, "a maeil.drawing.Drawing")
            self.ways = self._going.now()
        except StopIteration:
            raise
        except ReplayMismatch as mismatch:
            self.problems.append(
                "The recorded episode is not what its seed and actions give in this version, "
                f"so the world is shown up to there only: {str(mismatch)[:500]}"
            )
        except Exception as error:  # a damaged trace may ask of a world what it never would be asked
            mistake = told(error)
            why = mistake.message if mistake is not None else f"{type(error).__name__}: {error}"
            self.problems.append(f"The world is shown up to step {self._drawn} only: {why}")
        else:
            self._drawn += 1
            return drawing
        self._states = iter(())
        raise StopIteration


def _nothing(*problems: str, phrases: Mapping[str, str] | None = None) -> contract.Film:
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
        self.frames: list[contract.Frame] = []
        self._first: bytes = b""
        self._ground: bytes = b""
        self._marks: dict[str, Mark] = {}
        self._caption = ""
        self._holdings: tuple[str, ...] = ()
        self._names: dict[str, int] = {}
        self._ways: Mapping[int, Way] = {}

    def add(self, drawing: Drawing, ways: Mapping[int, Way]) -> None:
        """Take the drawing of the next instant, and where agents' actions lead then."""
        if not self.frames:
            self._first = self._ground = drawing.ground
        marks = drawing.marks
        frame: contract.Frame = {}
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
        gone_on, led = self._led(ways)
        if gone_on:
            frame["s"] = gone_on
        if led:
            frame["w"] = led
        self.frames.append(frame)
        self._ways = ways
        self._ground, self._marks = drawing.ground, marks
        self._caption, self._holdings = drawing.caption, drawing.holdings

    def pictures(self, canvas: Canvas, first: int, *, ways: bool) -> contract.Pictures:
        """Return what was written.

        Args:
            canvas: of all drawings.
            first: the step of the first one.
            ways: whether the world tells where actions lead.
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

    def _moves(self, marks: Mapping[str, Mark]) -> tuple[list[float], list[contract.ChangedMark]]:
        moved: list[float] = []
        changed: list[contract.ChangedMark] = []
        for name, mark in marks.items():
            was = self._marks.get(name)
            if was is mark or was == mark:
                continue
            index = self._names.setdefault(name, len(self._names))
            x, y, *rest = _VALUES(mark)
            if was is not None and list(_VALUES(was)[2:]) == rest:
                moved += (index, _rounded(x), _rounded(y))
            else:
                width, height, kind, label, title, agent, turn = rest
                box = (_rounded(x), _rounded(y), _rounded(width), _rounded(height))
                changed.append((index, kind, *box, label, title, -1 if agent is None else agent, turn.value))
        return moved, changed

    def _led(self, ways: Mapping[int, Way]) -> tuple[list[float], list[contract.ChangedWay]]:
        """Return whose way has become one cell shorter, and the ways that are others; an empty one is none."""
        gone_on: list[float] = []
        changed: list[contract.ChangedWay] = []
        for agent in sorted({*self._ways, *ways}):
            was, now = self._ways.get(agent, _NO_WAY), ways.get(agent, _NO_WAY)
            if was == now:
                continue
            if now.points and was.target == now.target and was.points[1:] == now.points:
                gone_on += (agent, *map(_rounded, now.points[0]))
            else:
                points = [_rounded(length) for point in turns(now.points) for length in point]
                changed.append((agent, points, [_rounded(length) for length in now.target or ()]))
        return gone_on, changed


_NO_WAY = Way()
_VALUES = attrgetter("x", "y", "width", "height", "kind", "label", "title", "agent", "turn")


def _rounded(length: float) -> float:
    return length if type(length) is int else round(length, _DIGITS)
