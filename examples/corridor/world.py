"""The world: parallel corridors, one per agent. Each agent must reach the end of its corridor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import PositiveInt

from corridor.actions import GO, STAY, VOCABULARY, Rest, Walk
from maeil import Component, ComponentConfig, Controller, Plan, Progress, SymbolicAction, TaskState, Transition, World
from maeil.acting import end_of
from maeil.controllers import Repeat
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind, Shape

LONGEST = 1000
STEP_COST = 0.01
LEGEND = (MarkKind("end", "#4c8c4a", "#6fbf73"), MarkKind("walker", "#3b6ea5", "#7fb2e5", Shape.WEDGE))


class CorridorConfig(ComponentConfig):
    """The values of `configs/env/corridor.yaml`; only that file has defaults."""

    name: Literal["corridor"]
    n: PositiveInt
    """Number of agents."""
    length: PositiveInt
    """Steps from the first cell of a corridor to its end."""
    max_steps: PositiveInt
    """Maximum number of steps of an episode."""


@dataclass(frozen=True, slots=True)
class Sight:
    """An agent's observation of its corridor.

    Attributes:
        agent: its name; empty for a participant without a body, which sees the sum over all corridors.
        cell: its position.
        length: position of the end.
    """

    agent: str
    cell: int
    length: int

    def text(self) -> str:
        """Return it in words."""
        return f"cell {self.cell} of {self.length}"


class Corridor(World):
    """Implements `maeil.World` and `quorum_base.drawing.Drawable`.

    Args:
        config: its values.

    Raises:
        ValueError: the corridor is too long.
    """

    name = "corridor"
    vocabulary = VOCABULARY
    idle = Rest()

    def __init__(self, config: CorridorConfig) -> None:
        if config.length > LONGEST:
            raise ValueError(f"length: {config.length} cells are too many: at most {LONGEST}")
        self.agents = tuple(f"walker_{i}" for i in range(config.n))
        self._length = config.length
        self._max_steps = config.max_steps
        self.reset(0)

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Start a new episode: all agents stand in the first cell, or in the second one if the seed is odd."""
        self._t = 0
        self._cells = [seed % 2] * len(self.agents)
        return {"cells": list(self._cells), "length": self._length}

    def observe(self, agent: int) -> Sight:
        """Return an agent's position."""
        return Sight(self.agents[agent], self._cells[agent], self._length)

    def global_observation(self) -> Sight:
        """Return the total position of the team."""
        return Sight("", sum(self._cells), self._length * len(self.agents))

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:  # noqa: ARG002
        """Return no problems: every plan is possible, because agents stop at the end."""
        return ()

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:  # noqa: ARG002
        """Return the controller of an action, which takes one primitive per step."""
        return Repeat(GO, action.cells) if isinstance(action, Walk) else Repeat(STAY, 1)

    def step(self, joint: Sequence[int]) -> Transition:
        """Move all agents that walk; every step costs a little."""
        self._t += 1
        self._cells = [min(cell + move, self._length) for cell, move in zip(self._cells, joint, strict=True)]
        done = all(cell == self._length for cell in self._cells)
        return Transition((), -STEP_COST, end_of(success=done, truncated=self._t >= self._max_steps))

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:  # noqa: ARG002
        """Return no tasks: none here takes more than one agent."""
        return ()

    def distance(self, agent: int, other: int) -> float:
        """Return how many corridors apart two agents are."""
        return float(abs(agent - other))

    def progress(self) -> Progress:
        """Return how many agents have reached the end."""
        reached = sum(cell == self._length for cell in self._cells)
        return Progress(reached, len(self.agents), float(reached))

    def ansi(self) -> str:
        """Draw each corridor on a line, with a letter for its agent."""
        return "\n".join("." * cell + f"[{chr(ord('a') + i % 26)}]" for i, cell in enumerate(self._cells))

    def canvas(self) -> Canvas:
        """Return the static part: the grid and the legend."""
        return Canvas(self._length + 1, len(self.agents), LEGEND)

    def draw(self) -> Drawing:
        """Draw the ends and the agents."""
        ends = {f"end_{i}": Mark(0, self._length, i) for i in range(len(self.agents))}
        walkers = {name: Mark(1, self._cells[i], i, title=name, agent=i) for i, name in enumerate(self.agents)}
        return Drawing(b"", {**ends, **walkers})

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return ("stay", "go")[primitive]


def build(config: CorridorConfig, _context: None) -> Corridor:
    """Make the world."""
    return Corridor(config)


component = Component(CorridorConfig, build)
