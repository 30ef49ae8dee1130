"""The symbolic actions of level-based foraging, and the controller that walks and loads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lbf_env.observation import Cell, ForagingObservation, distance, food_name, neighbours
from maeil.actions import SymbolicAction, Vocabulary
from maeil.controllers import SUCCESS, failed
from maeil.plans import Task
from maeil.world import ActionEnd
from quorum_base.drawing import Way
from quorum_base.environments.grid import shortest

PRIMITIVES = ("none", "north", "south", "west", "east", "load")
"""The actions of `lbforaging` by number; 1 to 4 lead to the cells of `neighbours`, in that order."""
NONE, LOAD = 0, 5
CLOSE = 2
"""Maximum distance of two agents that can step to the same cell."""

Index = Annotated[int, Field(ge=0)]
Patience = Annotated[int, Field(ge=0, le=1000, description="most steps to stand still")]


class GoTo(SymbolicAction):
    """Walk to a cell by the shortest way around foods and agents."""

    phrase: ClassVar[str] = "go to row {row}, column {col}"
    action: Literal["go_to"] = "go_to"
    row: Index
    col: Index
    patience: Patience = 5


class Load(SymbolicAction):
    """Walk to a cell next to the food, wait until the levels of the agents there suffice, and load it together."""

    phrase: ClassVar[str] = "load the food in row {row}, column {col}"
    action: Literal["load"] = "load"
    row: Index
    col: Index
    patience: Patience = 20


class Wait(SymbolicAction):
    """Do nothing for `steps` steps."""

    phrase: ClassVar[str] = "wait {steps} step(s)"
    action: Literal["wait"] = "wait"
    steps: Annotated[int, Field(ge=1, le=1000)] = 1


VOCABULARY = Vocabulary(GoTo, Load, Wait)


def task_of(food: Cell) -> Task:
    """Return the task of loading a food."""
    return Task("load", food_name(food))


class Forage:
    """Carries out `go_to` and `load`; implements `maeil.world.Controller`.

    Two agents that step to the same cell both stay where they are, and two that walk around each other may do so
    forever. So a stopped agent first waits one step for each nearby agent with a lower index, so that one of them gets
    through.

    Args:
        look: returns the current whole field.
        agent: index of the agent.
        action: the action to carry out.
    """

    def __init__(self, look: Callable[[], ForagingObservation], agent: int, action: GoTo | Load) -> None:
        self._look = look
        self._agent = agent
        self._goal = action.row, action.col
        self._loads = isinstance(action, Load)
        self._patience = action.patience
        self._loaded = False
        self._route: tuple[Cell, ...] = ()
        self._pause = 0
        self._waits = False

    def status(self) -> ActionEnd | None:
        """Return the end when the agent has arrived, the food is loaded or gone, or patience has run out."""
        seen = self._look()
        if not self._loads:
            if seen.cells[self._agent] == self._goal:
                return SUCCESS
        elif (level := seen.food_levels.get(self._goal)) is None:
            return SUCCESS if self._loaded else failed("no_food", food_name(self._goal))
        elif self._is_there(seen) and self._patience <= 0 and self._strength(seen) < level:
            return replace(failed("too_weak", self._strength(seen), "of", level), unmet=task_of(self._goal))
        return failed("stuck") if self._patience < 0 else None

    def act(self) -> int:
        """Return the primitive of the coming step."""
        seen = self._look()
        self._loaded = False
        if self._loads and self._is_there(seen):
            self._loaded = self._strength(seen) >= seen.food_levels[self._goal]
            primitive = LOAD if self._loaded else NONE
        else:
            primitive = self._walk(seen)
        self._patience -= primitive in (NONE, LOAD)
        return primitive

    def close(self) -> None:
        """Do nothing: no resources are shared."""

    def way(self) -> Way:
        """Return the remaining way; see `quorum_base.drawing.ShowsWays`."""
        seen = self._look()
        cells = self._rest(seen) or self._find(seen, ())
        points = tuple((col + 0.5, row + 0.5) for row, col in cells)
        return Way(points, (self._goal[1], self._goal[0], 1, 1))

    def _is_there(self, seen: ForagingObservation) -> bool:
        return distance(seen.cells[self._agent], self._goal) == 1

    def _strength(self, seen: ForagingObservation) -> int:
        return sum(seen.levels[agent] for agent in seen.standing_next_to(self._goal))

    def _rest(self, seen: ForagingObservation) -> tuple[Cell, ...]:
        """Return the route from the agent's cell; empty if the agent is off its route."""
        own = seen.cells[self._agent]
        return self._route[self._route.index(own) :] if own in self._route else ()

    def _find(self, seen: ForagingObservation, others: Collection[Cell]) -> tuple[Cell, ...]:
        """Return the way around foods and agents; if there is none, the way that is free once agents have left."""
        start, foods = seen.cells[self._agent], seen.food_levels.keys()
        goals = set(neighbours(self._goal)) - foods if self._loads else {self._goal}

        def is_field(cell: Cell) -> bool:
            return min(cell) >= 0 and max(cell) < seen.side and cell not in foods

        way = shortest(start, goals, neighbours, lambda cell: is_field(cell) and cell not in others)
        return way or shortest(start, goals, neighbours, is_field)

    def _walk(self, seen: ForagingObservation) -> int:
        """Return a step of the route; none while other agents have priority, or if there is no way."""
        own = seen.cells[self._agent]
        others = {cell for agent, cell in seen.cells.items() if agent != self._agent}
        rest = self._rest(seen)
        is_free = len(rest) > 1 and rest[1] not in others
        if self._route and (rest == self._route or not is_free) and not self._waits:
            self._pause = sum(a < self._agent and distance(cell, own) <= CLOSE for a, cell in seen.cells.items())
        self._waits = self._pause > 0
        stays = self._waits or (is_free and rest[-1] not in others)
        self._route = rest if stays else self._find(seen, others)
        if self._waits or len(self._route) <= 1 or self._route[1] in others:
            self._pause = max(self._pause - 1, 0)
            return NONE
        return 1 + neighbours(own).index(self._route[1])
