"""Writes the files of a comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.files import write_whole
from quorum.experiments.compare import formats, records
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.figures import figures
from quorum.experiments.compare.table import Table
from quorum.experiments.compare.tables import runs_table

_HINT = "Give another folder: --out DIR."


def default_folder(comparison: Comparison) -> Path:
    """Give the folder of a comparison inside its first sweep, named after what is compared."""
    name = "-".join(comparison.by) + (f"-across-{comparison.across}" if comparison.across is not None else "")
    return comparison.folders[0] / "comparison" / re.sub("[^A-Za-z0-9._-]+", "-", name)


def write_files(comparison: Comparison, tables: Sequence[Table], notes: Sequence[str], folder: Path) -> list[Path]:
    """Write tables and figures, each whole or not at all; give the files.

    Raises:
        UserError: they cannot be written there.
    """
    from quorum.experiments.compare.figures.style import rendered, styled  # noqa: PLC0415 - Matplotlib

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror or error}", _HINT) from error
    files = {
        "estimates.csv": records.as_csv(records.estimates(comparison)).encode(),
        "runs.csv": formats.as_csv(runs_table(comparison)).encode(),
        "tables.md": formats.as_markdown(tables, notes).encode(),
        "tables.tex": formats.as_latex(tables, notes).encode(),
    }
    if comparison.differences:
        files["differences.csv"] = records.as_csv(records.differences(comparison)).encode()
    if comparison.curves:
        files["curves.csv"] = records.as_csv(records.curves(comparison)).encode()
    with styled():
        for name, _, figure in figures(comparison):
            files |= {f"{name}.{form}": rendered(figure, form) for form in ("png", "svg")}
    for name, data in files.items():
        write_whole(folder / name, data, _HINT)
    return [folder / name for name in files]
