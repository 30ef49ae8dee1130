"""The observation of an agent of level-based foraging, and the names and neighbours of cells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from quorum_base.environments.grid import Cell as Cell  # noqa: PLC0414 (a public name here, too)
from quorum_base.environments.grid import distance as distance  # noqa: PLC0414

_NAME = re.compile(r"food_(\d+)_(\d+)")


@dataclass(frozen=True, slots=True)
class ForagingObservation:
    """The field as one agent sees it, or the whole field; prompts show it in this form.

    Attributes:
        agent: name of the agent; empty for a participant without a body, which sees everything.
        side: number of rows and of columns.
        sight: rows and columns to each side in which the agent sees foods.
        foods: row, column and level of each food, row by row.
        agents: index, row, column and level of each agent, including the observer.
        step: environment steps so far.
        max_steps: step limit of the episode.
    """

    agent: str
    side: int
    sight: int
    foods: tuple[tuple[int, int, int], ...]
    agents: tuple[tuple[int, int, int, int], ...]
    step: int
    max_steps: int

    @property
    def food_levels(self) -> dict[Cell, int]:
        """The level of the food in each cell that has food."""
        return {(row, col): level for row, col, level in self.foods}

    @property
    def cells(self) -> dict[int, Cell]:
        """The cell of each agent, by index."""
        return {agent: (row, col) for agent, row, col, _ in self.agents}

    @property
    def levels(self) -> dict[int, int]:
        """The level of each agent, by index."""
        return {agent: level for agent, _, _, level in self.agents}

    def standing_next_to(self, cell: Cell) -> tuple[int, ...]:
        """Return the agents that stand next to a cell, ascending."""
        return tuple(agent for agent, own in self.cells.items() if distance(own, cell) == 1)

    def may_hold_food(self, cell: Cell, agent: int | None) -> bool:
        """Whether a cell may hold food, as far as an agent can know with its sight; None: any agent."""
        inside = all(0 < part < self.side - 1 for part in cell)
        own = self.cells[agent] if agent is not None else cell
        out_of_sight = max(abs(own[0] - cell[0]), abs(own[1] - cell[1])) > self.sight
        return cell in self.food_levels or (inside and out_of_sight)

    def text(self) -> str:
        """Return the observation in words."""
        foods = ", ".join(f"{food_name((row, col))} of level {level}" for row, col, level in self.foods)
        agents = ", ".join(f"agent_{i} of level {level} at {row}, {col}" for i, row, col, level in self.agents)
        return f"Step {self.step} of {self.max_steps}. Foods: {foods or 'none in sight'}. Agents: {agents}."


def neighbours(cell: Cell) -> tuple[Cell, ...]:
    """Return the cells north, south, west and east of a cell; some may be off the field."""
    row, col = cell
    return (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)


def food_name(cell: Cell) -> str:
    """Return the name of the food in a cell; food never moves."""
    return f"food_{cell[0]}_{cell[1]}"


def food_cell(name: str) -> Cell | None:
    """Return the cell of the food named at the start of a text; None if there is none."""
    found = _NAME.match(name)
    return (int(found[1]), int(found[2])) if found else None


def named_foods(text: str) -> tuple[Cell, ...]:
    """Return the cells of all foods that a text names, each once."""
    return tuple(dict.fromkeys((int(row), int(col)) for row, col in _NAME.findall(text)))
