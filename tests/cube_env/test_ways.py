"""The way that an action reports is the one that it walks: random boards, on which nobody else moves."""

from __future__ import annotations

import random

import pytest

from cube_env import MoveToBlock, PushBlock, YieldBlock
from cube_env.constants import Face
from cube_env.symbolic.actions import Direction, Entity, Move, Navigate
from cube_env.world import CubeWorld
from maeil import SymbolicAction
from quorum_base.drawing import ShowsWays
from tests.cube_env.acting import OPEN, world

Points = list[tuple[float, float]]


def random_board(seed: int) -> str:
    """A board with blocks and a crowd, so that ways lead around both and faces have no room or lines."""
    drawn = random.Random(seed)
    rows = [["."] * 8 for _ in range(9)]
    rows[4][3:5] = rows[5][3:5] = "AA"
    free = [(row, col) for row in range(9) for col in range(8) if rows[row][col] == "."]
    drawn.shuffle(free)
    for letter in "BCDEFGH":
        row, col = free.pop()
        rows[row][col] = letter
    for agent in range(7):
        row, col = free.pop()
        rows[row][col] = str(agent)
    return "\n".join("".join(row) + "|" for row in rows)


def walked(cube: CubeWorld, action: SymbolicAction) -> tuple[list[Points], Points]:
    """Carry out an action of agent 0 while all others stand still.

    Returns:
        What it reports as its way before each step, and where it stood, from start to end.
    """
    assert isinstance(cube, ShowsWays)
    controller = cube.start_action(0, action)
    reported: list[Points] = []
    stood = [place(cube)]
    while controller.status() is None:
        way = cube.way(controller)
        reported.append(list(way.points) if way is not None else [])
        cube.step([controller.act(), *[0] * (len(cube.agents) - 1)])
        if place(cube) == stood[-1]:  # it waits for somebody who stands in its way
            return reported, stood
        stood.append(place(cube))
    controller.close()
    return reported, stood


def place(cube: CubeWorld) -> tuple[float, float]:
    row, col = cube.env.cube_state.agents[0].tolist()
    return col + 0.5, row + 0.5


@pytest.mark.parametrize("seed", range(60))
def test_a_walk_goes_the_way_that_it_tells_at_each_step(seed: int) -> None:
    cube = world(random_board(seed))
    action: SymbolicAction
    if seed % 3:
        action = MoveToBlock(block=seed % 4, face=list(Face)[seed // 4 % 4])
    else:
        places = ((Entity.goal, None, None), (Entity.agent, 3, None), (Entity.cell, None, (seed % 9, 6)))
        entity, identity, cell = places[seed // 3 % 3]
        action = Navigate(entity=entity, id=identity, cell=cell)
    reported, stood = walked(cube, action)
    for step, way in enumerate(reported[: len(stood) - 1]):
        assert way[: len(stood) - step] == stood[step:], step
    if len(reported) == len(stood) - 1 and reported:  # it came to its end
        assert reported[0] == stood


def test_most_of_these_walks_come_to_their_end() -> None:
    whole = 0
    for seed in range(60):
        reported, stood = walked(world(random_board(seed)), MoveToBlock(block=0, face=Face.left))
        whole += bool(reported) and len(reported) == len(stood) - 1
    assert whole > 30


def test_a_push_goes_with_its_block_for_what_is_left_of_it() -> None:
    cube = world(OPEN.replace("...AA...|\n    ...AA", "..0A....|\n    .....").replace("\n    0", "\n    ."))
    reported, stood = walked(cube, PushBlock(block=0, steps=3))
    assert reported == [stood, stood[1:], stood[2:]]
    assert len(stood) == 4


def test_a_push_ends_where_its_block_is_delivered() -> None:
    cube = world("....0A..|\n........|\n" + "........|\n" * 7)
    reported, stood = walked(cube, PushBlock(block=0, steps=30))
    assert reported[0] == stood


def test_the_target_is_the_block() -> None:
    cube = world(OPEN)
    way = cube.way(cube.start_action(0, MoveToBlock(block=0, face=Face.right)))
    assert way is not None
    assert way.target == (3, 2, 2, 2)


@pytest.mark.parametrize("steps", [2, 9])
def test_a_blind_walk_ends_at_the_edge(steps: int) -> None:
    reported, stood = walked(world(OPEN), Move(direction=Direction.down, steps=steps))
    assert reported[0] == stood[: len(reported[0])]
    assert len(reported[0]) == min(steps, 3) + 1


def test_stepping_back_is_a_way_too() -> None:
    cube = world(OPEN.replace("0.......|\n    ...AA", "........|\n    ..0AA"))
    reported, stood = walked(cube, YieldBlock(block=0, face=Face.left, steps=2))
    assert reported[0] == stood
