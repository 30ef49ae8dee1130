"""The world: corridors side by side, one for each agent, who has to reach its end."""

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
    """The values of `configs/env/corridor.yaml`; they have no defaults here."""

    name: Literal["corridor"]
    n: PositiveInt
    """Agents."""
    length: PositiveInt
    """Steps from the first cell of a corridor to its end."""
    max_steps: PositiveInt
    """Steps after which the episode is cut off."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What an agent sees of its corridor.

    Attributes:
        agent: its name; empty for a participant without a body, who sees the sum over all corridors.
        cell: how far it is.
        length: where the end is.
    """

    agent: str
    cell: int
    length: int

    def text(self) -> str:
        """Return it in words."""
        return f"cell {self.cell} of {self.length}"


class Corridor(World):
    """Fulfils `maeil.World` and `quorum_base.drawing.Drawable`.

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
        """Start a new episode: all stand in the first cell, with an odd seed in the second one."""
        self._t = 0
        self._cells = [seed % 2] * len(self.agents)
        return {"cells": list(self._cells), "length": self._length}

    def observe(self, agent: int) -> Sight:
        """Return how far an agent is."""
        return Sight(self.agents[agent], self._cells[agent], self._length)

    def global_observation(self) -> Sight:
        """Return how far the team is in all."""
        return Sight("", sum(self._cells), self._length * len(self.agents))

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: every plan can be carried out, since nobody walks beyond the end."""
        return ()

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:  # noqa: ARG002
        """Return what carries an action out, a primitive a step."""
        return Repeat(GO, action.cells) if isinstance(action, Walk) else Repeat(STAY, 1)

    def step(self, joint: Sequence[int]) -> Transition:
        """Move all who go on; every step costs a little."""
        self._t += 1
        self._cells = [min(cell + move, self._length) for cell, move in zip(self._cells, joint, strict=True)]
        done = all(cell == self._length for cell in self._cells)
        return Transition((), -STEP_COST, end_of(success=done, truncated=self._t >= self._max_steps))

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:  # noqa: ARG002
        """Return nothing: no task here takes more than one agent."""
        return ()

    def distance(self, agent: int, other: int) -> float:
        """Return how many corridors apart two agents are."""
        return float(abs(agent - other))

    def progress(self) -> Progress:
        """Return how many agents have reached the end."""
        reached = sum(cell == self._length for cell in self._cells)
        return Progress(reached, len(self.agents), float(reached))

    def ansi(self) -> str:
        """Draw a corridor a line, with a letter for its agent."""
        return "\n".join("." * cell + f"[{chr(ord('a') + i % 26)}]" for i, cell in enumerate(self._cells))

    def canvas(self) -> Canvas:
        """Return what stays as it is: the grid and the legend."""
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
