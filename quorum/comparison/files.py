"""The output of a comparison: complete records as CSV and JSON, and its files with tables and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maeil.metrics import METRICS
from quorum.comparison import formats
from quorum.comparison.comparison import Comparison
from quorum.comparison.factors import short
from quorum.comparison.formats import Table
from quorum.comparison.groups import Group
from quorum.comparison.statistics.intervals import STATISTICS, Estimate
from quorum.comparison.tables import runs_table
from quorum.configuration.origin import Scalar
from quorum.runs.results_folder import csv_text
from quorum.storage.files import folder_for
from quorum.storage.outputs import Output, write_outputs
from quorum_base.inside import make_inside
from quorum_base.user_errors import UserError

Record = Mapping[str, Scalar]


def estimates(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each metric, level and value of `across`, with all statistics."""
    for metric in comparison.metrics:
        for group in comparison.groups.values():
            values = group.values(metric)
            yield {
                "metric": metric,
                "unit": METRICS[metric].unit,
                "better": METRICS[metric].better,
                **_place(comparison, group.level, group.point),
                "runs": len(values),
                "boards": group.estimate(metric, comparison.statistic).boards,
                "undefined": len(group.rows) - len(values),
                "left_out": len(group.left_out),
                **{
                    key: number
                    for name in STATISTICS
                    for key, number in _ends(name, group.estimate(metric, name)).items()
                },
                **_bounds(comparison, metric, group),
                "standard_deviation": float(values.std(ddof=1)) if len(values) > 1 else None,
                "minimum": float(values.min()) if len(values) else None,
                "maximum": float(values.max()) if len(values) else None,
            }


def differences(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each difference from the baseline."""
    for item in comparison.differences:
        yield {
            "metric": item.metric,
            "better": METRICS[item.metric].better,
            "baseline": comparison.baseline,
            **_place(comparison, item.level, item.point),
            "simulated": bool((comparison.simulated | comparison.floors.keys()) & {item.level, comparison.baseline}),
            "runs": item.mean.runs,
            **({"over": comparison.unit, "branch_points": item.strata} if comparison.family is not None else {}),
            "boards": item.mean.boards,
            "differing": item.differing,
            "unpaired": item.unpaired,
            **_ends("difference", item.mean),
            "standard_deviation": _number(item.deviation),
            "p": _number(item.p),
            "p_holm": _number(item.p_holm),
            **_ends("probability_of_improvement", item.improvement),
            "difference_lowest": _number(item.lowest),
            "difference_highest": _number(item.highest),
        }


def draws(comparison: Comparison) -> Iterator[Record]:
    """Yield what chance changes for each metric, level and value of `across` with several draws."""
    most = max((len(noise.passes) for noise in comparison.noise.values()), default=0)
    for (metric, level, point), noise in comparison.noise.items():
        values = asdict(noise)
        passes = values.pop("passes")
        yield {
            "metric": metric,
            **_place(comparison, level, point),
            **{name: _number(value) if isinstance(value, float) else value for name, value in values.items()},
            "share": _number(noise.share),
            **{f"pass_{k + 1}": passes[k] if k < len(passes) else None for k in range(most)},
        }


def budgets(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each metric, level, value of `across` and budget, with the difference from the baseline."""
    found = comparison.budgets
    for (metric, level, point), line in found.estimates.items() if found is not None else ():
        assert found is not None
        lead = found.differences.get((metric, level, point), (None,) * len(line))
        for budget, one, item in zip(found.budgets[point], line, lead, strict=True):
            yield {
                "metric": metric,
                **_place(comparison, level, point),
                "runs": one.runs,
                "boards": one.boards,
                "budget": budget,
                "of": found.kind,
                **_ends(comparison.statistic, one),
                **_ends("difference", item.mean if item is not None else None),
                "p": _number(item.p) if item is not None else None,
                "p_holm": _number(item.p_holm) if item is not None else None,
            }


def as_json(comparison: Comparison, notes: Sequence[str]) -> dict[str, Any]:
    """Return the comparison as JSON-ready data: pooled runs, estimates, differences, draws."""
    return {
        "by": list(comparison.by),
        "across": comparison.across,
        "baseline": comparison.baseline,
        "simulated": sorted(comparison.simulated),
        "floors": dict(comparison.floors),
        "notes": list(notes),
        "runs": [
            {name: _number(value) if isinstance(value, float) else value for name, value in asdict(tally).items()}
            for tally in comparison.pool.tallies
        ],
        "estimates": list(estimates(comparison)),
        "differences": list(differences(comparison)),
        "draws": list(draws(comparison)),
        "at_budgets": list(budgets(comparison)),
    }


def records_as_csv(records: Iterable[Record]) -> str:
    """Write records as CSV: numbers in full, empty cells for undefined values."""
    lines = list(records)
    return csv_text([list(lines[0]), *(line.values() for line in lines)] if lines else [])


def _place(comparison: Comparison, level: str, point: Scalar) -> Record:
    across = {comparison.across: point} if comparison.across is not None else {}
    return {
        " / ".join(comparison.by): level,
        **across,
        "simulated": level in comparison.simulated | comparison.floors.keys(),
    }


def _bounds(comparison: Comparison, metric: str, group: Group) -> Record:
    """Return the shown statistic with excluded runs counted as failures and as successes."""
    failures, successes = comparison.bounds.get((metric, group.level, group.point), (None, None))
    return {**_ends("if_failures", failures), **_ends("if_successes", successes)}


def _ends(name: str, found: Estimate | None) -> Record:
    value, low, high = (found.value, found.low, found.high) if found is not None else (math.nan,) * 3
    return {name: _number(value), f"{name}_low": _number(low), f"{name}_high": _number(high)}


def _number(number: float) -> float | None:
    return None if math.isnan(number) else number


FORMS = ("png", "svg", "pdf")
"""File formats of a figure."""
ESTIMATES = "estimates.csv"
"""The file that every comparison writes."""
FIGURE, FIGURES = "figure", "figures"
"""Stem of the files of the figure that answers the question, and the folder of the other figures."""


def _usual_name(comparison: Comparison) -> str:
    """Name the folder of a comparison inside its first sweep after the compared factors."""
    across = () if comparison.across is None else ("across", comparison.across)
    name = "-".join(map(short, (*comparison.by, *across)))
    return f"comparison/{re.sub('[^A-Za-z0-9._-]+', '-', name)}"


def write_files(
    comparison: Comparison,
    tables: Sequence[Table],
    notes: Sequence[str],
    out: Path | None,
    *,
    force: bool = False,
    columns: int = 1,
) -> list[Path]:
    """Write tables and figures, all of them or none, and return the files.

    Args:
        comparison: what they show.
        tables: its tables.
        notes: its notes.
        out: output folder, created if necessary. None: a folder in the first sweep, replacing an earlier comparison.
        force: whether to replace existing files in `out`.
        columns: columns of the LaTeX document that the tables and figures are for, 1 or 2.

    Raises:
        UserError: the files cannot be written, or entries with these names exist; nothing is left on disk.
    """
    from quorum.comparison.figures import answer, draw_figures, style  # noqa: PLC0415 - Matplotlib

    files = {
        ESTIMATES: records_as_csv(estimates(comparison)).encode(),
        "runs.csv": formats.as_csv(runs_table(comparison)).encode(),
        "tables.md": formats.as_markdown(tables, notes).encode(),
        "tables.tex": formats.tables_as_latex(tables, notes, columns).encode(),
    }
    for name, records in (("differences", differences), ("draws", draws), ("budgets", budgets)):
        if found := list(records(comparison)):
            files[f"{name}.csv"] = records_as_csv(found).encode()
    with style.styled():
        main = answer(comparison)
        rest = {f"{FIGURES}/{one.name}": one for one in draw_figures(comparison, but=("difference",))}
        for group, shown in ((FIGURE, {FIGURE: main} if main is not None else {}), (FIGURES, rest)):
            included = {}
            for stem, one in shown.items():
                files |= {f"{stem}.{form}": style.rendered(one.figure, form) for form in FORMS}
                wide = one.figure.get_figwidth() > style.COLUMN
                included[f"{stem}.pdf"] = (one.caption or one.description, wide)
            files[f"{group}.tex"] = formats.figures_as_latex(included, notes, columns).encode()
    within = comparison.folders[0] if out is None else out
    folder = within / _usual_name(comparison) if out is None else out
    try:
        with folder_for(within if out is None else folder / FIGURES):
            if out is None:
                make_inside(within, f"{_usual_name(comparison)}/{FIGURES}")
            own = {Output(folder / name, "--out", force or out is None, within): data for name, data in files.items()}
            write_outputs(own)
    except OSError as error:
        hint = "Give another folder: --out DIR."
        raise UserError(f"{error.filename or folder}: cannot be made: {error.strerror or error}", hint) from error
    return [folder / name for name in files]
