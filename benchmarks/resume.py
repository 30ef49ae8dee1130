"""What it takes to see which cells of a sweep are done: every byte of them is read and held against its digest.

    python benchmarks/resume.py                     20,000 cells without a language model
    python benchmarks/resume.py --model -n 2000     2,000 cells of a debate, with their calls

One cell is run, and copied under the names of the others.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from quorum.experiments.configuration.cell import Cell, PlannedCell
from quorum.experiments.episode.runner import run_cell
from quorum.experiments.sweep.sweep_folder import SweepFolder

HEURISTIC = ("n=2",)
DEBATE = ("n=4", "agents=naive", "topology=debate")


def copies(folder: Path, words: tuple[str, ...], number: int) -> list[PlannedCell]:
    """Run a cell, and make it into as many as are wanted; return them as a plan has them."""
    cell = Cell.compose(words)
    original = run_cell(cell, folder / "one").folder
    meta = json.loads((original / "meta.json").read_bytes())
    planned = []
    for place in range(number):
        digest = f"{place:064x}"
        name = f"{cell.name}-{place}"
        shutil.copytree(original, folder / "s" / name)
        (folder / "s" / name / "meta.json").write_text(json.dumps({**meta, "hash": digest}, indent=2))
        planned.append(replace(PlannedCell.of(cell), name=name, hash=digest))
    return planned


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20_000, help="cells")
    parser.add_argument("--model", action="store_true", help="of a team that asks a language model, a simulated one")
    parser.add_argument("--dir", type=Path, help="where the folders are made; else in the folder for temporary files")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.dir) as made:
        folder = Path(made)
        cells = copies(folder, DEBATE if arguments.model else HEURISTIC, arguments.n)
        size = sum(file.stat().st_size for file in (folder / "s").rglob("*") if file.is_file())
        os.sync()
        for _ in range(2):
            begin = time.perf_counter()
            done, damaged = SweepFolder(folder, "s").look(cells)
            seconds = time.perf_counter() - begin
            assert len(done) == arguments.n, damaged
            print(
                f"{arguments.n:,} cells, {size / 1e9:.2f} GB: {seconds:.1f} s,"
                f" {seconds / arguments.n * 1e3:.2f} ms a cell, {size / seconds / 1e6:,.0f} MB/s"
            )


if __name__ == "__main__":
    main()
