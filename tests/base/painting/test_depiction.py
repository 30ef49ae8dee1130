"""The picture of what an agent observes: a cell can be read, its row and column too, within the bounds of providers."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from quorum_base.drawing import Canvas, Depiction, Drawing, Mark, MarkKind, Shape
from quorum_base.painting.depiction import paint, picture_size
from quorum_base.painting.scale import EDGE, LONGEST_EDGE, SMALLEST_CELL, USUAL_EDGE, TooManyCells, scale_of

KINDS = (MarkKind("agent", "#0072b2", "#56b4e9", Shape.DISC),)


def depiction(columns: int, rows: int, **changes: object) -> Depiction:
    drawing = Drawing(b"", {"agent_0": Mark(0, columns - 1, rows - 1, label="0")})
    return Depiction(Canvas(columns, rows, KINDS), drawing, **changes)  # type: ignore[arg-type]


def pixels(shown: Depiction) -> npt.NDArray[np.uint8]:
    with Image.open(BytesIO(paint(shown))) as image:
        assert image.size == picture_size(shown)
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (9, 7), (20, 20), (64, 64), (120, 30), (125, 125)])
def test_a_picture_keeps_its_bounds_and_its_cells_can_be_read(columns: int, rows: int) -> None:
    scale = scale_of(columns, rows)
    assert SMALLEST_CELL <= scale.cell <= 64
    assert max(scale.width, scale.height) <= LONGEST_EDGE
    if max(columns, rows) <= 40:
        assert max(scale.width, scale.height) <= USUAL_EDGE


def test_words_below_take_room_of_the_board() -> None:
    assert scale_of(20, 20, lines=8).height <= USUAL_EDGE
    assert scale_of(20, 20, lines=8).cell < scale_of(20, 20).cell


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(TooManyCells, match="300 x 20 cells cannot be read"):
        scale_of(300, 20)


def test_rows_and_columns_are_numbered_on_all_four_edges_with_their_own_numbers() -> None:
    first, other = pixels(depiction(5, 4)), pixels(depiction(5, 4, left=40, top=40))
    cell = scale_of(5, 4).cell
    for number in range(4):
        along = slice(EDGE + number * cell, EDGE + (number + 1) * cell)
        edge = scale_of(5, 4).cell * 5 + EDGE + 1
        near, far, below = slice(0, EDGE), slice(edge, edge + EDGE), slice(-EDGE, None)
        for place in ((along, near), (along, far), (slice(12, EDGE), along), (below, along)):
            assert (first[place] < 128).any(), "there is a number"
            assert (first[place] != other[place]).any(), "it is that of the cell"


def test_every_number_stands_in_the_middle_of_its_cells() -> None:
    image, cell = pixels(depiction(3, 3)), scale_of(3, 3).cell
    for number in range(3):
        margin = image[EDGE + number * cell : EDGE + (number + 1) * cell, 2 : EDGE - 2]
        ink = np.nonzero((margin < 128).any(axis=(1, 2)))[0]
        assert abs(ink.mean() - cell / 2) < 3


def test_a_crowded_edge_has_fewer_numbers_but_round_ones() -> None:
    image, cell = pixels(depiction(125, 20)), scale_of(125, 20).cell

    def numbered(column: int) -> bool:
        left = EDGE + column * cell
        return bool((image[12 : EDGE - 2, left + 3 : left + cell - 3] < 128).any())

    assert numbered(100)
    assert numbered(120)
    assert sum(numbered(column) for column in range(125)) < 80, "numbers do not run into each other"


def test_words_stand_below_and_long_ones_are_broken_and_bounded() -> None:
    words = depiction(3, 3, lines=("one two three four five six " * 40,))
    width, height = picture_size(words)
    assert height <= LONGEST_EDGE
    below = pixels(words)[-20:]
    assert (below < 128).any()
    assert (below[:, width - EDGE // 2 :] == 255).all()


def test_a_narrow_board_leaves_room_for_its_words() -> None:
    words = depiction(2, 60, lines=("agent_0 at [1, 1]. health 9, food 9, drink 9, energy 9. Bag: empty.",))
    assert picture_size(words)[1] == picture_size(depiction(2, 60, lines=("short",)))[1], "they take one line"


def test_the_same_depiction_is_the_same_picture() -> None:
    assert paint(depiction(9, 7)) == paint(depiction(9, 7))
