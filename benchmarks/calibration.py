"""Fits `llm=simulated_calibrated` to published failure rates, and compares it on rows that the fit has not seen.

    python benchmarks/calibration.py              # the rates of configs/llm/simulated_calibrated.yaml: some ten minutes
    python benchmarks/calibration.py --quick      # one board, two candidates: a trial

The script searches two rates on a grid: `poor`, and `crowding`, by which `poor` grows with the team. The loss of a row
is the mean square of its differences from the published row: the share of successes or of delivered blocks, and the
steps as a share of the limit. The published boards are not public, so these are others of the same kind. The result
says how often such a team fails, and nothing about a model or a method that is not among the rows.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

EXPERIMENTS = Path(__file__).parents[1] / "configs" / "experiment"
FITTED = {("HMAS-2 hard", 4), ("HMAS-2 hard", 32), ("naive", 2), ("naive", 8)}
"""The rows to fit, by arm and agents; all others are held out."""
MODELS = {"gpt-4o", None}
"""The model of the rows used: one profile cannot represent two models; LLaMAC's table has only one."""
POOR, CROWDING = (0.15, 0.25, 0.35, 0.45), (0.005, 0.015, 0.025)
PUBLISHED_MOST = {1: 1, 2: 3, 4: 3, 8: 6}
"""Blocks of the published boards of CUBE's baselines, by number of agents."""


@dataclass(frozen=True)
class Row:
    """A published row.

    Attributes:
        arm: arm of its experiment.
        n: number of agents.
        words: the configuration.
        limit: maximum number of environment steps of an episode.
        share: published share of successes, or of blocks.
        steps: published mean steps; None if no episode succeeded.
    """

    arm: str
    n: int
    words: tuple[str, ...]
    limit: int
    share: float
    steps: float | None

    @property
    def key(self) -> tuple[str, int]:
        """Its arm and its number of agents."""
        return self.arm, self.n


def published_rows() -> Iterator[Row]:
    """Read the rows of the experiments in which a language model answers."""
    for name in ("llamac_table2", "cube_baselines"):
        page = yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text(encoding="utf-8"))
        fixed = [word for word in page["fixed"] if not word.startswith("llm=")]
        for arm, *rest in page["published"]["rows"]:
            model, n, share, steps = rest[:4] if name == "cube_baselines" else (None, *rest[:3])
            words = (*fixed, *page["arms"][arm], f"n={n}")
            if model not in MODELS or "agents=heuristic" in words:
                continue
            if name == "cube_baselines":
                yield Row(arm, n, words, 200, share / PUBLISHED_MOST[n], steps)
            else:
                yield Row(arm, n, words, 40 if n == 32 else 30, share, steps[0] if steps is not None else None)


def play(words: Sequence[str]) -> tuple[float, float | None]:
    """Play an episode; return the share reached, and the steps, in grid transportation only for a success."""
    with tempfile.TemporaryDirectory() as folder:
        metrics: Mapping[str, Any] = run_cell(Cell.compose(list(words)), Path(folder)).metrics
    if "env=cube" in words:
        return metrics["outcome.completion"], metrics["outcome.steps"]
    return metrics["outcome.success"], metrics["outcome.steps_to_finish"]


Found = tuple[float, float | None]


def simulate(pool: ProcessPoolExecutor, rows: Sequence[Row], model: Sequence[str], boards: int) -> list[Found]:
    """Return the mean share and steps of each row with a model."""
    runs = [[pool.submit(play, (*row.words, *model, f"seed={seed}")) for seed in range(boards)] for row in rows]
    found = []
    for futures in runs:
        played = [future.result() for future in futures]
        steps = [each for _, each in played if each is not None]
        found.append((statistics.mean(share for share, _ in played), statistics.mean(steps) if steps else None))
    return found


def loss(row: Row, found: Found) -> float:
    """Return the mean square of the differences, 0 to 1."""
    differences = [row.share - found[0]]
    if row.steps is not None and found[1] is not None:
        differences.append((row.steps - found[1]) / row.limit)
    return statistics.mean(difference**2 for difference in differences)


def mean_loss(rows: Sequence[Row], found: Sequence[Found]) -> float:
    """Return the mean loss of some rows."""
    return statistics.mean(map(loss, rows, found))


def table(rows: Sequence[Row], found: Sequence[Found], title: str) -> Table:
    """Show published and simulated rows, fitted and held out."""
    shown = Table("row", "n", "", "published", "steps", "simulated", "steps", "loss", title=title)
    for row, (share, steps) in zip(rows, found, strict=True):
        shown_steps = ["-" if value is None else f"{value:.1f}" for value in (row.steps, steps)]
        kind = "fitted" if row.key in FITTED else "held out"
        shown.add_row(
            row.arm, str(row.n), kind, f"{row.share:.2f}", shown_steps[0], f"{share:.2f}", shown_steps[1],
            f"{loss(row, (share, steps)):.3f}",
        )  # fmt: skip
    return shown


def main() -> None:
    """Fit, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a trial run")
    parser.add_argument("--boards", type=int, default=10, help="number of boards of each row")
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    arguments = parser.parse_args()
    boards, grid = arguments.boards, list(itertools.product(POOR, CROWDING))
    rows = list(published_rows())
    if arguments.quick:
        boards, grid, rows = 1, grid[:2], [row for row in rows if row.n <= 2 or row.key == ("HMAS-2 hard", 4)]
    fitted = [row for row in rows if row.key in FITTED]
    console = Console()
    with ProcessPoolExecutor(arguments.workers) as pool:
        losses = {}
        for poor, crowding in grid:
            model = ("llm=simulated", f"llm.poor={poor}", f"llm.crowding={crowding}")
            losses[model] = mean_loss(fitted, simulate(pool, fitted, model, boards))
            console.print(f"poor {poor}, crowding {crowding}: loss {losses[model]:.4f}")
        best = min(losses, key=lambda model: losses[model])
        for model in (best, ("llm=simulated",), ("llm=simulated_faults",)):
            found = simulate(pool, rows, model, boards)
            console.print(table(rows, found, " ".join(model)))
            for kind, kept in (("fitted", True), ("held out", False)):
                pairs = [(r, f) for r, f in zip(rows, found, strict=True) if (r.key in FITTED) is kept]
                console.print(f"mean loss, {kind}: {mean_loss(*zip(*pairs, strict=True)):.4f}")


if __name__ == "__main__":
    main()
