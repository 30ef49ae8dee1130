"""The cost of credits: difference rewards of large teams, and the values of agents and messages with reacting teams.

Seconds of CPU, the median of some tries, from a run on disk to the values. Python, its imports and the first
compilation of kernels are not included.

python benchmarks/credit.py
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.what_if.blame.credit import Kind, credits_of

CASES = (
    ("n=64 seed=1 max_steps=300", Kind.AGENT),
    ("n=16 seed=1 max_steps=100", Kind.AGENT),
    ("env=transport n=32 seed=1", Kind.AGENT),
    ("n=8 seed=1 max_steps=100", Kind.LIVE),
    ("n=4 seed=1 max_steps=100 agents=naive topology=debate", Kind.MESSAGE),
)


def measure(words: str, kind: Kind, tries: int) -> dict[str, object]:
    """Play a cell, and compute the worth of its agents or messages a few times."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_cell(Cell.compose(words.split()), Path(folder))
        seconds = []
        for _ in range(tries):
            begin = time.process_time()
            found = credits_of(run.folder, [kind])
            seconds.append(time.process_time() - begin)
    (rows,) = found.rows.values()
    median = statistics.median(seconds)
    return {
        "cell": words,
        "credit": kind,
        "steps": run.metrics["outcome.steps"],
        "played": len(rows),
        "seconds": round(median, 3),
        "ms_each": round(1000 * median / max(len(rows), 1), 1),
    }


def main() -> None:
    """Measure all cases, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=3)
    tries = parser.parse_args().tries
    for words, kind in CASES:
        sys.stdout.write(json.dumps(measure(words, kind, tries)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
