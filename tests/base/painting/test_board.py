"""What a drawing looks like in pixels, by hand-made drawings."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from quorum_base.drawing import PAPER, Canvas, Drawing, Mark, MarkKind, Rotation, Shape
from quorum_base.painting.board import BoardPainter
from quorum_base.painting.colours import PAPER_WHITE, parse

GREEN, ORANGE, BLUE, BLACK = "#009e73", "#e69f00", "#0072b2", "#1d1d1f"
KINDS = (
    MarkKind("meadow", GREEN, GREEN),
    MarkKind("block", ORANGE, ORANGE),
    MarkKind("agent", BLUE, BLUE, Shape.DISC),
    MarkKind("target", BLUE, BLUE, Shape.RING),
    MarkKind("push", BLACK, BLACK, Shape.WEDGE),
    MarkKind("zombie", ORANGE, ORANGE, Shape.DIAMOND),
)
CELL = 20


def _paint(*marks: Mark, ground: bytes = b"", margin: float = 0, cell: int = CELL, ruled: bool = False) -> Image.Image:
    canvas = Canvas(4, 3, KINDS, ruled=ruled, margin=margin)
    return BoardPainter(canvas, cell).paint(Drawing(ground, {str(number): mark for number, mark in enumerate(marks)}))


def _at(image: Image.Image, x: float, y: float, cell: int = CELL) -> tuple[int, ...]:
    return image.getpixel((round(x * cell), round(y * cell)))


def test_the_ground_lies_where_it_is() -> None:
    image = _paint(ground=bytes([PAPER] * 3 + [0] + [PAPER] * 8))
    assert _at(image, 3.5, 0.5) == parse(GREEN)
    assert _at(image, 2.5, 0.5) == _at(image, 3.5, 1.5) == PAPER_WHITE


def test_a_block_fills_its_rectangle() -> None:
    image = _paint(Mark(1, 1, 0, 2, 2))
    assert all(_at(image, x, y) == parse(ORANGE) for x in (1.2, 2.8) for y in (0.2, 1.8))
    assert _at(image, 0.9, 0.5) == _at(image, 3.1, 0.5) == _at(image, 1.5, 2.1) == PAPER_WHITE


def test_shapes_can_be_distinguished_without_their_colours() -> None:
    box, disc, ring, diamond = (_paint(Mark(kind, 1, 1)) for kind in (1, 2, 3, 5))
    corner, edge, middle = (1.12, 1.12), (1.5, 1.1), (1.5, 1.5)
    filled = [[_at(image, *place) != PAPER_WHITE for place in (corner, edge, middle)] for image in (box, disc, diamond)]
    assert filled[0] == [True, True, True]
    assert filled[1] == [False, True, True]
    assert [_at(ring, *place) != PAPER_WHITE for place in (corner, edge, middle)] == [True, True, False]
    covered = [np.count_nonzero(np.asarray(image.convert("L")) < 250) for image in (box, disc, diamond)]
    assert covered[0] > covered[1] > covered[2]


@pytest.mark.parametrize(
    ("turn", "point", "back"),
    [
        (Rotation.RIGHT, (1.8, 1.5), (1.8, 1.1)),
        (Rotation.LEFT, (1.2, 1.5), (1.2, 1.1)),
        (Rotation.UP, (1.5, 1.2), (1.1, 1.2)),
        (Rotation.DOWN, (1.5, 1.8), (1.1, 1.8)),
    ],
)
def test_a_wedge_points_to_where_it_is_turned(turn, point, back) -> None:
    image = _paint(Mark(4, 1, 1, turn=turn))
    assert sum(_at(image, *point)) < 300
    assert _at(image, *back) == PAPER_WHITE


def test_a_later_mark_lies_above() -> None:
    assert _at(_paint(Mark(1, 0, 0, 2, 2), Mark(2, 0, 0, 2, 2)), 1, 1) == parse(BLUE)
    assert _at(_paint(Mark(2, 0, 0, 2, 2), Mark(1, 0, 0, 2, 2)), 1, 1) == parse(ORANGE)


def test_a_label_is_written_where_it_is_legible() -> None:
    plain, labelled = (np.asarray(_paint(Mark(2, 1, 1, label=label))) for label in ("", "12"))
    assert np.any(plain != labelled)
    tiny = [np.asarray(_paint(Mark(2, 1, 1, label=label), cell=8)) for label in ("", "12")]
    assert np.array_equal(*tiny)


def test_nothing_is_lost_on_the_smallest_cells() -> None:
    for kind in (1, 2, 5):
        assert _paint(Mark(kind, 2, 1), cell=2).getpixel((4, 2)) == parse(KINDS[kind].light)


def test_marks_may_stand_over_the_edge_where_there_is_a_margin() -> None:
    image = _paint(Mark(1, -0.25, -0.25, 0.5, 0.5), margin=0.25)
    assert image.getpixel((2, 5)) == parse(ORANGE)
    assert image.size == (4 * CELL + 11, 3 * CELL + 11)
