"""The drawing contract: the appearance of a world at one instant, as data that any canvas can draw.

A world that implements `Drawable` works with the viewer, films and the terminal. All data is JSON-ready and independent
of the world: a grid with a ground for each cell, and marks (agents, blocks, bars) on top of it. Kinds never differ by
colour alone, but also by shape, texture or sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PAPER = 255
"""The value of a cell without ground."""


class Shape(StrEnum):
    """The outline of a mark, within its rectangle."""

    BOX = "box"
    DISC = "disc"
    RING = "ring"  # the frame of a box; its texture lies within
    DIAMOND = "diamond"
    WEDGE = "wedge"  # a triangle that points in the mark's direction


class Texture(StrEnum):
    """A pattern over the colour of a kind."""

    PLAIN = "plain"
    DOTS = "dots"
    STRIPES = "stripes"  # rising to the right
    WAVES = "waves"
    CROSSES = "crosses"
    BRICKS = "bricks"


class Rotation(StrEnum):
    """The direction in which a mark faces."""

    RIGHT = "right"
    DOWN = "down"
    LEFT = "left"
    UP = "up"


@dataclass(frozen=True, slots=True)
class MarkKind:
    """A kind of mark or ground, as the legend shows it.

    Attributes:
        name: name in the legend.
        light: colour on a light background, `#rrggbb`.
        dark: colour on a dark background.
        shape: outline of marks of this kind; a ground fills its cell.
        texture: pattern over the colour.
        sign: a character drawn in each cell of this ground; empty for none.
    """

    name: str
    light: str
    dark: str
    shape: Shape = Shape.BOX
    texture: Texture = Texture.PLAIN
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The parts of a picture that stay the same for a whole episode.

    Attributes:
        width: in cells.
        height: in cells.
        kinds: the legend, with fewer than `PAPER` entries. Drawings refer to a kind by its index here. Marks of a later
            kind lie above those of an earlier one.
        ruled: whether lines separate the cells.
        margin: empty space around the grid, in cells, for marks that extend beyond its edge.
    """

    width: int
    height: int
    kinds: tuple[MarkKind, ...]
    ruled: bool = True
    margin: float = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """An object in the picture. Lengths are in cells, from the top left corner of the picture.

    Attributes:
        kind: index in the legend.
        x: position of the left edge.
        y: position of the upper edge.
        width: width of the rectangle.
        height: height of the rectangle.
        label: a few characters written on the mark.
        title: description shown when the user points at the mark.
        agent: index of the agent that the mark represents; None for anything else.
        turn: direction in which the mark faces.
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
        ground: the kind of each cell, row by row, `PAPER` for cells without ground; empty if no cell has a ground.
        marks: by a name that identifies the same object from one instant to the next.
        caption: one line about this instant; may be empty.
        holdings: description of each agent's possessions, by index; empty if agents own nothing in this world.
        image: RGB picture of the whole canvas below the marks, uint8 of shape (height, width, 3) in pixels, from a
            world that renders itself; None for a ground of cells.
    """

    ground: bytes
    marks: dict[str, Mark]
    caption: str = ""
    holdings: tuple[str, ...] = ()
    image: npt.NDArray[np.uint8] | None = None


@runtime_checkable
class Drawable(Protocol):
    """A world that can be drawn. The methods are called between steps, and change nothing."""

    def canvas(self) -> Canvas:
        """Return the canvas, which stays the same until the next reset."""

    def draw(self) -> Drawing:
        """Draw the world in its current state."""

    def primitive_name(self, primitive: Any) -> str:
        """Return the display name of a `maeil.acting.Primitive` other than None."""


@runtime_checkable
class Pictured(Protocol):
    """A drawable world that renders its own pictures, without a caption; a terminal shows its text instead."""

    pictured: bool


@dataclass(frozen=True, slots=True)
class Way:
    """The path and the target of a running action. Lengths are in cells, from the top left corner of the picture.

    Attributes:
        points: (x, y) of the centre of each cell on the remaining path. The first is the current position of the agent,
            or of the object that it moves. It is the only one if nothing has to move.
        target: x, y, width and height of the target, a cell or an object; None for none.
    """

    points: tuple[tuple[float, float], ...] = ()
    target: tuple[float, float, float, float] | None = None


@runtime_checkable
class ShowsWays(Protocol):
    """A drawable world that reports the paths of its symbolic actions, so that the viewer can draw plans."""

    def way(self, controller: Any) -> Way | None:
        """Return the path that an action would take from here if nothing else moved, and its target.

        This changes nothing.

        Args:
            controller: the `maeil.world.Controller` of a running action: `start_action` returned it, and its
                `status()` is None.

        Returns:
            None if the action has neither path nor target.
        """


class ObservationForm(StrEnum):
    """How prompts present observations to a language model."""

    TEXT = "text"
    PICTURE = "picture"
    BOTH = "both"

    @property
    def has_text(self) -> bool:
        """Whether the prompt contains the observation as text."""
        return self is not ObservationForm.PICTURE

    @property
    def has_picture(self) -> bool:
        """Whether the prompt comes with a picture."""
        return self is not ObservationForm.TEXT


@dataclass(frozen=True, slots=True)
class Depiction:
    """One participant's observation as a drawing, for a vision model.

    Attributes:
        canvas: canvas of the visible part of the world.
        drawing: drawing of that part, with positions from its own top left cell.
        left: number of its first column, in the numbering of symbolic actions.
        top: number of its first row, in the same numbering.
        across: name of the column argument in symbolic actions.
        down: name of the row argument in symbolic actions.
        lines: text below the picture.
        legend: sentences for a prompt on how to read the picture: its numbers and its symbols.
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
    """A world that can draw a participant's observation. The picture shows no more than the observation says."""

    observation: ObservationForm
    """How prompts present observations."""

    def depict(self, agent: int | None) -> Depiction:
        """Draw the current observation of an agent, or of a participant without a body (None). Changes nothing."""
