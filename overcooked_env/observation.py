"""The observation of an agent of Overcooked, the names of pots, and reachability of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from quorum_base.environments.grid import Cell as Cell  # noqa: PLC0414 (a public name here, too)
from quorum_base.environments.grid import distance as distance  # noqa: PLC0414

Item = Literal["onion", "tomato", "dish", "soup"]
INGREDIENTS: tuple[Item, ...] = ("onion", "tomato")
FLOOR, COUNTER, POT, DISHES, SERVING = " XPDS"
DISPENSERS: dict[Item, str] = {"onion": "O", "tomato": "T", "dish": DISHES}
"""The letter of the cells that dispense each item."""
ROOM = 3
"""Number of ingredients that a pot holds."""
DIRECTIONS = ("north", "south", "east", "west")
"""The directions of the package, in its order, which is also that of `neighbours`."""


@dataclass(frozen=True, slots=True)
class KitchenObservation:
    """The kitchen, which every agent sees completely; prompts show it in this form.

    A carried soup is named by its ingredients: `soup of onion+onion+onion`.

    Attributes:
        agent: name of the agent; empty for a participant without a body.
        grid: a letter per cell, row by row: see `DISPENSERS`, `FLOOR`, `COUNTER`, `POT` and `SERVING`.
        orders: ingredients, reward and cooking steps of each ordered soup.
        agents: index, row, column, direction of view, and held item (empty: nothing) of each agent.
        pots: row, column, ingredients (empty: none) and remaining cooking steps of each pot; None: not cooking.
        counters: row, column and item of each object on a counter.
        delivered: number of ordered soups served.
        goal: number of soups to serve; 0 if there is no such number.
        step: environment steps so far.
        max_steps: step limit of the episode.
    """

    agent: str
    grid: tuple[str, ...]
    orders: tuple[tuple[str, float, int], ...]
    agents: tuple[tuple[int, int, int, str, str], ...]
    pots: tuple[tuple[int, int, str, int | None], ...]
    counters: tuple[tuple[int, int, str], ...]
    delivered: int
    goal: int
    step: int
    max_steps: int

    @property
    def cells(self) -> dict[int, Cell]:
        """The cell of each agent, by index."""
        return {agent: (row, col) for agent, row, col, _, _ in self.agents}

    @property
    def facing(self) -> dict[int, Cell]:
        """The cell that each agent faces, by index."""
        return {k: neighbours((row, col))[DIRECTIONS.index(facing)] for k, row, col, facing, _ in self.agents}

    @property
    def held(self) -> dict[int, str]:
        """The item that each agent holds, by index; empty: nothing."""
        return {agent: item for agent, _, _, _, item in self.agents}

    @property
    def lying(self) -> dict[Cell, str]:
        """The item on each counter that has one."""
        return {(row, col): item for row, col, item in self.counters}

    @property
    def contents(self) -> dict[Cell, tuple[str, int | None]]:
        """Ingredients of each pot, and remaining cooking steps."""
        return {(row, col): (ingredients, left) for row, col, ingredients, left in self.pots}

    def having(self, item: Item) -> set[Cell]:
        """Return the cells from which an item can be taken by hand: its dispensers, and counters that hold it."""
        lying = {cell for cell, what in self.lying.items() if kind_of(what) == item}
        return lying.union(places(self.grid, DISPENSERS.get(item, "")))

    def reach(self, agent: int) -> frozenset[Cell]:
        """Return the cells that an agent can walk to or work at, ignoring other agents."""
        return reachable(self.grid, self.cells[agent])

    def text(self) -> str:
        """Return the observation in words."""
        agents = (f"agent_{k} at {row}, {col} with {item or 'nothing'}" for k, row, col, _, item in self.agents)
        pots = (
            f"{pot_name(pot)}: {has or 'empty'}, {'not on the fire' if left is None else f'ready in {left} steps'}"
            for pot, (has, left) in self.contents.items()
        )
        lying = ", ".join(f"{item} at {row}, {col}" for row, col, item in self.counters)
        head = f"Step {self.step} of {self.max_steps}. Soups served: {self.delivered}. Pots: {', '.join(pots)}."
        return f"{head} On counters: {lying or 'nothing'}. Agents: {', '.join(agents)}."


def neighbours(cell: Cell) -> tuple[Cell, ...]:
    """Return the cells north, south, east and west of a cell; some may be off the kitchen."""
    row, col = cell
    return (row - 1, col), (row + 1, col), (row, col + 1), (row, col - 1)


@cache
def places(grid: tuple[str, ...], letter: str) -> tuple[Cell, ...]:
    """Return the cells with a letter, row by row."""
    return tuple((row, col) for row, line in enumerate(grid) for col, found in enumerate(line) if found == letter)


@cache
def reachable(grid: tuple[str, ...], start: Cell) -> frozenset[Cell]:
    """Return the floor cells reachable from a cell, and the cells next to them."""
    floor, found, queue = set(places(grid, FLOOR)), {start}, [start]
    while queue:
        near = set(neighbours(queue.pop())) - found
        found |= near
        queue += near & floor
    return frozenset(found)


def kind_of(item: str) -> str:
    """Return the kind of an item, ignoring its contents: `soup of onion` is a soup."""
    return item.partition(" ")[0]


def missing(orders: Sequence[tuple[str, float, int]], ingredients: str) -> Counter[str]:
    """Return the ingredients missing for the best order that the given ones can still become.

    The best order has the highest reward per step, counting its cooking steps plus ten steps per ingredient. If no
    order is possible, nothing is missing.
    """
    has = Counter(filter(None, ingredients.split("+")))
    possible = [order for order in orders if has <= Counter(order[0].split("+"))]
    best = max(possible, key=lambda order: order[1] / (order[2] + 10 * (order[0].count("+") + 1)), default=None)
    return Counter(best[0].split("+")) - has if best is not None else Counter()


def pot_name(cell: Cell) -> str:
    """Return the name of the pot in a cell."""
    return f"pot_{cell[0]}_{cell[1]}"
