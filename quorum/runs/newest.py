"""Finds the sweeps in a folder of results, and the folder to read if a command names none."""

from __future__ import annotations

import os
from pathlib import Path

from quorum.runs.run_folder import runs_inside
from quorum.runs.sweep_file import PLAN
from quorum_base.user_errors import UserError

RUNS = Path("runs")
"""The default folder for results."""
_MOST_NAMED = 5


def sweeps_inside(folder: Path) -> list[Path]:
    """Return the sweeps in a folder, the newest first: the one whose plan was written last."""
    plans = sorted(folder.glob(f"*/{PLAN}"), key=lambda plan: (-os.lstat(plan).st_mtime_ns, plan))
    return [plan.parent for plan in plans]


def newest() -> Path:
    """Return the newest sweep in `runs`, or `runs` itself if it contains single runs only.

    Raises:
        UserError: there is neither.
    """
    if sweeps := sweeps_inside(RUNS):
        return sweeps[0]
    if RUNS.is_dir() and any(runs_inside(RUNS)):
        return RUNS
    raise UserError(
        f"{RUNS}: there is no sweep in this folder, and the command names no other",
        "Name the folder of a sweep, or run one: quorum sweep experiment=quickstart.",
    )


def parts_of(folder: Path) -> list[Path]:
    """Return the sweeps in a folder that contains no runs, or else the folder itself."""
    return ([] if not folder.is_dir() or any(runs_inside(folder)) else sweeps_inside(folder)) or [folder]


def sweeps_hint(folder: Path) -> str:
    """Return what to give instead of a folder without runs: the newest sweeps in it, if there are any."""
    if sweeps := sweeps_inside(folder):
        return f"It contains sweeps: give one or more of them, {', '.join(map(str, sweeps[:_MOST_NAMED]))}."
    return "Give the folder of a run, of a sweep, or the --out folder of `quorum run`."
