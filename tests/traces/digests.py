"""The digest of a cell's trace without its wall times: equal for equal behaviour.

`python -m tests.traces.digests` plays all cells of `cells.txt` and writes `digests.txt` anew: only after a change that
is meant to change what agents do or what a trace says.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import orjson

from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

HERE = Path(__file__).resolve().parent
CELLS = tuple((HERE / "cells.txt").read_text(encoding="utf-8").splitlines())
WALL = ("wall", "seconds")
"""Keys of wall times, which differ between equal runs."""


def digest_of(cell: str, out: Path) -> str:
    """Play a cell, given by its words on the command line, and return the digest of its trace."""
    result = run_cell(Cell.compose(cell.split()), out)
    lines = (result.folder / "trace.jsonl").read_bytes().splitlines()
    text = b"\n".join(orjson.dumps(_without_wall(orjson.loads(line))) for line in lines)
    return hashlib.sha256(text).hexdigest()


def _without_wall(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_wall(part) for key, part in value.items() if key not in WALL}
    return [_without_wall(part) for part in value] if isinstance(value, list) else value


def recorded() -> dict[str, str]:
    """Return the recorded digest of each cell."""
    lines = (HERE / "digests.txt").read_text(encoding="utf-8").splitlines()
    return {cell: digest for digest, cell in (line.split(" ", 1) for line in lines)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = [f"{digest_of(cell, Path(folder))} {cell}\n" for cell in CELLS]
    (HERE / "digests.txt").write_text("".join(found), encoding="utf-8")
