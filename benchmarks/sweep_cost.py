"""What a sweep costs beyond its episodes: planning, CPU a cell, the gain of a second worker, many episodes at once.

Every figure is the median of several runs; runs that are compared alternate. On a busy machine, times are too long and
ratios too small: the script prints the load with the table.

python benchmarks/sweep_cost.py
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median

import orjson
from rich.console import Console
from rich.table import Table

from quorum.configuration.cell import Cell
from quorum.episode.rehearsal import compile_all
from quorum.episode.runner import run_cell
from quorum.sweeps.command import choose_engine
from quorum.sweeps.plan import plan
from quorum.sweeps.progress import nothing
from quorum.sweeps.run import SweepRequest, run_sweep
from quorum.sweeps.sweep_folder import SweepFolder

RUNS = 3
GRID = ("n=2,4,8,16,32", "topology=individual,debate", "agents=naive", "seed=range(0,1000)")
TRIVIAL = ("n=1", "max_steps=1")
FEW, MANY = 20, 220
"""Cells of the two sweeps whose difference is the cost of a cell."""
COMPUTING = ("n=16", "max_steps=1000", "seed=range(0,200)")
EPISODES, LATENCY = 200, 5.0
"""Episodes at once, and seconds of each of their calls; the calls of an episode come one after the other."""
WAITING = (
    "agents=naive", "n=1", "env.blocks={1: 10}", "max_steps=240", f"seed=range(0,{EPISODES})", f"llm.latency={LATENCY}",
    f"llm.max_concurrency={EPISODES}",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """The cost of a sweep.

    Attributes:
        wall: seconds from start to end, including the start of workers.
        cpu: seconds of CPU of this process and its workers.
        span: seconds from the start of the first episode to the end of the last.
        calls: largest number of model calls in one episode.
    """

    wall: float
    cpu: float
    span: float
    calls: int


def cpu_seconds() -> float:
    """CPU of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def sweep(words: Sequence[str], *engine: str) -> Cost:
    """Run a sweep in a separate folder."""
    planned = plan(words)
    request = SweepRequest(words=tuple(words))
    with tempfile.TemporaryDirectory() as out:
        folder = SweepFolder(Path(out), "measured")
        begin, used = time.perf_counter(), cpu_seconds()
        summary = run_sweep(planned, folder, choose_engine(engine), request=request, view=nothing)
        wall, used = time.perf_counter() - begin, cpu_seconds() - used
        assert not summary.left, summary.reason
        assert not summary.failed
        metas = [orjson.loads(file.read_bytes()) for file in folder.path.glob("*/meta.json")]
        first, last = (
            pick(datetime.fromisoformat(m[key]) for m in metas) for pick, key in ((min, "start"), (max, "end"))
        )
        metrics = [orjson.loads(file.read_bytes()) for file in folder.path.glob("*/metrics.json")]
    return Cost(wall, used, (last - first).total_seconds(), max(m["model.calls"] or 0 for m in metrics))


def planning() -> float:
    """Wall seconds to plan 10,000 cells."""
    begin = time.perf_counter()
    assert len(plan(GRID).cells) == 10_000
    return time.perf_counter() - begin


def bare() -> float:
    """CPU seconds of a trivial episode in this process, without a sweep."""
    cells = [Cell.compose([*TRIVIAL, f"seed={seed}"]) for seed in range(50)]
    with tempfile.TemporaryDirectory() as folder:
        run_cell(cells[0], Path(folder))
        begin = time.process_time()
        for cell in cells:
            run_cell(cell, Path(folder))
        return (time.process_time() - begin) / len(cells)


def swept() -> float:
    """CPU seconds of a trivial cell in a sweep, its episode included."""
    few, many = (sweep([*TRIVIAL, f"seed=range(0,{number})"], "engine.workers=1").cpu for number in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def main() -> int:
    """Measure and print the table."""
    compile_all()
    plans = [planning() for _ in range(RUNS)]
    bares, cells = zip(*((bare(), swept()) for _ in range(RUNS)), strict=True)
    ones, twos = zip(
        *((sweep(COMPUTING, "engine.workers=1"), sweep(COMPUTING, "engine.workers=2")) for _ in range(RUNS)),
        strict=True,
    )
    waits = [sweep(WAITING, "engine.workers=1", f"engine.episodes={EPISODES}") for _ in range(RUNS)]
    calls = max(cost.calls for cost in waits)
    ideal = calls * LATENCY
    one, two = (median(cost.wall for cost in costs) for costs in (ones, twos))
    span = median(cost.span for cost in waits)
    own = median(cells) - median(bares)
    table = Table(title=f"a sweep, medians of {RUNS} runs")
    for column in ("what", "bar", "measured"):
        table.add_column(column)
    table.add_row("planning 10,000 cells", "at most 10 s", f"{median(plans):.1f} s")
    table.add_row("CPU of a trivial episode alone, in this process", "", f"{median(bares) * 1e3:.1f} ms")
    table.add_row("CPU that the sweep adds to it, a cell", "at most 20 ms", f"{own * 1e3:.1f} ms")
    table.add_row(
        "2 workers against 1, episodes that only compute",
        "at least 1.7 x",
        f"{one / two:.2f} x ({one:.1f} s, {two:.1f} s)",
    )
    table.add_row(
        "the same, from the first episode to the last",
        "",
        f"{median(c.span for c in ones) / median(c.span for c in twos):.2f} x",
    )
    table.add_row(
        f"{EPISODES} episodes at once, up to {calls} calls of {LATENCY:g} s each, one worker",
        f"at least 90 % of {ideal:g} s",
        f"{ideal / span:.0%} ({span:.1f} s; {median(c.cpu for c in waits):.1f} s of CPU)",
    )
    Console().print(table, f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
