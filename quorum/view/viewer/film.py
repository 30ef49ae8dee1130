"""The pictures of an episode: replayed from seed and joint actions, and stored as differences between steps."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from PIL import Image

from maeil.contracts import check_type
from maeil.world import World, closing_world
from quorum.runs.recorded_episode import rebuild_world
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import DamagedFile
from quorum.view.viewer.pages import Json, code_of, rounded
from quorum.view.viewer.replayed import Replayed, Script
from quorum_base.drawing import Canvas, Drawable, Drawing, Mark, ShowsWays
from quorum_base.user_errors import UserError


def film_pages(
    folder: RunFolder, name: str | None, script: Script, firsts: Sequence[int], used: Sequence[Collection[int | str]]
) -> Iterator[Json]:
    """Yield the pictures of an episode, in the pages of its lanes.

    Args:
        folder: folder of the run; its configuration builds the world.
        name: name of the world; None for a trace without a start.
        script: the events to replay.
        firsts: the first step of each page.
        used: the primitives of each page, in the format of `code_of`.
    """
    world, why = built_world(folder, name)
    if world is None:
        yield from (_page(None, {}, {}, [why] if why else []) for _ in firsts)
        return
    phrases = _phrases(world)
    if not isinstance(world, Drawable):
        why = f"The world {name!r} has no pictures (quorum_base.drawing.Drawable)."
        yield from (_page(None, {}, phrases, [why]) for _ in firsts)
        return
    drawn: Drawable = world
    canvas: Canvas | None = None

    def see() -> Drawing:
        nonlocal canvas
        canvas = canvas or drawn.canvas()
        return check_type(drawn.draw(), Drawing, drawn.draw, "a quorum_base.drawing.Drawing")

    ways = isinstance(world, ShowsWays)
    with closing_world(world):
        drawings = Replayed(script.events(), world, see, "the world is shown")
        for (first, instants), primitives in zip(drawings.pages(firsts), used, strict=True):
            writer = _DifferenceWriter()
            for drawing in instants:
                writer.add(drawing)
            named = dict(primitive_names(drawn, primitives)) if canvas is not None else {}
            yield _page(writer.pictures(canvas, first, ways=ways), named, phrases, drawings.problems)


def built_world(folder: RunFolder, name: str | None) -> tuple[World | None, str]:
    """Return a fresh world of the run, or None and the reason, which is empty for a trace without a start."""
    if name is None:
        return None, ""
    try:
        return rebuild_world(folder.configuration()), ""
    except UserError as error:
        reason = error.brief if isinstance(error, DamagedFile) else error.message
        return None, f"The world cannot be rebuilt, so it is not drawn: {reason}"


def _page(
    pictures: Json | None, primitives: Mapping[str, str], phrases: Mapping[str, str], problems: list[str]
) -> Json:
    return {"pictures": pictures, "primitives": primitives, "phrases": phrases, "problems": problems}


def _phrases(world: World) -> dict[str, str]:
    named = zip(world.vocabulary.names, world.vocabulary, strict=True)
    return {name: model.phrase for name, model in named if model.phrase}


_OFF_TURN = code_of(None)


def primitive_names(world: Drawable, codes: Collection[int | str]) -> Iterator[tuple[str, str]]:
    """Yield each primitive in the format of pages, and its name."""
    for code in sorted(codes, key=str):
        try:
            primitive = code if isinstance(code, int) else orjson.loads(code)
            yield str(code), "off turn" if code == _OFF_TURN else world.primitive_name(primitive)
        except (ValueError, IndexError, KeyError, TypeError):
            yield str(code), f"unknown ({code})"


def _picture_url(image: npt.NDArray[np.uint8]) -> str:
    """Return a picture as a data URL of a PNG."""
    file = BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


class _DifferenceWriter:
    """Writes drawings as differences."""

    def __init__(self) -> None:
        self.frames: list[Json] = []
        self._first: bytes = b""
        self._ground: bytes = b""
        self._marks: dict[str, Mark] = {}
        self._caption = ""
        self._image: npt.NDArray[np.uint8] | None = None
        self._holdings: tuple[str, ...] = ()
        self._names: dict[str, int] = {}

    def add(self, drawing: Drawing) -> None:
        """Add the drawing of the next instant."""
        if not self.frames:
            self._first = self._ground = drawing.ground
        marks = drawing.marks
        moved, changed = self._moves(marks)
        held = enumerate(zip_longest(self._holdings, drawing.holdings, fillvalue=""))
        differences: Json = {
            "g": self._cells(drawing.ground),
            "p": moved,
            "m": changed,
            "d": [self._names[name] for name in self._marks if name not in marks],
            "h": [part for agent, (was, has) in held if was != has for part in (agent, has)],
        }
        frame = {key: value for key, value in differences.items() if value}
        if drawing.caption != self._caption:
            frame["c"] = drawing.caption
        if drawing.image is not None and (self._image is None or not np.array_equal(drawing.image, self._image)):
            frame["i"] = _picture_url(drawing.image)
            self._image = drawing.image
        self.frames.append(frame)
        self._ground, self._marks = drawing.ground, marks
        self._caption, self._holdings = drawing.caption, drawing.holdings

    def pictures(self, canvas: Canvas | None, first: int, *, ways: bool) -> Json | None:
        """Return the differences; None if there was no drawing.

        Args:
            canvas: canvas of all drawings; None before the first one.
            first: the step of the first one.
            ways: whether the world shows where actions lead.
        """
        if not self.frames:
            return None
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
