"""Minds for the corridor that count their episodes, and say in every plan how many there were and what they draw."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import corridor
from pydantic import NonNegativeFloat, NonNegativeInt

from maeil import Component, ComponentConfig, Plan, Seeds, TeamContext, Thought, View
from quorum.configuration.registry import minds


class CounterConfig(ComponentConfig):
    """Values of `counter`."""

    name: Literal["counter"]
    shared: bool
    """Whether the team has one memory, or each its own."""
    pause: NonNegativeFloat
    """Seconds that a thought takes."""
    log: str | None
    """File to which every episode adds a line when it begins: how many there were before."""
    fails_in: NonNegativeInt | None
    """Number of earlier episodes with which a thought raises."""
    lives_after: str | None
    """File that is made before a thought raises; where it is there, none does."""


class Counter:
    """Walks one cell at a time."""

    def __init__(self, config: CounterConfig, memory_name: str, memories: Any, seeds: Seeds) -> None:
        self.memory_name = memory_name
        self._config = config
        before = memories.get(memory_name, {"episodes": 0})
        if not (isinstance(before, dict) and isinstance(before.get("episodes"), int)):
            raise ValueError(f"memory {memory_name!r} is not one of a counter")
        self._before: int = before["episodes"]
        self._draw = seeds.integer() % 1000
        self._started = False

    async def think(self, view: View) -> Thought:
        if not self._started:
            self._begin(view.agent)
        await asyncio.sleep(self._config.pause)
        return Thought(Plan((corridor.Walk(cells=1),), rationale=f"{self._before} before, drawn {self._draw}"))

    def _begin(self, agent: int) -> None:
        self._started = True
        if self._config.log is not None and agent == 0:
            with Path(self._config.log).open("a") as file:
                file.write(f"{self._before}\n")
        spared = self._config.lives_after is not None and Path(self._config.lives_after).exists()
        if self._before == self._config.fails_in and not spared:
            if self._config.lives_after is not None:
                Path(self._config.lives_after).touch()
            raise RuntimeError("the counter lost count")

    def remember(self) -> dict[str, int]:
        return {"episodes": self._before + 1, "draw": self._draw}


def build_counters(config: CounterConfig, context: TeamContext) -> Sequence[Counter]:
    """Make one for each agent."""
    return [
        Counter(config, "counters" if config.shared else name, context.memories, context.seeds.child(index))
        for index, name in enumerate(context.world.agents)
    ]


minds.register("counter", Component(CounterConfig, build_counters, remembers=True))
