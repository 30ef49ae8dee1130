"""The contract of a picture: what a world looks like at one instant, as data that any canvas can draw.

A world that can be drawn is a `Drawable`: the viewer, the films and the terminal need no more of it. Everything is
JSON-ready, and general over worlds: a grid whose cells have a ground, and marks (agents, blocks, bars) that lie on it.
No kind differs from another by its colour alone: a shape, a texture or a sign goes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PAPER = 255
"""The ground of a cell that has none."""


class Shape(StrEnum):
    """The outline of a mark, within its rectangle."""

    BOX = "box"
    DISC = "disc"
    RING = "ring"  # the frame of a box; its texture lies within
    DIAMOND = "diamond"
    WEDGE = "wedge"  # a triangle that points to where its mark is turned


class Texture(StrEnum):
    """What lies over the colour of a kind."""

    PLAIN = "plain"
    DOTS = "dots"
    STRIPES = "stripes"  # rising to the right
    WAVES = "waves"
    CROSSES = "crosses"
    BRICKS = "bricks"


class Rotation(StrEnum):
    """Where a mark looks."""

    RIGHT = "right"
    DOWN = "down"
    LEFT = "left"
    UP = "up"


@dataclass(frozen=True, slots=True)
class MarkKind:
    """A kind of thing, as the legend shows it.

    Attributes:
        name: what it is called.
        light: its colour on light paper, `#rrggbb`.
        dark: its colour on dark paper.
        shape: the outline of marks of this kind; a ground fills its cell.
        texture: over the colour.
        sign: a character that stands in each cell of this ground; empty for none.
    """

    name: str
    light: str
    dark: str
    shape: Shape = Shape.BOX
    texture: Texture = Texture.PLAIN
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Canvas:
    """What stays as it is for a whole episode.

    Attributes:
        width: in cells.
        height: in cells.
        kinds: the legend; drawings name a kind by its index here. Fewer than `PAPER`. Marks of a later kind lie above
            those of an earlier one.
        ruled: whether lines part the cells.
        margin: cells of paper around it, for marks that stand over its edge.
    """

    width: int
    height: int
    kinds: tuple[MarkKind, ...]
    ruled: bool = True
    margin: float = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A thing on the picture. Lengths are in cells, from the top left corner of the picture.

    Attributes:
        kind: index in the legend.
        x: of its left edge.
        y: of its upper edge.
        width: of its rectangle.
        height: of its rectangle.
        label: a few characters that are written on it.
        title: what it is, in words, for whoever points at it.
        agent: index of the agent that it is; None for anything else.
        turn: where it looks.
    """

    kind: int
    x: float
    y: float
    width: float = 1
    height: float = 1
    label: str = ""
    title: str = ""
    agent: int | None = None
    turn: Rotation = Rotation.RIGHT


@dataclass(frozen=True, slots=True)
class Drawing:
    """A world at one instant.

    Attributes:
        ground: the kind of each cell, row by row, `PAPER` where there is none; empty where no cell has one.
        marks: by a name that stays with a thing from one instant to the next.
        caption: what there is to say of the instant, in a line; empty for nothing.
        holdings: what each agent has, in words, by index; empty where agents have nothing.
        image: a picture of the whole canvas below the marks, RGB, uint8 of shape (height, width, 3) in pixels, for a
            world that draws itself; None for a ground of cells.
    """

    ground: bytes
    marks: dict[str, Mark]
    caption: str = ""
    holdings: tuple[str, ...] = ()
    image: npt.NDArray[np.uint8] | None = None


@runtime_checkable
class Drawable(Protocol):
    """A world that can be drawn. It is asked between steps, and to be asked changes nothing."""

    def canvas(self) -> Canvas:
        """Return what stays as it is until the next reset."""

    def draw(self) -> Drawing:
        """Draw the world as it is."""

    def primitive_name(self, primitive: Any) -> str:
        """Return the name of a `maeil.acting.Primitive` other than None, for people."""


@runtime_checkable
class Pictured(Protocol):
    """A drawable world that renders its own pictures, without a caption; a terminal shows its text instead."""

    pictured: bool


@dataclass(frozen=True, slots=True)
class Way:
    """Where a running action leads. Lengths are in cells, from the top left corner of the picture.

    Attributes:
        points: (x, y) of the middle of each cell of the path that is still to go. The first is where the agent, or
            what it moves, is now; there is no other where nothing has to go anywhere.
        target: x, y, width and height of what the action is about: a cell, or a thing; None for nothing.
    """

    points: tuple[tuple[float, float], ...] = ()
    target: tuple[float, float, float, float] | None = None


@runtime_checkable
class ShowsWays(Protocol):
    """A drawable world that says where its symbolic actions lead, so that the viewer draws what plans mean to do."""

    def way(self, controller: Any) -> Way | None:
        """Return the path that an action would walk from here if nothing else moved, and its target.

        It changes nothing.

        Args:
            controller: the `maeil.world.Controller` of a running action: `start_action` gave it, and its `status()` is
                None.

        Returns:
            None where the action leads nowhere.
        """


class ObservationForm(StrEnum):
    """How a prompt shows a language model what a participant observes."""

    TEXT = "text"
    PICTURE = "picture"
    BOTH = "both"

    @property
    def has_text(self) -> bool:
        """Whether the observation stands in the prompt as text."""
        return self is not ObservationForm.PICTURE

    @property
    def has_picture(self) -> bool:
        """Whether a picture goes with the prompt."""
        return self is not ObservationForm.TEXT


@dataclass(frozen=True, slots=True)
class Depiction:
    """What one participant observes, as a drawing for a model that sees.

    Attributes:
        canvas: of the part of the world that is shown.
        drawing: of that part; places are counted from its own top left cell.
        left: number of its first column, as symbolic actions count columns.
        top: number of its first row, the same.
        across: what symbolic actions call the number of a column.
        down: what they call that of a row.
        lines: what stands in words below it.
        legend: how to read the picture, in sentences for a prompt: what is numbered, what stands for what.
    """

    canvas: Canvas
    drawing: Drawing
    left: int = 0
    top: int = 0
    across: str = "column"
    down: str = "row"
    lines: tuple[str, ...] = ()
    legend: str = ""


@runtime_checkable
class Depicted(Protocol):
    """A world that can show a participant what it observes as a picture, no more than the observation says."""

    observation: ObservationForm
    """How prompts show observations."""

    def depict(self, agent: int | None) -> Depiction:
        """Draw what an agent observes now; for None, what a participant without a body does. It changes nothing."""
