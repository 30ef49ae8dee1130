"""An action walks the way that it reports, where the agent knows the map and nobody stands in its way."""

from __future__ import annotations

import random

import pytest

from crafter_env import Cell
from crafter_env.symbolic.actions import Collect, Direction, Move, Navigate, Noop, Resource, Share, Shareable, Target
from crafter_env.world import CrafterWorld
from maeil.actions import SymbolicAction
from tests.crafter_env.joined import advance, cell, number, world

Points = list[tuple[float, float]]


def random_map(seed: int) -> str:
    """A map with trees and water in the way."""
    drawn = random.Random(seed)
    rows = [[drawn.choice("......T#~") for _ in range(16)] for _ in range(14)]
    rows[seed % 14][seed % 16] = "0"
    x, y = aim(seed)
    rows[y][x] = "."
    return "\n".join(map("".join, rows))


def aim(seed: int) -> Cell:
    return (seed + 9) % 16, (seed + 5) % 14


def walked(crafter: CrafterWorld, action: SymbolicAction) -> tuple[list[Points], Points]:
    """What an action of agent 0 reports as its way before each step, and where the agent stood, from start to end."""
    controller = crafter.start_action(0, action)
    reported: list[Points] = []
    stood = [place(crafter)]
    while controller.status() is None:
        way = crafter.way(controller)
        reported.append(list(way.points) if way is not None else [])
        advance(crafter, {0: controller.act()})
        if place(crafter) != stood[-1]:
            stood.append(place(crafter))
    controller.close()
    return reported, stood


def place(crafter: CrafterWorld) -> tuple[float, float]:
    x, y = cell(crafter, 0)
    return x + 0.5, y + 0.5


@pytest.mark.parametrize("seed", range(30))
def test_a_walk_goes_the_way_that_it_tells_at_each_step(seed: int) -> None:
    crafter = world(random_map(seed), oracle_map=True)
    reported, stood = walked(crafter, Navigate(target=Target.cell, id=number(crafter, aim(seed))))
    assert reported == [stood[step:] for step in range(len(reported))]


def test_most_of_these_walks_come_to_their_end() -> None:
    came = 0
    for seed in range(30):
        crafter = world(random_map(seed), oracle_map=True)
        walked(crafter, Navigate(target=Target.cell, id=number(crafter, aim(seed))))
        came += cell(crafter, 0) == aim(seed)
    assert came > 15


def test_the_unseen_is_taken_to_be_free_until_it_is_seen() -> None:
    crafter = world("\n".join(["0.............", ".............."] + [".............."] * 8))
    reported, stood = walked(crafter, Navigate(target=Target.cell, id=number(crafter, (13, 9))))
    assert reported[0] == stood


def test_the_target_is_what_is_collected() -> None:
    crafter = world("""
        ....T
        .0...
        .....
    """)
    way = crafter.way(crafter.start_action(0, Navigate(target=Target.tree, id=number(crafter, (4, 0)))))
    assert way is not None
    assert way.target == (4, 0, 1, 1)
    controller = crafter.start_action(0, Collect(resource=Resource.wood, target=number(crafter, (4, 0))))
    controller.status()
    way = crafter.way(controller)
    assert way is not None
    assert way.target == (4, 0, 1, 1)


def test_a_gift_leads_to_who_gets_it_and_a_blind_walk_up_to_what_stops_it() -> None:
    crafter = world("""
        .....T
        .0...T
        ...1.T
    """)
    way = crafter.way(crafter.start_action(0, Share(agent=1, item=Shareable.wood)))
    assert way is not None
    assert way.target == (3, 2, 1, 1)
    reported, stood = walked(crafter, Move(direction=Direction.right, steps=9))
    assert reported[0] == stood
    assert len(stood) == 4


def test_an_agent_that_waits_has_no_way() -> None:
    crafter = world("0..\n...\n...")
    assert crafter.way(crafter.start_action(0, Noop())) is None
