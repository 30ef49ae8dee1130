"""Every world that can be chosen keeps the contract of the loop, with every kind of rule that its options offer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from llamac_env import Colour
from llamac_env import Move as MoveBox
from llamac_env.transport.text import write_board
from maeil.testing import check_world
from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import SHIPPED
from quorum.configuration.registry import worlds

ENVS = sorted(file.stem for folder in SHIPPED for file in (folder / "env").glob("*.yaml"))
PLACES = ("square[0.5, 1.5]", "square[1.5, 0.5]", "position[0.0, 1.0]", "position[1.0, 1.0]")
MOVES = [
    *(MoveBox(box=f"box_{colour}", to=place) for colour, place in product(Colour, PLACES)),
    *(MoveBox(box=f"box_{colour}", to=f"target_{colour}") for colour in Colour),
]
"""Moves of grid transportation: the schema of `move` does not tell the names of the places."""
OPTIONS = [
    *(f"env={name}" for name in ENVS if name != "pettingzoo"),  # it has no default
    "env=cube env.vocabulary=emcoop env.reward=progress",
    "env=cube n=1 env.reward=alignment",
    "env=crafter_coop n=3 env.level=hard env.goal=collect:wood env.oracle_map=true",
    "env=crafter_coop n=2 max_steps=5 env.switches={mobs:false}",
    "env=transport env.boards=frozen",
    "env=transport_hard n=8 env.entry_rule=start_empty",
    "env=squeeze n=1 env.rho=null max_steps=3",
    "env=foraging n=5 env.side=6 env.sight=2 env.coop=true env.penalty=0.1",
    "env=overcooked env.layout=forced_coordination env.soups=null",
    "env=overcooked n=4 env.layout=multiplayer_schelling env.drawn_starts=false",
]
CHANGES: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "cube": lambda _: [{"agents": {"agent_0": [0, 0]}}, {"blocks": {"0": {"weight": 1}}}],
    "transport": lambda world: [{"items": one_box(world)}],
    "crafter": lambda _: [{"agents": {"agent_0": {"needs": {"food": 3}, "inventory": {"wood": 2}}}}],
    "squeeze": lambda _: [{"rho": 0.3}, {"mu": 5.5, "sigma": 2}],
}
"""What can be changed on every board of a world."""


def one_box(world: Any) -> dict[str, list[str]]:
    """Say of every place what there is, if there is one box."""
    empty: dict[str, list[str]] = {place: [] for place in write_board(world.env.board)}
    box = [*empty][-1]
    return {**empty, "0.5_0.5": ["target_red"], box: [*(["target_red"] if box == "0.5_0.5" else []), "box_red"]}


@pytest.mark.parametrize("options", OPTIONS)
def test_a_world_keeps_the_contract(options: str) -> None:
    limit = [] if "max_steps=" in options else ["max_steps=20"]
    values = Cell.compose([*limit, *options.split()]).configuration.env
    world = worlds.get(values.name).build(values, None)
    world.reset(0)
    check_world(
        world,
        actions=MOVES if "transport" in options else (),
        changes=CHANGES[world.name](world) if world.name in CHANGES else (),
        steps=8 if "crafter" in options else 25,
    )
