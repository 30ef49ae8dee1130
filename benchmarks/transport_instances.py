"""Makes the frozen boards of grid transportation: `python benchmarks/transport_instances.py` (extra `optimum`).

For each setting, seeds 0 to 9 draw the boards. CP-SAT computes the optimum and a plan, and the script replays the plan.
Boards and optima are the same each time; plans may differ with another version of OR-tools. `--check` writes nothing
and compares.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from llamac_env import Grid, Instance, achieves, board_generator, draw_board, load_instances, settings, solve
from llamac_env.transport.frozen import instance_file
from llamac_env.transport.text import write_board, write_joint

COUNT = 10
"""Boards of a setting."""


def make(grid: Grid, seed: int) -> Instance:
    """Draw a board and solve it."""
    board = draw_board(grid, board_generator(seed))
    known = solve(board)
    assert known.optimum is not None, "the solver closes every bracket"
    assert achieves(board, known.plan), "a plan places every box with its last step"
    return Instance(seed, board, known.optimum, known.plan)


def written(instance: Instance) -> dict[str, Any]:
    """Return a board in the format of its setting's file."""
    return {
        "seed": instance.seed,
        "optimum": instance.optimum,
        "items": {place: items for place, items in write_board(instance.board).items() if items},
        "plan": [write_joint(instance.board.grid, joint) for joint in instance.plan],
    }


def main() -> None:
    """Make or check the files of all settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare boards and optima with the files")
    check = parser.parse_args().check
    for grid in settings():
        made = tuple(make(grid, seed) for seed in range(COUNT))
        optima = [instance.optimum for instance in made]
        print(f"{grid.difficulty} {grid.rows}x{grid.cols}: optima {optima}")
        if check:
            same = [(i.board, i.optimum) for i in made] == [(i.board, i.optimum) for i in load_instances(grid)]
            print("  as in the file" if same else "  NOT as in the file")
        else:
            instance_file(grid).parent.mkdir(exist_ok=True)
            text = json.dumps([written(instance) for instance in made], indent=1)
            instance_file(grid).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
