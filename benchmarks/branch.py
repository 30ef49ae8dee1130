"""How soon a branch is live: CUBE with heuristics, which use no model, branched late in a long run.

    python benchmarks/branch.py                   64 agents, at step 300 of 320
    python benchmarks/branch.py -n 8 --at 100     another team, another step

The measured time runs from reading the run to the first live thought: the script reads the run and checks its digests,
builds the team, and plays every step before the instant again. `imports` is the time of the imports that this needs.
Each process is a new one, as when a user starts it; kernels are already compiled. `again` is a second branch in the
same process, as in a sweep. Medians over the processes, in seconds of wall time and of CPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds() -> tuple[float, float]:
    """Return seconds of wall time and of CPU."""
    return time.perf_counter(), time.process_time()


def since(begin: tuple[float, float]) -> tuple[float, float]:
    """Return the seconds since `begin`."""
    return tuple(now - then for now, then in zip(seconds(), begin, strict=True))  # type: ignore[return-value]


def measure(run: Path, at: str) -> dict[str, tuple[float, float]]:
    """Measure in this process, which has imported nothing yet."""
    begin = seconds()
    from quorum.episode.runner import run_cell  # noqa: PLC0415
    from quorum.what_if.branch.change import instant_of, read_change  # noqa: PLC0415 (it is measured)
    from quorum.what_if.branch.parent import Parent  # noqa: PLC0415

    found = {"imports": since(begin)}
    for name in ("live", "again"):
        begin = seconds()
        planned = Parent.open(run).branch(instant_of(at), read_change())

        def live(name: str = name, begin: tuple[float, float] = begin) -> None:
            found[name] = since(begin)

        planned.start.prefix.then(live)
        with tempfile.TemporaryDirectory() as out:
            run_cell(planned.cell, Path(out), start=planned.start)
    return found


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=64, help="number of agents")
    parser.add_argument("--at", type=int, default=300, help="step of the instant")
    parser.add_argument("--processes", type=int, default=7, help="processes that measure, one after the other")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.measure, str(arguments.at))))
        return
    from quorum.configuration.cell import Cell  # noqa: PLC0415 (not in the processes that measure)
    from quorum.episode.runner import run_cell  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        words = [f"n={arguments.n}", f"max_steps={arguments.at + 20}"]
        run = run_cell(Cell.compose(words), Path(folder)).folder
        command = [sys.executable, __file__, "--measure", str(run), "--at", str(arguments.at)]
        found = [
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            for _ in range(arguments.processes)
        ]
    print(f"{arguments.n} agents, branched at step {arguments.at}; median of {arguments.processes} processes")
    for name in ("imports", "live", "again"):
        wall, cpu = (statistics.median(one[name][kind] for one in found) for kind in (0, 1))
        print(f"{name:<8} {wall:6.2f} s wall  {cpu:6.2f} s CPU")


if __name__ == "__main__":
    main()
