"""How long it takes to compare a finished sweep of 1,000 cells: python benchmarks/compare.py [--cells 1000].

The script runs some real episodes and copies their folders with other seeds and values, so that files have realistic
sizes. It times the whole command in a separate process: imports, reading, statistics, all files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from maeil.metrics import METRICS
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

TOPOLOGIES = ("individual", "debate", "centralized", "decentralized")
SIZES = (2, 4, 8, 16, 32)
REPEATS = 5
PATTERN = ("agents=naive", "n=2", "llm.poor=0.3")
BOARDS = 10
"""Number of episodes to run for each topology."""


def build(folder: Path, cells: int) -> None:
    """Make a sweep of `cells` cells: every topology at every size, many seeds."""
    patterns = folder.parent / "patterns"
    arms = [(topology, n) for topology in TOPOLOGIES for n in SIZES]
    made = {
        (topology, seed): run_cell(Cell.compose([f"topology={topology}", *PATTERN, f"seed={seed}"]), patterns).folder
        for topology in TOPOLOGIES
        for seed in range(BOARDS)
    }
    random = np.random.default_rng(0)
    planned = []
    for seed in range(-(-cells // len(arms))):
        for topology, n in arms[: cells - len(planned)]:
            planned.append(_copy(made[topology, int(random.integers(BOARDS))], folder, (topology, n, seed), random))
    plan = {"schema": 1, "name": "bench", "arguments": [], "command": "", "arms": {}, "cells": planned}
    (folder / "sweep.json").write_text(json.dumps(plan))


def _copy(
    pattern: Path, folder: Path, place: tuple[str, int, int], random: np.random.Generator
) -> dict[str, str | None]:
    topology, n, seed = place
    meta = json.loads((pattern / "meta.json").read_text())
    metrics = json.loads((pattern / "metrics.json").read_text())
    digest = hashlib.sha256(f"{topology} {n} {seed}".encode()).hexdigest()
    name = f"cube-n{n}-naive-simulated-{topology}-s{seed}-{digest[:8]}"
    target = folder / name
    shutil.copytree(pattern, target)
    configuration = meta["configuration"]
    configuration.update(n=n, seed=seed)
    configuration["env"]["n"] = n
    meta.update(name=name, hash=digest, seed=seed)
    for key, value in metrics.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            other = value * float(random.uniform(0.8, 1.2))
            metrics[key] = min(1.0, other) if METRICS[key].rate else other
    metrics["constraints.missing_spatial"] = int(random.integers(0, 9))
    written = json.dumps(metrics, indent=2)
    (target / "metrics.json").write_text(written)
    meta["files"]["metrics.json"] = hashlib.sha256(written.encode()).hexdigest()
    (target / "meta.json").write_text(json.dumps(meta, indent=2))
    return {"name": name, "hash": digest, "arm": None}


def main() -> None:
    """Build the sweep and time each verb."""
    parser = argparse.ArgumentParser(description="Time the comparison of a finished sweep.")
    parser.add_argument("--cells", type=int, default=1000)
    cells: int = parser.parse_args().cells
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "sweep"
        build(folder, cells)
        compare = ["compare", "--baseline", "individual"]
        for verb in (compare, [*compare, "--budget", "tokens"], ["report"], ["results", "--csv"]):
            command = [sys.executable, "-m", "cli", verb[0], str(folder), "--by", "topology", *verb[1:]]
            if verb[0] == "results":
                command = [sys.executable, "-m", "cli", "results", str(folder), "--csv"]
            times = [_timed(command) for _ in range(REPEATS)]
            wall, cpu = zip(*times, strict=True)
            print(
                f"quorum {' '.join(verb)}: {cells} cells, {REPEATS} runs: median {statistics.median(wall):.2f} s wall"
                f" (fastest {min(wall):.2f}), {statistics.median(cpu):.2f} s CPU (least {min(cpu):.2f})",
                flush=True,
            )
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"most memory of any of them: {most / 1024:.0f} MB")


def _timed(command: list[str]) -> tuple[float, float]:
    """Return wall and CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    # From bytecode, as after an install, even if the environment forbids writing it.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=compiled)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
