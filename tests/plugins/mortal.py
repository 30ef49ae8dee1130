"""Minds for the corridor that say when they begin, and that can kill their process or find its disk full."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import corridor
from pydantic import NonNegativeFloat, PositiveInt

from maeil import Component, ComponentConfig, Plan, TeamContext, Thought, View
from quorum.configuration.registry import minds


class MortalConfig(ComponentConfig):
    """Values of `mortal`. A length is that of the corridor in which something happens."""

    name: Literal["mortal"]
    pause: NonNegativeFloat
    """Seconds that a thought takes."""
    log: str | None
    """File to which every episode adds a line when it begins: length and number of agents."""
    dies_in: PositiveInt | None
    """Length in which the first thought kills the process."""
    lives_after: str | None
    """File that is made before a process is killed; where it is there, nobody dies."""
    fills_in: PositiveInt | None
    """Length in which the disk is full."""


class Mortal:
    """Walks one cell at a time, as long as it lives."""

    def __init__(self, config: MortalConfig, begins: bool) -> None:
        self._config = config
        self._begins = begins

    async def think(self, view: View) -> Thought:
        length = view.observation.length
        if self._begins:
            self._begin(length, view.observation.cell)
        if length == self._config.fills_in:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        await asyncio.sleep(self._config.pause)
        return Thought(Plan((corridor.Walk(cells=1),)))

    def _begin(self, length: int, cell: int) -> None:
        self._begins = False
        if self._config.log is not None:
            with Path(self._config.log).open("a") as file:
                file.write(f"{length} {cell}\n")
        spared = self._config.lives_after is not None and Path(self._config.lives_after).exists()
        if length == self._config.dies_in and not spared:
            if self._config.lives_after is not None:
                Path(self._config.lives_after).touch()
            os.kill(os.getpid(), signal.SIGKILL)


def build_mortals(config: MortalConfig, context: TeamContext) -> Sequence[Mortal]:
    """Make one for each agent; the first one reports that the episode begins."""
    return [Mortal(config, begins=not i) for i, _ in enumerate(context.world.agents)]


minds.register("mortal", Component(MortalConfig, build_mortals))
