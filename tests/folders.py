"""Folders of runs, real ones and hand-made ones, for the tests of results, comparisons and reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

VERSIONS = {"quorum-harness": "1.0.0"}
HOSTILE = '<script>alert(1)</script> $\\frac{ & "x" \' --> id="y" \\input{z} % _ ]'
"""A name that was meant to do harm."""


def real_sweep(folder: Path, grid: Sequence[Sequence[str]]) -> None:
    """Run real cells into a folder, and say in `sweep.json` that they were planned."""
    cells = [Cell.compose(arguments) for arguments in grid]
    for cell in cells:
        run_cell(cell, folder)
    write_plan(folder, [(cell.name, cell.hash, None) for cell in cells])


def unsealed(folder: Path) -> Path:
    """Take the digests of a run away: a reader must find damage by itself."""
    meta = json.loads((folder / "meta.json").read_text())
    meta.pop("files", None)
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def write_plan(folder: Path, cells: Sequence[tuple[str, str, str | None]], **changes: Any) -> None:
    """Write a `sweep.json` of these cells: name, hash, arm."""
    plan = {
        "schema": 1,
        "name": folder.name,
        "experiment": None,
        "arguments": ["n=2"],
        "command": "quorum sweep n=2",
        "arms": {},
        "cells": [{"name": name, "hash": digest, "arm": arm} for name, digest, arm in cells],
        **changes,
    }
    (folder / "sweep.json").write_text(json.dumps(plan))


def configuration(**changes: Any) -> dict[str, Any]:
    """Give a small configuration; dotted keys as `topology__name`."""
    plain: dict[str, Any] = {
        "n": 2,
        "seed": 0,
        "env": {"name": "cube", "n": 2, "layout": None},
        "agents": {"name": "heuristic"},
        "topology": {"name": "individual"},
        "llm": {"name": "simulated", "model": "m", "agents": {}},
        "budget": {"usd": None},
    }
    for key, value in changes.items():
        *groups, last = key.split("__")
        part = plain
        for group in groups:
            part = part[group]
        part[last] = value
    plain["env"]["n"] = plain["n"]
    return plain


def write_run(
    folder: Path,
    metrics: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    meta: Mapping[str, Any] | None = None,
    **changes: Any,
) -> str:
    """Write the folder of a run by hand; give its hash, which is that of its configuration.

    Args:
        folder: of the sweep.
        metrics: its metrics; None: no metrics.json.
        name: of its folder; None: made of the hash.
        meta: what differs in meta.json.
        changes: of the configuration.
    """
    plain = configuration(**changes)
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    target = folder / (name or f"cell-{digest[:8]}")
    target.mkdir(parents=True)
    data = {
        "name": target.name,
        "hash": digest,
        "seed": plain["seed"],
        "configuration": plain,
        "start": "2026-01-01T00:00:00.000+00:00",
        "outcome": "success",
        "reason": "",
        "error": None,
        "versions": VERSIONS,
        "git": None,
        **(meta or {}),
    }
    (target / "meta.json").write_text(json.dumps(data))
    if metrics is not None:
        (target / "metrics.json").write_text(json.dumps(metrics))
    return digest


def outcome(success: bool = True, completion: float = 1.0, steps: int = 10, **more: Any) -> dict[str, Any]:
    """Give the metrics that every comparison shows, and others with `__` for the point."""
    own = {"outcome.success": success, "outcome.completion": completion, "outcome.steps": steps}
    calls = {"model.calls": 0, "model.parse_failures": 0}
    return {**own, **calls, **{key.replace("__", "."): value for key, value in more.items()}}


def hostile_sweep(folder: Path) -> Path:
    """Write two arms at two n on three boards with a simulated model; one arm has a name that was meant to do harm."""
    cells = []
    for arm in ("plain", HOSTILE):
        for n in (2, 8):
            for seed in range(3):
                values = outcome(
                    steps=10 * n + seed + 5 * (arm == "plain"), completion=1 - 0.1 * seed, model__usd=0.1 * n,
                    model__calls=9, communication__messages=n, plans__coherence=1 / n, plans__stability=0.9,
                    constraints__improvement_ratio_spatial=0.4 + 1 / n, constraints__improvement_ratio_temporal=1 / n,
                    emcoop__improvement_ratio_spatial=0.4 + 1 / n, emcoop__improvement_ratio_temporal=1 / n,
                    constraints__satisfied_spatial=0.4 + 1 / n, constraints__satisfied_temporal=1 / n,
                    constraints__missing_temporal=seed,
                )  # fmt: skip
                made_up = {"simulated": True, "models": ["simulated"], "reason": HOSTILE}
                name = f"{'plain' if arm == 'plain' else 'odd #1?'}-{n}-{seed}"
                digest = write_run(folder, values, name=name, n=n, seed=seed, topology__note=arm, meta=made_up)
                (folder / name / "trace.jsonl").write_text("")
                cells.append((name, digest, arm))
    write_plan(folder, cells, name=f"sweep {HOSTILE}", command=f"quorum sweep {HOSTILE}", arms={HOSTILE: [HOSTILE]})
    return folder
