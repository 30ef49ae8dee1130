"""Failures without a fault: every agent decides as its mind always does, so an answer that names somebody is wrong.

| kind | why the run fails | question |
|---|---|---|
| `short` | its limit is one step, 5 % or 10 % less than a team with rules takes | `--margin 0` |
| `faster` | it does not fail, but a team with rules shall be one step faster | `--success 'steps<=N'` |
| `chaotic` | a team of the simulated model, with poor answers, has an unlucky sample | `--margin 0` |
| `chance` | a team that draws its plans at random has an unlucky sample | `--margin 0` |

The limit of the last two kinds is the median of the steps of five samples of the team on the board, so about half of
all samples succeed. The case is the first sample that does not.

Expected before the first measurement, written on 29 November 2026 with the method of version 0.23: it names somebody
with a probability of 0.8 or more in 20 to 50 % of these cases, most often in `short` and `faster`, because its placebos
only ever lose time. The method that replaces it varies corrections as it varies the decisions of the run, and knows how
often a correction helps although nothing was wrong. It is expected to name somebody that surely in at most 5 %, and to
give as many right answers on planted faults, within 10 points; fewer of them have a probability of 0.8 or more.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from importlib import import_module
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.attribution.cases import HALVES, LABELS, MOST, Case, composed, limited, played, steps_of, written
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.run_folder import read_whole_trace
from quorum.what_if.blame.ending import Success, ending_of

KINDS = ("short", "faster", "chaotic", "chance")
AFTER = 5_000
"""Distance of the first board from those of the half's planted faults."""
SAMPLES = 5
"""Samples of a team on a board, of which the median of the steps is the limit."""
GENEROUS = 150
"""Number of steps within which most samples of a team without rules must finish."""
SHORTER = (0.0, 0.05, 0.1)
"""Shares by which limits are too short; at least a step."""


def make_faultless(folder: Path, half: str, count: int, seed: int = 0) -> Iterator[Case]:
    """Play episodes until `count` cases are found, with equal numbers of each kind.

    Args:
        folder: folder of the runs and the labels; created if necessary.
        half: `open` or `hidden`.
        count: number of cases.
        seed: of the draws of boards and limits.

    Raises:
        FileExistsError: the folder already contains labels.
        RuntimeError: a kind hardly ever fails.
    """
    source, rng = import_module(HALVES[half]), random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LABELS).open("x", encoding="utf-8") as labels:
        for number in range(count):
            kind = KINDS[number % len(KINDS)]
            for _ in range(MOST):
                words = rng.choice(source.FAULTLESS[kind])
                board = {**composed(words).plain, "seed": source.FIRST_SEED + AFTER + rng.randrange(1000)}
                case = _case(folder, half, kind, board, rng)
                if case is not None:
                    break
            else:
                raise RuntimeError(f"{kind}: {MOST} boards in a row without a case")
            labels.write(json.dumps(written(case)) + "\n")
            labels.flush()
            yield case


def _case(folder: Path, half: str, kind: str, plain: Mapping[str, Any], rng: random.Random) -> Case | None:
    """Return the case of a board; None if it makes none, or is already one."""
    success, margin = "success", 0 if kind != "faster" else None
    if kind in ("short", "faster"):
        steps = steps_of(played(Cell.of(plain)))
        if steps is None or steps < 3:
            return None
        limit = min(steps - 1, ceil(steps * (1 - rng.choice(SHORTER))))
        if kind == "faster":
            limit, success = steps, f"steps<={steps - 1}"
    else:
        base = limited(plain, GENEROUS)
        samples = [steps_of(played(Cell.of({**base, "draw": draw}))) or 2 * GENEROUS for draw in range(SAMPLES)]
        limit = int(median(samples))
        if limit > GENEROUS or max(samples) == limit:
            return None
        plain = {**base, "draw": next(draw for draw, steps in enumerate(samples) if steps > limit)}
    cell = Cell.of(limited(plain, limit))
    run = folder / cell.name
    if run.exists():
        return None
    run_cell(cell, folder)
    if Success(success).met(ending_of(read_whole_trace(run))):  # the model saw another limit
        return None
    return Case(run.name, run, None, None, None, kind, half, success, margin)
