"""The main job of `make run`: the heuristic team on CUBE at five sizes, beside the published figures.

python -m experiments.baseline --out runs
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.cell import Cell
from experiments.episode import Result, run_cell
from experiments.errors import UserError

SIZES = (1, 2, 4, 8, 16)
SEEDS = range(5)
PUBLISHED = {1: ("1/1", "29"), 2: ("3/3", "100"), 4: ("3/3", "105"), 8: ("6/6", "165")}
"""Delivered blocks and mean steps of the published heuristic by n, read off the plots of the CUBE page."""


def run_baseline(out: Path, console: Console) -> dict[int, list[Result]]:
    """Run every size with every seed; give the results by size."""
    results: dict[int, list[Result]] = {}
    for n in SIZES:
        with console.status(f"n={n}, {len(SEEDS)} episodes"):
            results[n] = [run_cell(Cell.compose([f"n={n}", f"seed={seed}"]), out) for seed in SEEDS]
    return results


def table(results: dict[int, list[Result]]) -> Table:
    """Lay out the results beside the published figures: a row a size."""
    rows = Table(title=f"The heuristic team on CUBE, {len(SEEDS)} seeds each")
    for column in ("n", "delivered", "steps", "range", "seconds", "published delivered", "published steps"):
        rows.add_column(column, justify="right")
    for n, episodes in results.items():
        reached = mean(_count(episode, "outcome.reached") for episode in episodes)
        goals = mean(_count(episode, "outcome.goals") for episode in episodes)
        steps = [_count(episode, "outcome.steps") for episode in episodes]
        seconds = mean(episode.seconds for episode in episodes)
        delivered, published = PUBLISHED.get(n, ("-", "-"))
        rows.add_row(
            str(n), f"{reached:g}/{goals:g}", f"{mean(steps):.1f}", f"{min(steps)}-{max(steps)}", f"{seconds:.2f}",
            delivered, published,
        )  # fmt: skip
    rows.caption = "means of an episode; published: read off the plots of the CUBE page"
    return rows


def _count(episode: Result, metric: str) -> int:
    value = episode.metrics[metric]
    assert value is not None
    return int(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and print the table; give the exit code."""
    parser = argparse.ArgumentParser(description="Run the heuristic team on CUBE at several sizes.")
    parser.add_argument("--out", type=Path, default=Path("runs"), metavar="DIR", help="the folder for results")
    out: Path = parser.parse_args(arguments).out / f"baseline-{datetime.now():%Y%m%d-%H%M%S}"
    console = Console()
    begin = time.perf_counter()
    try:
        results = run_baseline(out, console)
    except UserError as error:
        Console(stderr=True).print(Text(f"error: {error}"), soft_wrap=True)
        return 2
    shown = results[8][0]
    console.print(Text(f"Final board of {shown.cell.name}:"))
    console.print(Text.from_ansi(shown.board))
    console.print(table(results))
    episodes = len(SIZES) * len(SEEDS)
    console.print(Text(f"{episodes} episodes in {time.perf_counter() - begin:.1f} s; results: {out}"), soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
