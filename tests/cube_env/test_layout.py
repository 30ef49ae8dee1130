import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import Layout, LayoutError, WorldError, curriculum, place
from tests.cube_env.boards import dense_layout

DRAWING = """\
....|
.AA0|
.AAB|
1...2
....|"""


def test_layout_is_drawn_and_read_back():
    layout = Layout(side=5, agents=[(1, 3), (3, 0), (3, 4)], blocks=[(2, (1, 1)), (1, (2, 3))])
    assert str(layout) == DRAWING
    assert Layout.parse(DRAWING) == layout


def test_parse_ignores_indentation_and_blank_lines_around():
    indented = "\n\n" + "\n".join("      " + line + "  " for line in DRAWING.splitlines()) + "\n\n  "
    assert Layout.parse(indented) == Layout.parse(DRAWING)


@given(st.integers(0, 2**32 - 1), st.integers(3, 14))
def test_drawing_round_trips(seed, side):
    rng = np.random.default_rng(seed)
    layout = dense_layout(rng, side, agents=int(rng.integers(1, 37)), tries=12, heaviest=side // 2)
    assert Layout.parse(str(layout)) == layout


def test_layout_takes_arrays_and_lists_and_keeps_plain_integers():
    layout = Layout(np.int64(5), np.array([[0, 0], [1, 0]]), [(np.int32(1), [2, 2])])
    assert layout == Layout(5, [(0, 0), (1, 0)], [(1, (2, 2))])
    assert {type(value) for value in (layout.side, *layout.agents[0], layout.blocks[0][0])} == {int}
    assert hash(layout) == hash(Layout(5, [(0, 0), (1, 0)], [(1, (2, 2))]))


@pytest.mark.parametrize(
    ("side", "agents", "blocks", "message"),
    [
        (1, [(0, 0)], [], "side 1"),
        (5, [], [(1, (0, 0))], "needs at least one agent"),
        (5, [(5, 0)], [], "agent 0 at (5, 0) is outside the grid of side 5"),
        (5, [(0, 0), (0, -1)], [], "agent 1 at (0, -1) is outside"),
        (5, [(0, 0), (1, 1), (0, 0)], [], "agent 2 at (0, 0) stands on agent 0"),
        (5, [(2, 2)], [(2, (1, 1))], "agent 0 at (2, 2) stands on block 0 (A)"),
        (5, [(0, 0)], [(0, (1, 1))], "block 0 (A) of weight 0"),
        (5, [(0, 0)], [(1, (1, 1)), (2, (4, 1))], "block 1 (B) of weight 2 at (4, 1) leaves the grid of side 5"),
        (5, [(0, 0)], [(1, (-1, 1))], "block 0 (A) of weight 1 at (-1, 1) leaves"),
        (
            5,
            [(0, 0)],
            [(2, (1, 1)), (2, (2, 2))],
            "block 1 (B) of weight 2 at (2, 2) overlaps block 0 (A) on cell (2, 2)",
        ),
        (5, [(0, 0)], [(2, (1, 3))], "block 0 (A) of weight 2 at (1, 3) lies in the goal column 4"),
    ],
)
def test_an_impossible_layout_names_the_entity(side, agents, blocks, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        Layout(side, agents, blocks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty text is not a board"),
        ("..|\n..|", "line 1 has 3 characters, but the board has 2 lines"),
        ("..|\n...|\n..|", "line 2 has 4 characters, but the board has 3 lines"),
        ("0.|\n.?|\n..|", "line 2, column 2: '?' is not one of"),
        ("0.|\n...\n..|", "line 2, column 3: '.': an empty cell of this column is '|'"),
        ("0.|\n.||\n..|", "line 2, column 2: '|': an empty cell of this column is '.'"),
        ("0.|\n.2|\n..|", "agent 2 is drawn, but agent 1 is not"),
        ("0.|\n.B|\n..|", "block B is drawn, but block A is not"),
        ("0.|\n.0|\n..|", "agent 0 stands on 2 cells, (0, 0) and (1, 1)"),
        ("0A.|\n.A.|\n...|\n...|", "block 0 (A) covers 2 cells from (0, 1) that are not one square"),
        ("0AA|\n.AA|\n.A.|\n...|", "cell (2, 1) is extra"),
        ("0AA|\n..A|\n...|\n...|", "cell (1, 1) is missing"),
        ("0A.|\n...|\n.A.|\n...|", "cell (2, 1) is extra"),
        ("..|\n..|\n..|", "needs at least one agent"),
        ("0..A\n...|\n...|\n...|", "lies in the goal column 3"),
    ],
)
def test_a_wrong_drawing_names_its_place(text, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        Layout.parse(text)


def test_a_layout_with_more_than_ascii_can_name_refuses_to_be_drawn():
    largest = Layout(40, [(row, 0) for row in range(36)], [(1, (row, 2)) for row in range(26)])
    assert Layout.parse(str(largest)) == largest
    for layout in (
        Layout(40, [(row, 0) for row in range(37)]),
        Layout(40, [(0, 0)], [(1, (row, 2)) for row in range(27)]),
        place(curriculum(64), np.random.default_rng(0)),
    ):
        with pytest.raises(LayoutError, match="cannot be drawn: ASCII has names for 36 agents and 26 blocks"):
            str(layout)


def test_errors_are_value_errors_of_one_tree():
    assert issubclass(LayoutError, WorldError)
    assert issubclass(WorldError, ValueError)
