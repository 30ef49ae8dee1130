"""Writes the files of a comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.files import folder_for
from quorum.experiments.common.outputs import Output, write_outputs
from quorum.experiments.compare import formats, records
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.formats import Table
from quorum.experiments.compare.tables import runs_table

FORMS = ("png", "svg", "pdf")
"""Forms of a figure."""
_HINT = "Give another folder: --out DIR."


def default_folder(comparison: Comparison) -> Path:
    """Return the folder of a comparison inside its first sweep, named after what is compared."""
    name = "-".join(comparison.by) + (f"-across-{comparison.across}" if comparison.across is not None else "")
    return comparison.folders[0] / "comparison" / re.sub("[^A-Za-z0-9._-]+", "-", name)


def write_files(
    comparison: Comparison,
    tables: Sequence[Table],
    notes: Sequence[str],
    folder: Path,
    *,
    force: bool,
    columns: int = 1,
) -> list[Path]:
    """Write tables and figures, all of them or none, and return the files.

    Args:
        comparison: what they show.
        tables: of it.
        notes: on it.
        folder: where; made if need be.
        force: whether files that stand there already are replaced.
        columns: of the LaTeX document that the tables and figures are for, 1 or 2.

    Raises:
        UserError: they cannot be written there, or something of their names is there; nothing is left on disk.
    """
    from quorum.experiments.compare.figures import draw_figures, style  # noqa: PLC0415 - Matplotlib

    files = {
        "estimates.csv": records.as_csv(records.estimates(comparison)).encode(),
        "runs.csv": formats.as_csv(runs_table(comparison)).encode(),
        "tables.md": formats.as_markdown(tables, notes).encode(),
        "tables.tex": formats.tables_as_latex(tables, notes, columns).encode(),
    }
    if comparison.differences:
        files["differences.csv"] = records.as_csv(records.differences(comparison)).encode()
    if comparison.curves:
        files["curves.csv"] = records.as_csv(records.curves(comparison)).encode()
    with style.styled():
        included = {}
        for drawing in draw_figures(comparison):
            files |= {f"{drawing.name}.{form}": style.rendered(drawing.figure, form) for form in FORMS}
            included[f"{drawing.name}.pdf"] = (drawing.description, drawing.figure.get_figwidth() > style.COLUMN)
    files["figures.tex"] = formats.figures_as_latex(included, notes, columns).encode()
    try:
        with folder_for(folder):
            write_outputs({Output(folder / name, "--out", force): data for name, data in files.items()})
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror or error}", _HINT) from error
    return [folder / name for name in files]
