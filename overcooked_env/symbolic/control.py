"""The symbolic actions of Overcooked, and the controller that walks and works."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from maeil.actions import SymbolicAction, Vocabulary
from maeil.controllers import SUCCESS, failed
from maeil.plans import Task
from maeil.world import ActionEnd
from overcooked_env.observation import (
    DIRECTIONS,
    DISPENSERS,
    FLOOR,
    INGREDIENTS,
    ROOM,
    SERVING,
    Item,
    KitchenObservation,
    kind_of,
    neighbours,
    places,
    pot_name,
)
from quorum_base.drawing import Way
from quorum_base.environments.grid import Cell, distance, shortest

PRIMITIVES = (*DIRECTIONS, "stay", "interact")
"""The actions of `overcooked-ai` by number; 0 to 3 lead to the cells of `neighbours`, in that order."""
STAY, INTERACT = 4, 5
CLOSE = 2
"""Maximum distance of two agents that can step to the same cell."""

Index = Annotated[int, Field(ge=0)]
Patience = Annotated[int, Field(ge=0, le=1000, description="most steps to stand still")]


class Fetch(SymbolicAction):
    """Take an item with your empty hand from the nearest dispenser or counter that has it."""

    phrase: ClassVar[str] = "fetch {item}"
    action: Literal["fetch"] = "fetch"
    item: Item
    patience: Patience = 20


class AtCell(SymbolicAction):
    """What is done at a cell that the action names."""

    row: Index
    col: Index
    patience: Patience = 20


class Fill(AtCell):
    """Put the onion or tomato in your hand into a pot."""

    phrase: ClassVar[str] = "fill the pot in row {row}, column {col}"
    action: Literal["fill"] = "fill"


class Cook(AtCell):
    """Start cooking a pot that has ingredients; your hand must be empty."""

    phrase: ClassVar[str] = "cook the pot in row {row}, column {col}"
    action: Literal["cook"] = "cook"


class Scoop(AtCell):
    """With a dish in your hand, wait at a pot until its soup is ready, then take it."""

    phrase: ClassVar[str] = "scoop the soup of the pot in row {row}, column {col}"
    action: Literal["scoop"] = "scoop"
    patience: Patience = 40


class Serve(SymbolicAction):
    """Serve the soup in your hand at the nearest serving cell."""

    phrase: ClassVar[str] = "serve the soup"
    action: Literal["serve"] = "serve"
    patience: Patience = 20


class PutDown(AtCell):
    """Put what you hold on a counter, where any agent next to it can take it."""

    phrase: ClassVar[str] = "put it down on the counter in row {row}, column {col}"
    action: Literal["put_down"] = "put_down"


class GoTo(AtCell):
    """Walk to a floor cell."""

    phrase: ClassVar[str] = "go to row {row}, column {col}"
    action: Literal["go_to"] = "go_to"
    patience: Patience = 5


class Wait(SymbolicAction):
    """Do nothing for `steps` steps."""

    phrase: ClassVar[str] = "wait {steps} step(s)"
    action: Literal["wait"] = "wait"
    steps: Annotated[int, Field(ge=1, le=1000)] = 1


VOCABULARY = Vocabulary(Fetch, Fill, Cook, Scoop, Serve, PutDown, GoTo, Wait)
Work = Fetch | Fill | Cook | Scoop | Serve | PutDown | GoTo
AtPot = Fill | Cook | Scoop
_ANYTHING = {*DISPENSERS, "soup"}
_HANDS: dict[str, tuple[Collection[str], str]] = {
    "fetch": ({""}, "hands_full"),
    "fill": (INGREDIENTS, "no_ingredient"),
    "cook": ({""}, "hands_full"),
    "scoop": ({"dish"}, "no_dish"),
    "serve": ({"soup"}, "no_soup"),
    "put_down": (_ANYTHING, "hands_empty"),
    "go_to": (_ANYTHING | {""}, ""),
}
"""The item that each action requires in the hand (empty: nothing), and the reason of failure otherwise."""


def task_of(pot: Cell) -> Task:
    """Return the task of making the soup of a pot."""
    return Task("soup", pot_name(pot))


def misfit(action: Work, hand: str) -> str:
    """Return why an action fails with this hand; empty if it does not."""
    kinds, reason = _HANDS[action.action]
    return "" if kind_of(hand) in kinds else reason


class Errand:
    """Carries out every action except `wait`; implements `maeil.world.Controller`.

    Two agents that step to the same cell both stay where they are. Then the one with the higher index lets the other
    pass; if there is no way around the other, it steps back.

    Args:
        look: returns the current kitchen.
        agent: index of the agent.
        action: the action to carry out.
    """

    def __init__(self, look: Callable[[], KitchenObservation], agent: int, action: Work) -> None:
        self._look = look
        self._agent = agent
        self._action = action
        self._patience = action.patience
        self._worked = False
        self._next: Cell | None = None
        self._blocked: set[Cell] = set()

    def status(self) -> ActionEnd | None:
        """Return the end when the work is done, the held item does not fit, or patience has run out."""
        seen, action = self._look(), self._action
        hand, (targets, is_ready) = seen.held[self._agent], _targets(seen, action)
        reason = misfit(action, hand)
        match action:
            case GoTo():
                is_done = seen.cells[self._agent] in targets
            case Cook(row=row, col=col):
                is_done = seen.contents[row, col][1] is not None
            case Fetch(item=item):
                is_done = self._worked and kind_of(hand) == item
            case _:
                is_done = self._worked and bool(reason)
        if is_done:
            return SUCCESS
        if reason:
            return failed(reason, hand or "nothing")
        if self._patience >= 0:
            return None
        if isinstance(action, Scoop) and not is_ready:
            return replace(failed("not_ready"), unmet=task_of((action.row, action.col)))
        return failed("stuck" if targets and is_ready else "not_possible")

    def act(self) -> int:
        """Return the primitive of the coming step."""
        seen = self._look()
        own, looks_at = seen.cells[self._agent], seen.facing[self._agent]
        targets, is_ready = _targets(seen, self._action)
        near = [cell for cell in neighbours(own) if cell in targets]
        self._worked = False
        if isinstance(self._action, GoTo) or not near:
            primitive = self._walk(seen, targets)
            self._patience -= primitive == STAY
            return primitive
        self._next = None
        primitive = neighbours(own).index(near[0]) if looks_at not in near else INTERACT if is_ready else STAY
        self._worked = primitive == INTERACT
        self._patience -= primitive in (STAY, INTERACT)
        return primitive

    def close(self) -> None:
        """Do nothing: no resources are shared."""

    def way(self) -> Way:
        """Return the remaining way; see `quorum_base.drawing.ShowsWays`."""
        seen = self._look()
        targets, _ = _targets(seen, self._action)
        cells = self._route(seen, targets, ())
        aim = next((cell for cell in targets if not cells or distance(cell, cells[-1]) <= 1), None)
        points = tuple((col + 0.5, row + 0.5) for row, col in cells)
        return Way(points, (aim[1], aim[0], 1, 1) if aim is not None else None)

    def _route(
        self, seen: KitchenObservation, targets: Collection[Cell], blocked: Collection[Cell]
    ) -> tuple[Cell, ...]:
        """Return the way to a floor cell, or to a cell next to any other target."""
        goals = targets if isinstance(self._action, GoTo) else {near for cell in targets for near in neighbours(cell)}
        free = set(places(seen.grid, FLOOR)).difference(blocked)
        return shortest(seen.cells[self._agent], goals, neighbours, free.__contains__)

    def _walk(self, seen: KitchenObservation, targets: Collection[Cell]) -> int:
        """Return a step of a shortest way around agents in it; if there is none, a step out of their way."""
        own = seen.cells[self._agent]
        others = {cell: agent for agent, cell in seen.cells.items() if agent != self._agent}
        was_stopped, self._next = self._next not in (None, own), None
        if was_stopped and any(agent < self._agent and distance(cell, own) <= CLOSE for cell, agent in others.items()):
            return STAY
        self._blocked &= others.keys()
        route = self._route(seen, targets, self._blocked)
        if len(route) > 1 and route[1] in others:
            self._blocked.add(route[1])
            if others[route[1]] > self._agent:
                return STAY
            route = self._route(seen, targets, self._blocked)
        if not route and self._blocked and min(others[cell] for cell in self._blocked) < self._agent:
            self._patience -= 1
            back = [cell for cell in neighbours(own) if cell in places(seen.grid, FLOOR) and cell not in others]
            far = {cell: min(distance(cell, one) for one in self._blocked) for cell in back}
            route = (own, max(back, key=far.__getitem__)) if back else ()
        if len(route) <= 1 or route[1] in others:
            return STAY
        self._next = route[1]
        return neighbours(own).index(route[1])


def _targets(seen: KitchenObservation, action: Work) -> tuple[Collection[Cell], bool]:
    """Return the target cells of an action, and whether it can be done there now."""
    match action:
        case Fetch(item=item):
            return seen.having(item), True
        case Serve():
            return places(seen.grid, SERVING), True
    cell = action.row, action.col
    has, left = seen.contents.get(cell, ("", None))
    count = has.count("+") + bool(has)
    match action:
        case Fill():
            return [cell], left is None and count < ROOM
        case Cook():
            return [cell], left is None and count > 0
        case Scoop():
            return [cell], left == 0
    return [cell], cell not in seen.lying
