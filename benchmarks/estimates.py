"""Compares the estimates of a dry run with the episodes as played: for every named experiment and published figure.

Each row estimates the whole sweep, then plays boards for about `--seconds` seconds, and scales the estimate to their
share of the cells. The boards are spread over those of the experiment, so the pilots of the estimate have played few of
them. Experiments that use no model are left out.

python -m benchmarks.estimates [NAME ...] [--seconds 20]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import orjson

from quorum.agents.llm.spending import Spent
from quorum.configuration.catalogue import EXPERIMENT, options
from quorum.study.reproduce.figure_file import figure_names, load_figure
from quorum.study.reproduce.points import HERE
from quorum.study.reproduce.run import requests
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.estimate import Forecast
from quorum.sweeps.run import SweepRequest

SECONDS = 20.0
"""Approximate computing time of the played boards of an experiment, in seconds."""


@dataclass(frozen=True)
class Row:
    """An estimate and what was played.

    Attributes:
        name: name of the experiment or the figure.
        forecast: estimate for all cells.
        played: number of cells played.
        spent: cost of these cells.
        seconds: wall time of the dry run.
    """

    name: str
    forecast: Forecast
    played: int
    spent: Spent
    seconds: float

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """Answers, tokens and money: as estimated for the played cells, and as played."""
        share = self.played / self.forecast.planned
        usd = self.forecast.usd if self.forecast.usd is not None else float("nan")
        expected = (self.forecast.answers, self.forecast.tokens, usd)
        return tuple(
            zip((share * e for e in expected), (self.spent.answers, self.spent.tokens, self.spent.usd), strict=True)
        )

    @property
    def worst(self) -> float:
        """The largest error, as a share of the value as played."""
        return max((abs(expected / spent - 1) for expected, spent in self.pairs if spent), default=inf)

    def line(self) -> str:
        """Return it as a line of the table."""
        (answers, of_answers), (tokens, of_tokens), (usd, of_usd) = self.pairs
        sources = ", ".join(f"{number} {source}" for source, number in self.forecast.sources.items())
        return (
            f"| {self.name} | {self.played:,} of {self.forecast.planned:,} | {answers:,.0f} | {of_answers:,.0f} "
            f"| {tokens:,.0f} | {of_tokens:,.0f} | {usd:,.2f} | {of_usd:,.2f} | {self.worst:.0%} | {sources} "
            f"| {self.seconds:.0f} |"
        )


HEADER = (
    "| experiment | cells played | answers, estimated | played | tokens, estimated | played | USD, estimated | played "
    "| largest error | cells by source | dry run, s |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def sweeps() -> dict[str, tuple[str, ...]]:
    """Return the arguments of each named experiment, and of each part of a figure that plays something else."""
    found: dict[str, tuple[str, ...]] = {
        option.name: (f"{EXPERIMENT}={option.name}",) for option in options() if option.group == EXPERIMENT
    }
    for name in figure_names():
        for teams in requests(load_figure(name), SweepRequest((), Path())):
            if (words := tuple(teams[HERE].words)) not in found.values():
                found[f"{name}, {teams[HERE].name}" if name in found else name] = words
    return found


def compare(
    name: str, words: Sequence[str], seconds: float = SECONDS, *, boards_played: int | None = None
) -> Row | None:
    """Estimate a sweep, play boards of it, and compare; None if it uses no model.

    Args:
        name: name of the experiment or the figure.
        words: arguments of the sweep.
        seconds: computing time of the played boards, which gives their number.
        boards_played: the number of boards itself, so that the result does not depend on the machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        request = SweepRequest((*words, "engine.workers=1"), Path(folder), "all")
        begin = time.perf_counter()
        forecast = show_plan(request)
        took = time.perf_counter() - begin
        if not forecast.answers:
            return None
        boards = sorted({orjson.loads(cell.configuration)["seed"] for cell in forecast.cells})
        number = min(len(boards), boards_played or max(1, round(len(boards) * seconds / forecast.seconds)))
        chosen = [boards[(2 * place + 1) * len(boards) // (2 * number)] for place in range(number)]
        seed = f"seed={','.join(map(str, chosen))}"
        played = run_sweep_command(SweepRequest((*words, seed, "engine.workers=1"), Path(folder), "some"), quiet=True)
        if played.left:
            raise RuntimeError(f"{name}: {played.left} cells were not played: {played.reason}")
        return Row(name, forecast, played.planned, played.spent, took)


def rows(names: Sequence[str], seconds: float) -> Iterator[Row]:
    """Yield a row for each sweep that uses models."""
    for name, words in sweeps().items():
        if (not names or name in names) and (row := compare(name, words, seconds)) is not None:
            yield row


def main() -> None:
    """Print the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    print(HEADER, flush=True)
    worst = 0.0
    for row in rows(arguments.names, arguments.seconds):
        worst = max(worst, row.worst)
        print(row.line(), flush=True)
    print(f"\nThe largest error is {worst:.0%}.")


if __name__ == "__main__":
    main()
