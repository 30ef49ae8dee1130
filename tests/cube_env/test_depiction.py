"""The picture of CUBE shows what the observation holds, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cube_env.symbolic.picture import depict
from cube_env.symbolic.shown import TextLimits
from quorum_base.drawing import Depicted
from tests.cube_env.acting import world

BOARD = """
0....|
1..AA|
...AA|
2....|
.....|
.....|
"""


def test_blocks_and_agents_stand_where_the_observation_has_them() -> None:
    cube = world(BOARD)
    assert isinstance(cube, Depicted)
    seen, shown = cube.observe(1), cube.depict(1)
    places = {name: (mark.y, mark.x, mark.width, mark.label) for name, mark in shown.drawing.marks.items()}
    expected = {f"agent_{agent}": (*cell, 1, str(agent)) for agent, cell in enumerate(seen.agents)}
    expected |= {f"block_{b.id}": (b.row, b.col, b.weight, f"b{b.id}") for b in seen.blocks}
    assert places == expected
    assert len(places) == 4
    assert (shown.left, shown.top, shown.across, shown.down) == (0, 0, "column", "row")
    assert shown.lines == ("Step 0 of 60. Blocks left: 1.",)


def test_all_who_see_the_whole_board_see_the_same() -> None:
    cube = world(BOARD)
    assert cube.depict(0) == cube.depict(2) == cube.depict(None)


def test_agents_that_a_prompt_leaves_out_are_left_out_of_the_picture() -> None:
    seen = replace(world(BOARD).observe(0), limits=TextLimits(max_agents=1, faces="left"))
    shown = depict(seen)
    assert {name for name in shown.drawing.marks if name.startswith("agent")} == {"agent_0", "agent_1"}
    assert shown.lines == ("Step 0 of 60. Blocks left: 1. Agents that are not shown: 1.",)


@pytest.mark.parametrize("step", range(3))
def test_to_be_drawn_changes_nothing(step: int) -> None:
    cube, other = world(BOARD), world(BOARD)
    for _ in range(step):
        cube.step([4, 4, 4])
        other.step([4, 4, 4])
        cube.depict(0)
    assert cube.observe(0) == other.observe(0)
