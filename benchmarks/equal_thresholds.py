"""Whether participation is violated more at harder levels of CUBE, for tasks that need equally many agents.

    quorum reproduce emcoop-rq2
    python benchmarks/equal_thresholds.py runs/emcoop-rq2/emcoop_cube

Harder levels have heavier blocks, and a task of one agent cannot lack any, so part of a rise follows from the weights.
This is the control: the same violation over the attempts at tasks of equal thresholds, as means over boards.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import yaml

from maeil.metrics.task_history import fulfilment, task_history
from maeil.tasks import Constraint
from maeil.trace import read_trace

LEVELS, THRESHOLDS = ("easy", "medium", "hard"), (2, 3)


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description="Violations of participation at equal thresholds.")
    parser.add_argument("folder", type=Path, help="the sweep of emcoop_cube")
    found: defaultdict[tuple[int, int, str], defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trace in sorted(parser.parse_args().folder.glob("*/trace.jsonl")):
        cell = yaml.safe_load((trace.parent / "config.yaml").read_text(encoding="utf-8"))
        pairs = [pair.state for pair in task_history(read_trace(trace.parent)).attempted]
        for p in THRESHOLDS:
            violations = [1 - fulfilment(state, Constraint.PARTICIPATION) for state in pairs if state.threshold == p]
            if violations:
                found[cell["n"], p, cell["env"]["level"]][cell["seed"]].append(fmean(violations))
    print(f"| n | p | {' | '.join(LEVELS)} |\n|---|---|{'---|' * len(LEVELS)}")
    for n, p in sorted({key[:2] for key in found}):
        means = (fmean(map(fmean, found[n, p, level].values())) for level in LEVELS)
        print(f"| {n} | {p} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


if __name__ == "__main__":
    main()
