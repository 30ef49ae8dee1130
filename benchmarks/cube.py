"""The speed of CUBE: a table of the figures that its environment promises, as text and JSON.

It takes some minutes. Nothing else should run on the machine. `python -m benchmarks.cube_scaling` measures the growth.

python benchmarks/cube.py [--quick] [--json] [--quiet] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.cube_speed.measure import Progress, Row, measure
from benchmarks.cube_speed.rows import subjects
from quorum.installation.provenance import provenance
from quorum_base.user_errors import UserError

ROUNDS, QUICK_ROUNDS = 7, 1
SOURCE = "CUBE page, read off its plots"
BUSY = 0.7
"""Load average of a minute that indicates other work on the machine."""
DEFINITIONS: Mapping[str, str] = {
    "speed": "median of the runs; every round measures all rows once, in one process on one core; a run is itself a "
    "median, of short series of calls or of ticks; calls that reset, lay out or warm up are not in it",
    "batch": "agent-steps a second of CubeVecEnv with random actions, with and without observation, resets apart",
    "step": "CubeEnv.step with a dictionary of actions, shared observation, infos unread; or its defaults",
    "push_block tick": "status and act of the controllers; one agent alone, or all who stand on the face together",
    "peak memory": "peak resident memory of a process with one environment that has stepped and built all symbolic "
    "observations",
    "second process starts": "from starting the interpreter to the end of the first step, the kernels compiled before",
    "step of the loop": "from one environment step to the next: heuristic team, constraints on, trace to disk",
    "published": SOURCE,
}


@dataclass(frozen=True)
class Report:
    """The result of the measurement.

    Attributes:
        rows: rows of the speed table.
        load: load averages of the machine at the start (1, 5 and 15 minutes); they show other work.
        folder: folder of `results.json`.
        quick: whether it was a trial with few calls and small teams.
    """

    rows: Sequence[Row]
    load: Sequence[float]
    folder: Path
    quick: bool

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return {
            "bench": "cube",
            "quick": self.quick,
            "load": list(self.load),
            "folder": str(self.folder),
            "definitions": dict(DEFINITIONS),
            "speed": [row.to_json() for row in self.rows],
            **provenance(),
        }


def run(out: Path | None, *, quick: bool, progress: Progress) -> Report:
    """Measure everything and write it into a folder.

    Args:
        out: the folder; by default `runs/bench-cube-TIME`.
        quick: few calls and small teams, as a trial; its figures mean nothing.
        progress: called with the current measurement.

    Raises:
        UserError: the folder cannot be written.
    """
    folder = out if out is not None else Path("runs") / f"bench-cube-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {folder}: results cannot be written there: {error.strerror or error}") from error
    rounds = QUICK_ROUNDS if quick else ROUNDS
    load = os.getloadavg()
    rows = measure(subjects(quick=quick), rounds, progress)
    report = Report(rows, load, folder, quick)
    (folder / "results.json").write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    return report


def main() -> None:
    """Measure, and print the tables or the JSON."""
    asked = _arguments()
    with Console(stderr=True).status("") as status:
        report = run(asked.out, quick=asked.quick, progress=_silent if asked.quiet else status.update)
    console = Console()
    if asked.json:
        console.file.write(json.dumps(report.to_json(), indent=2) + "\n")
    elif not asked.quiet:
        console.print(speed_table(report))
        if report.load[0] > BUSY:
            console.print(Text(f"The machine was busy (load {report.load[0]:.1f}): measure again when it is quiet."))
        console.print(Text(f"results: {report.folder}"), soft_wrap=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the speed of CUBE: a table, and JSON.")
    parser.add_argument("--quick", action="store_true", help="a trial run")
    parser.add_argument("--json", action="store_true", help="JSON on standard output, instead of the tables")
    parser.add_argument("--quiet", "-q", action="store_true", help="only errors")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for results; default: runs/bench-cube-TIME")
    return parser.parse_args()


def _silent(_: str) -> None:
    return


def speed_table(report: Report) -> Table:
    """Lay out the speed table."""
    trial = " (a quick trial: the figures mean nothing)" if report.quick else ""
    table = Table(title=f"CUBE: speed{trial}", box=box.SIMPLE_HEAD)
    table.add_column("what")
    for column in ("n", "target", "measured", "range", "published"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in report.rows:
        bound = "-" if row.target is None else f"{'<=' if row.better == 'less' else '>='} {_number(row.target)}"
        table.add_row(
            Text(row.name),
            str(row.n),
            bound,
            f"{_number(row.measured)} {row.unit}".rstrip(),
            f"{_number(row.low)}..{_number(row.high)}",
            "-" if row.published is None else _number(row.published),
            Text("-") if row.ok is None else Text("ok", "green") if row.ok else Text("MISSED", "bold red"),
        )
    table.caption = f"medians of {report.rows[0].runs}; published: {SOURCE}"
    return table


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
