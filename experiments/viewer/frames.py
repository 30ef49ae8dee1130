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
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from pydantic import ValidationError

from experiments.errors import UserError
from experiments.registry import worlds
from experiments.viewer.tolerant import Reading
from maeil.drawing import Drawable, Drawing, Mark
from maeil.errors import ReplayMismatch
from maeil.trace import Trace, replay
from maeil.trace.events import StepTaken
from maeil.world import World

_EMPTY = Drawing(b"", {})
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
    world: World = component.build(component.config.model_validate(values))
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
        self._last = _EMPTY
        self._names: dict[str, int] = {}

    def add(self, drawing: Drawing) -> None:
        """Take the drawing of the next instant."""
        drawing = replace(drawing, marks={name: _rounded(mark) for name, mark in drawing.marks.items()})
        if not self.frames:
            self._first = drawing.ground
        self.frames.append({key: value for key, value in self._changes(drawing) if value != []})
        self._last = drawing

    def plain(self) -> dict[str, Any]:
        """Give what was written."""
        runs = [part for kind, cells in groupby(self._first) for part in (kind, len(list(cells)))]
        return {"ground": runs, "names": list(self._names), "frames": self.frames}

    def _changes(self, new: Drawing) -> Iterator[tuple[str, Any]]:
        old = self._last
        if self.frames and old.ground != new.ground:
            now = np.frombuffer(new.ground, dtype=np.uint8)
            cells = np.flatnonzero(now != np.frombuffer(old.ground, dtype=np.uint8))
            yield "g", np.stack((cells, now[cells]), axis=1).ravel().tolist()
        moved: list[float] = []
        changed: list[list[Any]] = []
        for name, mark in new.marks.items():
            was = old.marks.get(name)
            if was == mark:
                continue
            index = self._names.setdefault(name, len(self._names))
            if was is not None and replace(was, x=mark.x, y=mark.y) == mark:
                moved += (index, mark.x, mark.y)
            else:
                changed.append([index, *_values(mark)])
        yield "p", moved
        yield "m", changed
        yield "d", [self._names[name] for name in old.marks if name not in new.marks]
        if new.caption != old.caption:
            yield "c", new.caption
        held = old.holdings or ("",) * len(new.holdings)
        pairs_held = enumerate(zip(held, new.holdings, strict=True))
        yield "h", [part for agent, (was_held, has) in pairs_held if was_held != has for part in (agent, has)]


def _rounded(mark: Mark) -> Mark:
    lengths = (mark.x, mark.y, mark.width, mark.height)
    if all(type(length) is int for length in lengths):
        return mark
    x, y, width, height = (round(length, _DIGITS) for length in lengths)
    return replace(mark, x=x, y=y, width=width, height=height)


def _values(mark: Mark) -> tuple[Any, ...]:
    return (
        mark.kind, mark.x, mark.y, mark.width, mark.height,
        mark.label, mark.title, -1 if mark.agent is None else mark.agent, mark.turn.value,
    )  # fmt: skip
