"""The benchmark's boards, frozen: ten per setting, each with its optimum and a plan of exactly that many steps.

Created by `benchmarks/transport_instances.py`. Board `k` is the one that seed `k` draws; it stays the same even if
random generators change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from llamac_env.transport.board import Board, JointPlan
from llamac_env.transport.grid import Difficulty, EntryRule, Grid
from llamac_env.transport.text import read_agent, read_board, read_move
from quorum_base.environments.errors import WorldError

INSTANCES = Path(__file__).resolve().parent / "instances"
"""Folder of the files."""

SHAPES = ((2, 2), (2, 4), (4, 8))
"""Rows and columns of the settings, each with both difficulties."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A frozen board.

    Attributes:
        seed: its number, and the seed that draws it.
        board: the board.
        optimum: the fewest steps in which all its boxes can be placed.
        plan: a plan with that many steps.
    """

    seed: int
    board: Board
    optimum: int
    plan: JointPlan


def settings() -> tuple[Grid, ...]:
    """Return the grids of the benchmark: easy ones, then hard ones."""
    return tuple(Grid(rows, cols, difficulty) for difficulty in Difficulty for rows, cols in SHAPES)


@cache
def load_instances(grid: Grid) -> tuple[Instance, ...]:
    """Return the boards of a setting.

    Raises:
        WorldError: the benchmark has no boards for this grid.
    """
    file = instance_file(grid)
    if (grid.rows, grid.cols) not in SHAPES or grid.entry_rule is not EntryRule.final_state:
        shapes = ", ".join(f"{rows} x {cols}" for rows, cols in SHAPES)
        raise WorldError(
            f"boards: frozen boards are for {shapes} with entry_rule final_state, "
            f"not for {grid.rows} x {grid.cols} with {grid.entry_rule}: set env.boards=drawn"
        )
    return tuple(_read(grid, data) for data in json.loads(file.read_text(encoding="utf-8")))


def find_instance(grid: Grid, seed: int) -> Instance:
    """Return the board of a seed.

    Raises:
        WorldError: the benchmark has no such board.
    """
    instances = load_instances(grid)
    if seed >= len(instances):
        raise WorldError(
            f"boards: frozen boards exist for the seeds 0 to {len(instances) - 1}, not {seed}: set env.boards=drawn"
        )
    return instances[seed]


def instance_file(grid: Grid) -> Path:
    """Return the path of a setting's boards."""
    return INSTANCES / f"{grid.difficulty}_{grid.rows}x{grid.cols}.json"


def _read(grid: Grid, data: dict[str, Any]) -> Instance:
    plan = []
    for joint in data["plan"]:
        moves = {}
        for name, action in joint.items():
            agent = read_agent(grid, name)
            moves[agent] = read_move(grid, agent, action)
        plan.append(moves)
    return Instance(data["seed"], read_board(grid, data["items"]).check(), data["optimum"], tuple(plan))
