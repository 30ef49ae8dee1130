"""Sets up the parts of CUBE for measurement."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from statistics import median
from typing import Any, cast

import numpy as np

from cube_env import Action, CubeEnv, Layout, curriculum, place
from cube_env.world import CubeWorld, component
from maeil.actions import SymbolicAction
from maeil.component import ComponentConfig
from maeil.world import Controller
from quorum.configuration.cell import Cell

ENDLESS = 10**9
"""Step limit of an episode that must not end during a measurement."""
TICKS = 12
"""Ticks of an action per episode; then the board is laid out again, so that walkers keep walking."""


def stepping(n: int, *, right: bool = False, **values: Any) -> Callable[[], object]:
    """Return a function that takes one step through the PettingZoo API.

    Args:
        n: number of agents.
        right: whether all agents walk right; otherwise their actions are random.
        **values: further constructor arguments.
    """
    env = CubeEnv(n=n, max_steps=ENDLESS, **values)
    env.reset(seed=0)
    draws = np.full((1, n), Action.RIGHT) if right else np.random.default_rng(0).integers(0, 5, (256, n))
    joints = cycle([dict(zip(env.possible_agents, draw, strict=True)) for draw in draws.tolist()])
    return lambda: env.step(next(joints))


def team_board(n: int) -> Layout:
    """Return the board of seed 0, with as many agents as fit moved from column 0 to the left face of block 0."""
    layout = place(curriculum(n), np.random.default_rng(0))
    weight, (top, left) = layout.blocks[0]
    face = [(row, left - 1) for row in range(top, top + weight)]
    elsewhere = [cell for cell in layout.agents if cell not in face]
    return Layout(layout.side, (face + elsewhere)[:n], layout.blocks)


@dataclass(frozen=True)
class ActionBench:
    """One symbolic action on one board, to measure the cost of its ticks.

    Attributes:
        world: the world.
        action: the action of the actors.
        actors: the agents that perform it; the others stay.
    """

    world: CubeWorld
    action: SymbolicAction
    actors: Sequence[int]

    def ticks(self, episodes: int) -> list[float]:
        """Return the time of each tick in seconds, summed over the actors' controllers (status and act)."""
        return [seconds for _ in range(episodes) for seconds in self._episode()]

    def _episode(self) -> list[float]:
        world, action = self.world, self.action
        world.reset(0)
        running: dict[int, Controller] = {}
        found = []
        for _ in range(TICKS):
            for agent in self.actors:
                if agent not in running:
                    running[agent] = world.start_action(agent, action)
            joint = [int(Action.STAY)] * len(world.agents)
            controllers = list(running.items())
            begin = time.perf_counter()
            ended = []
            for agent, controller in controllers:
                if controller.status() is None:
                    joint[agent] = cast(int, controller.act())
                else:
                    ended.append(agent)
            found.append(time.perf_counter() - begin)
            for agent in ended:
                running.pop(agent).close()
            if world.step(joint).end:
                break
        for controller in running.values():
            controller.close()
        return found


def action_names() -> tuple[str, ...]:
    """Return the names of the symbolic actions of both vocabularies."""
    names = [name for vocabulary in ("cube", "emcoop") for name in _world(1, vocabulary).vocabulary.names]
    return tuple(dict.fromkeys(names))


def action_bench(name: str, n: int, *, team: bool) -> ActionBench:
    """Set up an action for a whole team, or for one agent while the others stay.

    Args:
        name: name of the action, in either vocabulary.
        n: number of agents.
        team: whether all agents in a suitable position perform it.
    """
    vocabulary = "cube" if name in _world(1, "cube").vocabulary.names else "emcoop"
    world = _world(n, vocabulary)
    model = next(model for model in world.vocabulary if model.model_fields["action"].default == name)
    at_face = "block" in model.model_fields and name != "move_to_block"
    board = team_board(n) if at_face else place(curriculum(n), np.random.default_rng(0))
    world.env.layout = board
    actors = range(min(n, board.blocks[0][0]) if at_face else n) if team else range(1)
    farthest = max(range(len(board.blocks)), key=lambda block: board.blocks[block][1][1])
    arguments = _arguments(model, name, n, 0 if at_face else farthest)
    return ActionBench(world, world.vocabulary.parse(arguments), actors)


def _arguments(model: type[SymbolicAction], name: str, n: int, block: int) -> dict[str, Any]:
    """Return arguments with which an action of any vocabulary runs for a long time."""
    usual: Mapping[str, Any] = {
        "block": block, "face": "left", "steps": 10_000, "count": n, "timeout": 1_000_000, "direction": "right",
        "entity": "block", "id": block,
    }  # fmt: skip
    return {"action": name} | {field: usual[field] for field in model.model_fields if field in usual}


def _world(n: int, vocabulary: str) -> CubeWorld:
    world = component.build(_configuration(n, vocabulary), None)  # type: ignore[arg-type] # by its name
    assert isinstance(world, CubeWorld)
    return world


@cache
def _configuration(n: int, vocabulary: str) -> ComponentConfig:
    return Cell.compose([f"n={n}", f"env.vocabulary={vocabulary}", f"max_steps={ENDLESS}"]).configuration.env


def tick_seconds(name: str, n: int, *, team: bool, episodes: int) -> float:
    """Return the median seconds of a tick of an action."""
    return median(action_bench(name, n, team=team).ticks(episodes))
