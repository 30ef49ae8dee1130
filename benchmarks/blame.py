"""CPU time to blame a failed CUBE episode of 100 steps that asks no model and has one mind that always goes right.

Seconds of the processor, the median of some tries, from a run on disk to its blame.json: the experiment,
and all 2^n coalitions for exact shares. Imports are not in it, nor are kernels that are compiled or loaded
for the first time.

python benchmarks/blame.py
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from quorum.experiments.blame.answer import Blame, Question
from quorum.experiments.blame.attempts import JOURNAL
from quorum.experiments.blame.search import blame
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

CASES = tuple(f"n={n} seed=2 max_steps=100 agents=heuristic agents.members.agent_2=always_right" for n in (4, 6, 8))


def measure(words: str, tries: int) -> dict[str, object]:
    """Play a cell that fails, and blame it a few times."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_cell(Cell.compose(words.split()), Path(folder))
        whole = _timed(run.folder, Question(by=("heuristic",), margin=0), tries)
        alone = _timed(run.folder, Question(by=("heuristic",), shares=False, margin=0), tries)
    return {
        "cell": words,
        "steps": run.metrics["outcome.steps"],
        "reruns": whole[1].reruns,
        "seconds": round(whole[0], 2),
        "reruns_without_shares": alone[1].reruns,
        "seconds_without_shares": round(alone[0], 2),
    }


def _timed(run: Path, question: Question, tries: int) -> tuple[float, Blame]:
    seconds = []
    for _ in range(tries):
        (run / JOURNAL).unlink(missing_ok=True)
        begin = time.process_time()
        found = blame(run, question)
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds), found


def main() -> None:
    """Measure all cases, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=3)
    tries = parser.parse_args().tries
    for words in CASES:
        sys.stdout.write(json.dumps(measure(words, tries)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
