"""LLaMAC beside naive teams over the simulated model with the same error rates, paired by boards.

python benchmarks/critics.py --boards 20
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.cell import Cell
from experiments.episode import run_cell
from experiments.statistics.intervals import estimate
from experiments.statistics.testing import sign_flip_test
from maeil.metrics import Value

WORLDS = {
    "CUBE, n = 4": ("env=cube", "n=4", "max_steps=100"),
    "CUBE, n = 8": ("env=cube", "n=8", "max_steps=150"),
    "MA-Crafter (coop2), n = 3": ("env=crafter_coop2",),
}
ARMS = {
    "naive, individual": ("agents=naive", "topology=individual"),
    "naive, centralized": ("agents=naive", "topology=centralized"),
    "LLaMAC": ("agents=llamac", "topology=centralized", "topology.leader=coordinator", "topology.rounds=3"),
}
RATES = {"malformed": 0.05, "invalid": 0.1, "poor": 0.2, "refusal": 0.01}
COLUMNS = {
    "completion": "outcome.completion",
    "score": "outcome.score",
    "steps": "outcome.steps",
    "calls": "model.calls",
    "tokens written": "model.completion_tokens",
    "rejections": "gates.rejections",
    "rounds of feedback": "gates.feedback_rounds",
    "repaired": "gates.repaired_plans",
}


def episodes(world: str, arm: str, boards: int, out: Path) -> tuple[list[Mapping[str, Value]], int]:
    """Run an arm on the boards `0 .. boards - 1`; give the metrics, and how many the gates ended before their time."""
    rates = [f"llm.{name}={rate}" for name, rate in RATES.items()]
    overrides = [*WORLDS[world], *ARMS[arm], *rates]
    results = [run_cell(Cell.compose([*overrides, f"seed={seed}"]), out) for seed in range(boards)]
    return [result.metrics for result in results], sum(bool(result.reason) for result in results)


def values(found: Sequence[Mapping[str, Value]], metric: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A metric over the boards, in order; it is defined in every episode."""
    return np.array([float(metrics[metric] or 0) for metrics in found])


def difference(paired: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Three cells of a table: the mean of paired differences, its 95 % interval, and the p of the sign-flip test."""
    found = estimate(paired)
    return f"{found.value:+.3f} | {found.low:+.3f} to {found.high:+.3f} | {sign_flip_test(paired):.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the tables as Markdown: means, then paired differences of LLaMAC from each other arm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    boards = parser.parse_args(arguments).boards
    print("| world | team |", " | ".join(COLUMNS), "| failed by a gate |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    differences = []
    with tempfile.TemporaryDirectory() as out:
        for world in WORLDS:
            found = {}
            for arm in ARMS:
                found[arm], failed = episodes(world, arm, boards, Path(out))
                means = (f"{values(found[arm], metric).mean():.2f}" for metric in COLUMNS.values())
                print(f"| {world} | {arm} |", " | ".join(means), f"| {failed} |", flush=True)
            for arm in list(ARMS)[:-1]:
                for name in ("completion", "score", "steps"):
                    paired = values(found["LLaMAC"], COLUMNS[name]) - values(found[arm], COLUMNS[name])
                    differences.append(f"| {world} | {arm} | {name} | {difference(paired)} |")
    print("\n| world | LLaMAC less | metric | mean paired difference | 95 % interval | p (sign flips) |")
    print("|---" * 6 + "|")
    print("\n".join(differences))
    return 0


if __name__ == "__main__":
    sys.exit(main())
