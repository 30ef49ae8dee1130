"""The digest of a cell's trace without its wall times: equal for equal behaviour.

`python -m tests.traces.digests` plays all cells of `cells.txt` and writes `digests.txt` anew: only after a change that
is meant to change what agents do or what a trace says.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from maeil.trace import comparable
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

HERE = Path(__file__).resolve().parent
CELLS = tuple((HERE / "cells.txt").read_text(encoding="utf-8").splitlines())


def digest_of(cell: str, out: Path) -> str:
    """Play a cell, given by its words on the command line, and return the digest of its trace."""
    result = run_cell(Cell.compose(cell.split()), out)
    return hashlib.sha256(b"\n".join(comparable(result.folder))).hexdigest()


def recorded() -> dict[str, str]:
    """Return the recorded digest of each cell."""
    lines = (HERE / "digests.txt").read_text(encoding="utf-8").splitlines()
    return {cell: digest for digest, cell in (line.split(" ", 1) for line in lines)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = [f"{digest_of(cell, Path(folder))} {cell}\n" for cell in CELLS]
    (HERE / "digests.txt").write_text("".join(found), encoding="utf-8")
