"""What a sweep of 10,000 cells costs: planning, results, a comparison, a resumed command, files and memory.

    python benchmarks/bulk.py                       10,000 cells, 2,000 of them played
    python benchmarks/bulk.py -n 20000 --dir DIR    more; the sweep stays in DIR

The sweep itself plays the first boards of the grid. The other cells are copies of those under their own names, seeds,
hashes and digests: playing all of them would take minutes. Then each command runs in a separate process.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from quorum.episode.planned_cell import PlannedCell
from quorum.sweeps.plan import plan

ARMS = ("n=1,2", "agents=heuristic,random", "max_steps=40")
KINDS = 4
"""Cells of a board."""
NAME = "bulk"


def words(boards: int) -> tuple[str, ...]:
    """Return the grid of a number of boards."""
    return (*ARMS, f"seed=range(0,{boards})")


def command(folder: Path, *arguments: str) -> tuple[float, float, float]:
    """Run a command; return its seconds, its CPU seconds, and its largest resident memory in GB."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "quorum.cli", *arguments], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise SystemExit(f"{arguments}: {text[-2000:]}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def copy(folder: Path, original: Path, cell: PlannedCell) -> None:
    """Make the folder of a cell from that of another cell of its kind."""
    files = {file.name: file.read_bytes() for file in original.iterdir()}
    configuration = json.loads(cell.configuration)
    meta = json.loads(files.pop("meta.json"))
    lines = files["config.yaml"].decode().replace(meta["hash"], cell.hash)
    seed = configuration["seed"]
    files["config.yaml"] = lines.replace(f"seed: {meta['seed']}\n", f"seed: {seed}\n").encode()
    own = {"name": cell.name, "hash": cell.hash, "seed": seed, "configuration": configuration}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files["meta.json"] = json.dumps({**meta, **own, "files": digests}, indent=2).encode()
    (folder / cell.name).mkdir()
    for name, data in files.items():
        (folder / cell.name / name).write_bytes(data)


def make(folder: Path, boards: int, played: int) -> None:
    """Play some boards, and copy the others."""
    seconds, _, _ = command(folder, "sweep", *words(played), "--out", str(folder), "--name", NAME, "--quiet")
    print(
        f"{played * KINDS:,} cells played by the sweep: {seconds:.0f} s, {seconds / played / KINDS * 1e3:.1f} ms a cell"
    )
    cells = plan(words(boards)).cells
    sweep = folder / NAME
    originals: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        for cell in cells:
            if (sweep / cell.name).is_dir():
                originals.setdefault(cell.kind, []).append((sweep / cell.name).rename(Path(kept) / cell.name))
        for place, cell in enumerate(cells):
            choice = originals[cell.kind]
            copy(sweep, choice[place % len(choice)], cell)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000, help="number of cells")
    parser.add_argument("--played", type=int, default=2_000, help="number of cells to play")
    parser.add_argument("--dir", type=Path, help="folder for the sweep, or of an earlier one; else a temporary folder")
    arguments = parser.parse_args()
    boards = arguments.n // KINDS
    with contextlib.ExitStack() as stack:
        folder = arguments.dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        sweep = (folder / NAME).absolute()
        if not sweep.is_dir():
            make(folder.absolute(), boards, arguments.played // KINDS)
        out = ("--out", str(folder.absolute()), "--name", NAME, "--accept-versions")  # for an earlier sweep
        measured: Sequence[tuple[str, tuple[str, ...]]] = (
            ("plan (sweep --dry-run)", ("sweep", *words(boards), *out, "--dry-run")),
            ("resume, nothing to do", ("sweep", *words(boards), *out, "--quiet")),
            ("results", ("results", str(sweep))),
            ("compare", ("compare", str(sweep), "--by", "agents", "--baseline", "heuristic")),
        )
        for title, words_of_it in measured:
            seconds, busy, memory = command(folder, *words_of_it)
            print(f"{title}: {seconds:.1f} s, {busy:.1f} s of them on the processor, {memory:.2f} GB", flush=True)
        sizes = [file.stat().st_size for file in sweep.rglob("*") if file.is_file()]
        print(f"files: {len(sizes):,}, {sum(sizes) / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
