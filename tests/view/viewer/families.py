"""Folders of a run and its branches, made by hand: what `meta.json` says is all that a tree is made of."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.folders import outcome, write_run


def off(run: str, t: int, *edits: str, t_hat: float | None = None, told: Sequence[str] = (), draw: int = 0) -> Any:
    """Give what `meta.json` says of a branch."""
    at = {"run": run, "t": t, "t_hat": t_hat, "prefix": "0" * 64}
    return {**at, "edits": list(edits), "told": list(told), "draw": draw}


def write_branch(folder: Path, name: str, branch: Any = None, steps: int = 20, **more: Any) -> Path:
    """Write a run, or a branch of one, without a trace."""
    write_run(folder, outcome(steps=steps), name=name, meta={"branch": branch, "hash": name, **more})
    return folder / name


def write_family(folder: Path) -> Path:
    """Write a run of 20 steps with branches, one of them with its own branch, and draws; and a run next to them."""
    write_branch(folder, "first")
    write_branch(folder, "early", off("first", 4, "agents.members.agent_1=heuristic"), steps=15)
    write_branch(folder, "late", off("first", 12, told=["--say agent_0:go"], t_hat=57.5), outcome="error")
    write_branch(folder, "deep", off("early", 9), steps=11)
    for draw in range(3):
        write_branch(folder, f"drawn-{draw}", off("first", 6, "llm.poor=1.0", draw=draw), steps=10 + draw)
    write_branch(folder, "stray", off("gone", 3, "prompts=terse"))
    write_branch(folder, "other")
    return folder


def copied_branch(run: Path, target: Path, branch: Any) -> Path:
    """Copy a run, and have it say that it is a branch."""
    shutil.copytree(run, target)
    meta = json.loads((target / "meta.json").read_text())
    (target / "meta.json").write_text(json.dumps({**meta, "hash": target.name, "branch": branch}))
    return target
