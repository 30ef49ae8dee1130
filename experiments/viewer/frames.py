"""The pictures of an episode: replayed from seed and joint actions, and kept as what changes from step to step.

The form, as JSON: `canvas`; `ground`, the first one as runs `[kind, cells, kind, cells, ...]`; `names` of all marks;
`frames`, one for each instant `t`, each with what differs from the one before it:

- `g`: `[cell, kind, ...]`, cells whose ground changed;
- `p`: `[name, x, y, ...]`, marks that only moved; names are indices into `names`;
- `m`: `[[name, kind, x, y, width, height, label, title, agent, turn], ...]`, marks that are new or changed;
- `d`: `[name, ...]`, marks that are gone;
- `c`: the caption; `h`: `[agent, holding, ...]`.

A key is left out where it has nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np
from pydantic import ValidationError

from maeil.drawing import Drawable, Drawing
from maeil.errors import ReplayMismatch
from maeil.trace import Trace, replay
from maeil.trace.events import StepTaken
from maeil.user_errors import UserError
from maeil.world import World
from quorum.experiments.configuration.registry import worlds
from quorum.experiments.viewer.lenient_reader import Reading

_DIGITS = 3
"""Decimals of a length that are kept: a thousandth of a cell is less than a pixel."""


@dataclass(frozen=True, slots=True)
class Film:
    """The pictures of an episode.

    Attributes:
        plain: JSON-ready, in the form above; None where the world cannot be drawn at all.
        primitives: the name of each primitive that was used.
        problems: why there are fewer pictures than steps.
    """

    plain: dict[str, Any] | None
    primitives: Mapping[int, str]
    problems: tuple[str, ...]

    def reel(self) -> dict[str, Any]:
        """Give all of it, JSON-ready."""
        names = {str(code): name for code, name in self.primitives.items()}
        return {"pictures": self.plain, "primitives": names, "problems": self.problems}


def film(reading: Reading, configuration: Mapping[str, Any] | None) -> Film:
    """Replay an episode and draw it.

    Args:
        reading: its trace.
        configuration: the resolved configuration of the run; None where it cannot be read.
    """
    if reading.start is None:
        return Film(None, {}, ())
    try:
        world = _world(configuration)
    except (UserError, ValueError, TypeError, KeyError, MemoryError) as error:
        return Film(None, {}, (f"The world cannot be built again, so it is not drawn: {_told(error)}",))
    if not isinstance(world, Drawable):
        return Film(None, {}, (f"The world {reading.start.world!r} has no pictures (maeil.drawing.Drawable).",))
    return _filmed(reading, world)


def _world(configuration: Mapping[str, Any] | None) -> World:
    if configuration is None:
        raise ValueError("its configuration is not there")
    values = configuration["env"]
    component = worlds.get(str(values["name"]))
    world: World = component.build(component.config.model_validate(values), None)
    return world


def _told(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"env.{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
    if isinstance(error, UserError):
        return error.message
    return f"no {error} in its configuration" if isinstance(error, KeyError) else str(error)


def _filmed(reading: Reading, world: World) -> Film:
    assert isinstance(world, Drawable)
    writer = _Writer()
    problems: list[str] = []
    canvas: Any = None
    try:
        for _ in replay(Trace(_unbroken(reading)), world):
            canvas = canvas or world.canvas()
            writer.add(world.draw())
    except ReplayMismatch as mismatch:
        problems.append(
            "The recorded episode is not what its seed and actions give in this version, "
            f"so the world is shown up to there only: {str(mismatch)[:500]}"
        )
    except Exception as error:  # a damaged trace may ask of a world what it never would be asked
        problems.append(f"The world is shown up to step {len(writer.frames)} only: {type(error).__name__}: {error}")
    used = {code for s in reading.events if isinstance(s.event, StepTaken) for code in s.event.joint}
    names = dict(_named(world, used)) if canvas is not None else {}
    if canvas is None:
        return Film(None, names, tuple(problems))
    return Film({"canvas": asdict(canvas), **writer.plain()}, names, tuple(problems))


def _unbroken(reading: Reading) -> tuple[Any, ...]:
    """Give the events without the steps that come after a lost one."""
    kept, step = [], 0
    for stamped in reading.events:
        if isinstance(stamped.event, StepTaken):
            if stamped.t != step:
                break
            step += 1
        kept.append(stamped)
    return tuple(kept)


def _named(world: Drawable, primitives: set[int]) -> Iterator[tuple[int, str]]:
    for primitive in sorted(primitives):
        try:
            yield primitive, world.primitive_name(primitive)
        except (ValueError, IndexError, KeyError):
            yield primitive, f"unknown ({primitive})"


class _Writer:
    """Writes drawings as differences."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self._first: bytes = b""
        self._ground: bytes = b""
        self._marks: dict[str, tuple[Any, ...]] = {}
        self._caption = ""
        self._holdings: tuple[str, ...] = ()
        self._names: dict[str, int] = {}

    def add(self, drawing: Drawing) -> None:
        """Take the drawing of the next instant."""
        if not self.frames:
            self._first = self._ground = drawing.ground
        marks = {name: _VALUES(mark) for name, mark in drawing.marks.items()}
        changes = {"g": self._cells(drawing.ground), **self._moves(marks)}
        held = enumerate(zip_longest(self._holdings, drawing.holdings, fillvalue=""))
        changes["h"] = [part for agent, (was, has) in held if was != has for part in (agent, has)]
        frame: dict[str, Any] = {key: found for key, found in changes.items() if found}
        if drawing.caption != self._caption:
            frame["c"] = drawing.caption
        self.frames.append(frame)
        self._ground, self._marks = drawing.ground, marks
        self._caption, self._holdings = drawing.caption, drawing.holdings

    def plain(self) -> dict[str, Any]:
        """Give what was written."""
        runs = [part for kind, cells in groupby(self._first) for part in (kind, len(list(cells)))]
        return {"ground": runs, "names": list(self._names), "frames": self.frames}

    def _cells(self, ground: bytes) -> list[int]:
        if ground == self._ground:
            return []
        now = np.frombuffer(ground, dtype=np.uint8)
        cells = np.flatnonzero(now != np.frombuffer(self._ground, dtype=np.uint8))
        pairs: list[int] = np.stack((cells, now[cells]), axis=1).ravel().tolist()
        return pairs

    def _moves(self, marks: Mapping[str, tuple[Any, ...]]) -> dict[str, list[Any]]:
        moved: list[float] = []
        changed: list[list[Any]] = []
        for name, mark in marks.items():
            was = self._marks.get(name)
            if was == mark:
                continue
            index = self._names.setdefault(name, len(self._names))
            if was is not None and was[2:] == mark[2:]:
                moved += (index, _rounded(mark[0]), _rounded(mark[1]))
            else:
                x, y, width, height, kind, label, title, agent, turn = mark
                lengths = map(_rounded, (x, y, width, height))
                changed.append([index, kind, *lengths, label, title, -1 if agent is None else agent, turn.value])
        gone = [self._names[name] for name in self._marks if name not in marks]
        return {"p": moved, "m": changed, "d": gone}


_VALUES = attrgetter("x", "y", "width", "height", "kind", "label", "title", "agent", "turn")


def _rounded(length: float) -> float:
    return length if type(length) is int else round(length, _DIGITS)
