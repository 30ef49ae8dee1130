"""A tiny world for tests of the loop: each agent walks along its own corridor and has to reach its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from maeil.acting import end_of
from maeil.actions import ActionStatus, SymbolicAction, Vocabulary
from maeil.plans import Plan
from maeil.world import ActionEnd, Progress, Transition, World


class Walk(SymbolicAction):
    """Walk some steps; `fails_at` makes it fail after so many."""

    action: Literal["walk"] = "walk"
    steps: int = 1
    fails_at: int | None = None


class Rest(SymbolicAction):
    action: Literal["rest"] = "rest"
    steps: int = 1


@dataclass(frozen=True)
class CorridorView:
    cell: int

    def text(self) -> str:
        return f"at {self.cell}"


class Walker:
    def __init__(self, primitive: int, steps: int, fails_at: int | None = None) -> None:
        self.primitive, self.steps, self.fails_at, self.ticks, self.closed = primitive, steps, fails_at, 0, 0

    def status(self) -> ActionEnd | None:
        if self.ticks == self.fails_at:
            return ActionEnd(ActionStatus.FAILED, "stumbled")
        return ActionEnd(ActionStatus.SUCCESS) if self.ticks >= self.steps else None

    def act(self) -> int:
        self.ticks += 1
        return self.primitive

    def close(self) -> None:
        self.closed += 1


class Corridor(World):
    name = "hallway"  # `corridor` is the world of examples/, which a plug-in may have registered
    vocabulary = Vocabulary(Walk, Rest)
    idle = Rest()

    def __init__(self, agents: int = 2, length: int = 3, max_steps: int = 20) -> None:
        self.agents = tuple(f"agent_{i}" for i in range(agents))
        self.length, self.max_steps = length, max_steps
        self.controllers: list[Walker] = []

    def reset(self, seed: int) -> Mapping[str, Any]:
        self.cells, self.t = [0] * len(self.agents), 0
        return {"length": self.length, "seed": seed}

    def observe(self, agent: int) -> CorridorView:
        return CorridorView(self.cells[agent])

    def global_observation(self) -> CorridorView:
        return CorridorView(sum(self.cells))

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        return tuple("too far" for action in plan.actions if isinstance(action, Walk) and action.steps > self.length)

    def start_action(self, agent: int, action: SymbolicAction) -> Walker:
        match action:
            case Walk(steps=steps, fails_at=fails_at):
                walker = Walker(1, steps, fails_at)
            case Rest(steps=steps):
                walker = Walker(0, steps)
            case _:
                raise TypeError(action)
        self.controllers.append(walker)
        return walker

    def step(self, joint: Sequence[int]) -> Transition:
        self.cells = [min(cell + move, self.length) for cell, move in zip(self.cells, joint, strict=True)]
        self.t += 1
        done = all(cell == self.length for cell in self.cells)
        outcomes = tuple({"what": "arrival", "agent": i} for i, move in enumerate(joint) if move and done)
        end = end_of(success=done, truncated=self.t >= self.max_steps)
        return Transition(outcomes, sum(joint) / len(joint), end)

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> tuple[()]:
        return ()

    def distance(self, agent: int, other: int) -> float:
        return abs(agent - other)

    def progress(self) -> Progress:
        there = sum(cell == self.length for cell in self.cells)
        return Progress(there, len(self.cells), float(sum(self.cells)))

    def ansi(self) -> str:
        return " ".join(map(str, self.cells))
