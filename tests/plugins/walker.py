"""Minds for the corridor of the examples, and a corridor without a picture; a user would say `--plugin walker`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from corridor import Corridor, CorridorConfig, Walk
from pydantic import NonNegativeFloat, PositiveInt

from maeil import Component, ComponentConfig, Plan, Task, TeamContext, Thought, View
from quorum.configuration.registry import minds, worlds


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


class DarkCorridorConfig(CorridorConfig):
    """The values of `dark`."""

    name: Literal["dark"]


class DarkCorridor(Corridor):
    """A corridor that nobody can draw."""

    name = "dark"
    canvas = draw = None


worlds.register("dark", Component(DarkCorridorConfig, lambda config, _context: DarkCorridor(config)))
minds.register("walker", Component(WalkerConfig, build_walkers))
