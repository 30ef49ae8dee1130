"""A third party's module: a tiny world and its minds, registered the way a user would with `--plugin corridor`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import NonNegativeFloat, PositiveInt

from maeil import (
    ActionEnd,
    ActionStatus,
    Component,
    ComponentConfig,
    Plan,
    Progress,
    SymbolicAction,
    Task,
    TaskState,
    TeamContext,
    Thought,
    Transition,
    View,
    Vocabulary,
)
from quorum.experiments.configuration.registry import minds, worlds


class Walk(SymbolicAction):
    """Go on by some cells."""

    action: Literal["walk"] = "walk"
    cells: PositiveInt


class Rest(SymbolicAction):
    """Stay for a step."""

    action: Literal["rest"] = "rest"


class CorridorConfig(ComponentConfig):
    """`n` agents walk down a corridor of `length` cells each."""

    name: Literal["corridor"]
    n: PositiveInt
    length: PositiveInt
    max_steps: PositiveInt


@dataclass
class _Controller:
    world: Corridor
    agent: int
    left: int
    primitive: int

    def status(self) -> ActionEnd | None:
        return None if self.left else ActionEnd(ActionStatus.SUCCESS)

    def act(self) -> int:
        self.left -= 1
        return self.primitive

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class _Sight:
    cell: int
    length: int

    def text(self) -> str:
        return f"cell {self.cell} of {self.length}"


class Corridor:
    """The world."""

    name = "corridor"
    vocabulary = Vocabulary(Walk, Rest)
    idle = Rest()

    def __init__(self, config: CorridorConfig) -> None:
        if config.length > 1000:
            raise ValueError(f"length: {config.length} cells are too many: at most 1000")
        self.config = config
        self.agents = tuple(f"walker_{i}" for i in range(config.n))

    def reset(self, seed: int) -> Mapping[str, Any]:
        self.cells = [seed % 2] * self.config.n
        self.t = 0
        return {"cells": list(self.cells), "length": self.config.length}

    def observe(self, agent: int) -> _Sight:
        return _Sight(self.cells[agent], self.config.length)

    def global_observation(self) -> _Sight:
        return _Sight(sum(self.cells), self.config.length)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        return ()

    def start_action(self, agent: int, action: SymbolicAction) -> _Controller:
        if isinstance(action, Walk):
            return _Controller(self, agent, action.cells, 1)
        return _Controller(self, agent, 1, 0)

    def step(self, joint: Sequence[int]) -> Transition:
        self.t += 1
        self.cells = [min(cell + move, self.config.length) for cell, move in zip(self.cells, joint, strict=True)]
        reached = self.progress().reached
        return Transition((), -0.01, reached == self.config.n, self.t >= self.config.max_steps)

    def constraints(self, joint: Sequence[int]) -> Sequence[TaskState]:
        """There are no cooperative tasks here."""
        return ()

    def distance(self, agent: int, other: int) -> float:
        """Corridors lie side by side."""
        return float(abs(agent - other))

    def progress(self) -> Progress:
        reached = sum(cell == self.config.length for cell in self.cells)
        return Progress(reached, self.config.n, float(reached))

    def ansi(self) -> str:
        return "\n".join("." * cell + "[bold]" for cell in self.cells)


class WalkerConfig(ComponentConfig):
    """Every thought takes `pause` seconds; the thought number `fails_at` of a mind raises."""

    name: Literal["walker"]
    pause: NonNegativeFloat
    fails_at: PositiveInt | None


class Walker:
    """The mind of one agent: walk one cell at a time."""

    def __init__(self, config: WalkerConfig) -> None:
        self.config = config
        self.thoughts = 0

    async def think(self, view: View) -> Thought:
        self.thoughts += 1
        if self.thoughts == self.config.fails_at:
            raise RuntimeError("the walker stumbled")
        await asyncio.sleep(self.config.pause)
        return Thought(Plan((Walk(cells=1),), Task("walk", "end")))


def build_walkers(config: WalkerConfig, context: TeamContext) -> Sequence[Walker]:
    """Make a walker for each agent."""
    return [Walker(config) for _ in context.world.agents]


worlds.register("corridor", Component(CorridorConfig, lambda config, _context: Corridor(config)))
minds.register("walker", Component(WalkerConfig, build_walkers))
