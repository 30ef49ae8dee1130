"""A line of DR. WELL that was stopped in the middle is, when it goes on, the line that was not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from maeil.trace import comparable
from quorum.storage.memory_file import MEMORY, read_memory
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest

LINE = (
    "agents=drwell", "topology=negotiation", "llm=simulated_faults", "n=2", "seed=1", "episode=range(0,3)",
    "engine.workers=1",
)  # fmt: skip


def play(out: Path, limit: int | None = None) -> dict[str, Any]:
    """Play what is missing of the line; return its traces and memories by the names of its runs."""
    run_sweep_command(SweepRequest(LINE, out, "s", limit=limit), quiet=True)
    runs = sorted((out / "s").glob("cube*"))
    return {run.name: (comparable(run), read_memory(run)) for run in runs}


def test_a_line_that_goes_on_is_the_line_that_was_never_stopped(tmp_path: Path) -> None:
    whole = play(tmp_path / "whole")
    started = play(tmp_path / "cut", limit=2)
    assert len(started) == 2
    assert play(tmp_path / "cut") == whole
    kept = [orjson.loads((run / MEMORY).read_bytes()) for run in (tmp_path / "whole" / "s").glob("cube*")]
    counts = [len(each["memories"]["drwell"]["instances"]) for each in kept]
    assert len({0, *counts}) == 4
