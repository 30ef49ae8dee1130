"""The pictures of an episode: replayed from seed and joint actions, and kept as what changes from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, zip_longest
from operator import attrgetter

import numpy as np

from maeil.drawing import Canvas, Drawable, Drawing, Mark
from maeil.errors import ReplayMismatch
from maeil.trace import Stamped, Trace, replay
from maeil.trace.events import StepTaken
from maeil.user_errors import UserError
from maeil.world import World
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.results.recorded_episode import rebuild_world
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer import contract
from quorum.experiments.viewer.lenient_reader import LenientTrace

_DIGITS = 3
"""Decimals of a length that are kept: a thousandth of a cell is less than a pixel."""


def film(trace: LenientTrace, folder: RunFolder) -> contract.Film:
    """Replay an episode and draw it.

    Args:
        trace: of the run.
        folder: of the run; its configuration builds the world.
    """
    if trace.start is None:
        return _nothing()
    try:
        world = rebuild_world(folder.configuration())
    except UserError as error:
        reason = error.brief if isinstance(error, DamagedFile) else error.message
        return _nothing(f"The world cannot be built again, so it is not drawn: {reason}")
    if not isinstance(world, Drawable):
        return _nothing(f"The world {trace.start.world!r} has no pictures (maeil.drawing.Drawable).")
    return _drawn(trace, world)


def _nothing(*problems: str) -> contract.Film:
    return {"pictures": None, "primitives": {}, "problems": list(problems)}


def _drawn(trace: LenientTrace, world: World) -> contract.Film:
    assert isinstance(world, Drawable)
    writer = _DifferenceWriter()
    problems: list[str] = []
    canvas: Canvas | None = None
    try:
        for _ in replay(Trace(_unbroken(trace)), world):
            canvas = canvas or world.canvas()
            writer.add(world.draw())
    except ReplayMismatch as mismatch:
        problems.append(
            "The recorded episode is not what its seed and actions give in this version, "
            f"so the world is shown up to there only: {str(mismatch)[:500]}"
        )
    except Exception as error:  # a damaged trace may ask of a world what it never would be asked
        problems.append(f"The world is shown up to step {len(writer.frames)} only: {type(error).__name__}: {error}")
    if canvas is None:
        return _nothing(*problems)
    used = {code for s in trace.events if isinstance(s.event, StepTaken) for code in s.event.joint}
    return {"pictures": writer.pictures(canvas), "primitives": dict(_named(world, used)), "problems": problems}


def _unbroken(trace: LenientTrace) -> tuple[Stamped, ...]:
    """Return the events without the steps that come after a lost one."""
    kept: list[Stamped] = []
    step = 0
    for stamped in trace.events:
        if isinstance(stamped.event, StepTaken):
            if stamped.t != step:
                break
            step += 1
        kept.append(stamped)
    return tuple(kept)


def _named(world: Drawable, primitives: set[int]) -> Iterator[tuple[str, str]]:
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

    def add(self, drawing: Drawing) -> None:
        """Take the drawing of the next instant."""
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
        self.frames.append(frame)
        self._ground, self._marks = drawing.ground, marks
        self._caption, self._holdings = drawing.caption, drawing.holdings

    def pictures(self, canvas: Canvas) -> contract.Pictures:
        """Return what was written."""
        runs = [part for kind, cells in groupby(self._first) for part in (kind, len(list(cells)))]
        return {"canvas": canvas, "ground": runs, "names": list(self._names), "frames": self.frames}

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


_VALUES = attrgetter("x", "y", "width", "height", "kind", "label", "title", "agent", "turn")


def _rounded(length: float) -> float:
    return length if type(length) is int else round(length, _DIGITS)
