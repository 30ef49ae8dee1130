"""What the topologies do to a team of negotiators: the comparison table of the guide.

python benchmarks/talk.py --boards 20
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from maeil.metrics import Value
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

SIZES = (2, 4, 8)
ARMS = {
    "individual": ("topology=individual",),
    "debate": ("topology=debate",),
    "chain": ("topology=chain",),
    "centralized": ("topology=centralized",),
    "centralized, feedback": ("topology=centralized", "topology.feedback=constraints"),
    "decentralized": ("topology=decentralized",),
}
COLUMNS = {
    "messages": "communication.messages",
    "decision overhead": "decision.overhead",
    "plan coherence": "plans.coherence",
    "plan stability": "plans.stability",
    "violation: spatial": "constraints.violation_spatial",
    "temporal": "constraints.violation_temporal",
    "participation": "constraints.violation_participation",
    "dependency": "constraints.violation_dependency",
    "steps to quorum": "constraints.time_to_quorum",
    "completion": "outcome.completion",
    "steps": "outcome.steps",
}


def episodes(arm: str, n: int, boards: int, out: Path) -> list[Mapping[str, Value]]:
    """Run an arm on the boards `0 .. boards - 1`."""
    overrides = [f"n={n}", "agents=negotiator", "agents.noise=0.3", *ARMS[arm]]
    return [run_cell(Cell.compose([*overrides, f"seed={seed}"]), out).metrics for seed in range(boards)]


def mean(found: Sequence[Mapping[str, Value]], metric: str) -> str:
    """Mean over the episodes in which the metric is defined."""
    values = [float(metrics[metric]) for metrics in found if metrics[metric] is not None]
    return f"{statistics.mean(values):.2f}" if values else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=20)
    boards = parser.parse_args(arguments).boards
    print("| n | topology |", " | ".join(COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 2) + "|")
    with tempfile.TemporaryDirectory() as out:
        for n in SIZES:
            for arm in ARMS:
                found = episodes(arm, n, boards, Path(out))
                print(f"| {n} | {arm} |", " | ".join(mean(found, metric) for metric in COLUMNS.values()), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
