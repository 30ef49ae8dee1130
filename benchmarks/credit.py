"""What credits take: difference rewards of large teams, and the values of agents and messages that think on.

Seconds of the processor, the median of some tries, from a run on disk to the values; Python and its imports are not in
it, nor are kernels that are compiled for the first time.

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

from quorum.experiments.blame.credit import Kind, credits_of
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

CASES = (
    ("n=64 seed=1 max_steps=300", Kind.AGENT),
    ("n=16 seed=1 max_steps=100", Kind.AGENT),
    ("env=transport n=32 seed=1", Kind.AGENT),
    ("n=8 seed=1 max_steps=100", Kind.LIVE),
    ("n=4 seed=1 max_steps=100 agents=naive topology=debate", Kind.MESSAGE),
)


def measure(words: str, kind: Kind, tries: int) -> dict[str, object]:
    """Play a cell, and find out what its agents or messages were worth a few times."""
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
    """Measure all cases, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=3)
    tries = parser.parse_args().tries
    for words, kind in CASES:
        sys.stdout.write(json.dumps(measure(words, kind, tries)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
