"""The digests of a cell's trace, without its wall times, and of its metrics: equal for equal behaviour.

They are the same with every version of Python: `.ci/run` is run with several.

`PYTHONPATH=examples python -m tests.traces.digests` plays all cells of `cells.txt` and writes `digests.txt` again: only
after a change that is meant to change what agents do or what a trace says.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import orjson

from maeil.metrics import reproducible
from maeil.trace import comparable
from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.episode.runner import run_cell
from tests.conftest import EXAMPLES

HERE = Path(__file__).resolve().parent
CELLS = tuple((HERE / "cells.txt").read_text(encoding="utf-8").splitlines())


def compose(cell: str) -> Cell:
    """Compose a cell, which may name what is in `examples/healers`."""
    load_plugins(["healers"])
    return Cell.compose(cell.split(), EXAMPLES / "configs")


def digest_of(cell: str, out: Path) -> str:
    """Play a cell, given by its words on the command line; return the digests of its trace and of its metrics.

    Metrics that measure wall time and what the network did are left out.
    """
    result = run_cell(compose(cell), out)
    trace = b"\n".join(comparable(result.folder))
    metrics = orjson.dumps(reproducible(result.metrics), option=orjson.OPT_SORT_KEYS)
    return "-".join(hashlib.sha256(part).hexdigest()[:32] for part in (trace, metrics))


def recorded() -> dict[str, str]:
    """Return the recorded digest of each cell."""
    lines = (HERE / "digests.txt").read_text(encoding="utf-8").splitlines()
    return {cell: digest for digest, cell in (line.split(" ", 1) for line in lines)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = [f"{digest_of(cell, Path(folder))} {cell}\n" for cell in CELLS]
    (HERE / "digests.txt").write_text("".join(found), encoding="utf-8")
