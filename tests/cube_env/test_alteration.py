"""A board that is changed in the middle of an episode is a board like any other, or is refused and stays."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import CubeEnv, Layout, WorldError
from cube_env.constants import Face
from cube_env.state import CubeState
from cube_env.symbolic.actions import MoveToBlock, PushBlock
from cube_env.symbolic.controller import BLOCK_GONE
from maeil.controllers import SUCCESS
from maeil.plans import Plan
from maeil.world import Progress
from tests.cube_env.acting import world
from tests.cube_env.boards import dense_layout, drawing, herd_actions, play

SIDE = 7


def started(seed: int, steps: int) -> CubeEnv:
    """An environment in the middle of an episode on a dense board."""
    rng = np.random.default_rng(seed)
    env = CubeEnv(layout=dense_layout(rng, SIDE, 4, 8, 3))
    env.reset(seed=0)
    for _ in range(steps):
        if not env.agents:
            env.reset(seed=0)
        env.step_array(herd_actions(rng, len(env.possible_agents)))
    if not env.agents:
        env.reset(seed=0)
    return env


cells = st.tuples(st.integers(-1, SIDE), st.integers(-1, SIDE)).map(list)
blocks = st.one_of(
    st.none(),
    st.fixed_dictionaries({}, optional={"position": cells, "weight": st.integers(0, 4)}),
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "agents": st.dictionaries(st.integers(0, 4).map("agent_{}".format), cells, max_size=3),
        "blocks": st.dictionaries(st.integers(0, 9).map(str), blocks, max_size=3),
    },
)


def expected(env: CubeEnv, change: dict[str, Any]) -> tuple[list[Any], dict[int, tuple[int, list[int]]]] | None:
    """What the board should be by then, cell by cell; None where there can be none. Written without the package."""
    board = env.snapshot()
    agents = [list(cell) for cell in board.agents]
    there = {b.id: (b.weight, [b.row, b.col]) for b in board.blocks}
    known = len(env.cube_state.block_table)
    for name, cell in change.get("agents", {}).items():
        number = int(name[6:])
        if number >= len(agents):
            return None
        agents[number] = cell
    for name, values in sorted(change.get("blocks", {}).items(), key=lambda item: int(item[0])):
        block = int(name)
        if block == known and values is not None and values.keys() == {"position", "weight"}:
            known += 1
            there[block] = (0, [])
        if block not in there:
            return None
        if values is None:
            del there[block]
        else:
            weight, cell = there[block]
            there[block] = (values.get("weight", weight), values.get("position", cell))
    if not there:
        return None
    taken: list[tuple[int, int]] = [tuple(cell) for cell in agents]
    for weight, (row, col) in there.values():
        if weight < 1:
            return None
        square = [(row + r, col + c) for r in range(weight) for c in range(weight)]
        if any(c >= SIDE - 1 for _, c in square):
            return None
        taken += square
    if len(set(taken)) < len(taken) or any(not (0 <= r < SIDE and 0 <= c < SIDE) for r, c in taken):
        return None
    return agents, there


@given(seed=st.integers(0, 30), steps=st.integers(0, 12), change=changes)
def test_a_change_gives_the_board_that_it_names_or_is_refused_and_leaves_all_as_it_is(
    seed: int, steps: int, change: dict[str, Any]
) -> None:
    env = started(seed, steps)
    before, wanted = deepcopy(env), expected(env, change)
    if wanted is None:
        with pytest.raises(WorldError):
            env.change(change)
        assert env.snapshot() == before.snapshot()
    else:
        assert env.change(change) == (wanted != expected(before, {}))
        board = env.snapshot()
        assert [list(cell) for cell in board.agents] == wanted[0]
        assert {b.id: (b.weight, [b.row, b.col]) for b in board.blocks} == wanted[1]
        assert board.step == before.snapshot().step
    # Grid, channels and counters are those that the same board has when it is laid out again.
    state = env.cube_state
    fresh = CubeState.from_layout(
        Layout(SIDE, board_agents := state.agent_cells(), [(b.weight, (b.row, b.col)) for b in state.block_views()]),
        observed=True,
    )
    numbers = {b.id + 1: place + 1 for place, b in enumerate(state.block_views())}
    grid = state.grid.copy()
    grid[grid < 0] = [-numbers[-code] for code in grid[grid < 0]]
    assert (grid == fresh.grid).all()
    assert (state.channels[..., :4] == fresh.channels[..., :4]).all()
    assert state.live == fresh.live
    assert len(board_agents) == len(state.agents)
    # It goes on as such a board does.
    rng = np.random.default_rng(seed)
    other = CubeEnv(layout=Layout(SIDE, state.agent_cells(), [(b.weight, (b.row, b.col)) for b in state.block_views()]))
    other.reset(seed=0)
    for _ in range(6):
        joint = herd_actions(rng, len(env.possible_agents))
        report, same = env.step_array(joint), other.step_array(joint)
        assert drawing(env).count("#") == drawing(other).count("#")
        assert (report.reward, report.terminated) == (same.reward, same.terminated)
        assert env.snapshot().agents == other.snapshot().agents
        if not env.agents:
            break


LANE = """
    ........|
    0.......|
    .AA.....|
    .AA.....|
    ........|
    1.......|
    ........|
    ........|
    ........|
"""


def test_two_agents_can_change_places() -> None:
    env = play(LANE)
    here = env.snapshot().agents
    assert env.change({"agents": {"agent_0": list(here[1]), "agent_1": list(here[0])}})
    assert env.snapshot().agents == here[::-1]


def test_a_push_counts_what_it_has_moved_and_not_what_a_change_has() -> None:
    board = world("........|\n0A......|")
    controller = board.start_action(0, PushBlock(block=0, steps=2))
    ends = []
    for _ in range(3):
        ends.append(controller.status())
        if ends[-1] is None:
            board.step([controller.act()])
        if len(ends) == 1:
            board.change({"agents": {"agent_0": [4, 1]}, "blocks": {"0": {"position": [4, 2]}}})
    assert ends == [None, None, SUCCESS]


def test_a_push_whose_block_is_taken_away_has_failed() -> None:
    board = world("........|\n0A...B..|")
    controller = board.start_action(0, PushBlock(block=0, steps=3))
    assert controller.status() is None
    board.step([controller.act()])
    board.change({"blocks": {"0": None}})
    assert controller.status() == BLOCK_GONE
    assert board.progress() == Progress(0, 1, 0.0)
    assert board.check_plan(0, Plan((PushBlock(block=0),))) == (
        f"{PushBlock(block=0)}: block_0 is not on the board any more",
    )


def test_walkers_go_on_to_where_their_block_is_now() -> None:
    board = world(LANE)
    walking = [MoveToBlock(block=0, face=Face.left), MoveToBlock(block=0, face=Face.left)]
    controllers = [board.start_action(agent, action) for agent, action in enumerate(walking)]
    assert [controller.status() for controller in controllers] == [None, None]
    board.change({"blocks": {"0": {"position": [6, 4]}}})
    for _ in range(20):
        if all(controller.status() for controller in controllers):
            break
        board.step([c.act() if c.status() is None else 0 for c in controllers])
    assert [controller.status() for controller in controllers] == [SUCCESS, SUCCESS]
    assert set(board.env.snapshot().agents) == {(6, 3), (7, 3)}


def test_the_tasks_of_a_new_block_are_told_once_and_those_of_the_others_are_not_told_again() -> None:
    board = world(LANE)
    stay, nobody = [0, 0], [None, None]
    assert len(board.constraints(stay, nobody)) == 4
    assert board.constraints(stay, nobody) == []
    board.change({"blocks": {"1": {"position": [7, 5], "weight": 1}}})
    assert {state.task.target for state in board.constraints(stay, nobody)} == {
        f"block_1/{face}" for face in ("left", "right", "up", "down")
    }
    board.change({"blocks": {"1": None}})
    assert {(state.task.target[:7], state.threshold) for state in board.constraints(stay, nobody)} == {("block_1", 0)}
    assert board.progress() == Progress(0, 1, 0.0)


def test_what_two_agents_dodging_each_other_have_done_is_forgotten_with_the_change() -> None:
    board = world(LANE)
    for right in (4, 3, 4, 3, 4):
        board.step([right, 0])
    assert board._episode._swinging() == [0]
    board.change({"agents": {"agent_1": [7, 7]}})
    assert board._episode._swinging() == []
