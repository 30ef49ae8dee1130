"""The scaling study next to the published one: the growth of each quantity is compared, its level is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from quorum.experiments.common.files import folder_for
from quorum.experiments.common.outputs import Output, write_outputs
from quorum.experiments.compare import formats
from quorum.experiments.compare.factors import NONE
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.files import FORMS
from quorum.experiments.compare.formats import Table
from quorum.experiments.compare.statistics.growth import power_law
from quorum.experiments.reproduce.figure_file import PublishedFigure, Series
from quorum.experiments.reproduce.points import Point, verdict_table
from quorum.experiments.reproduce.run import Answer
from quorum.experiments.reproduce.scaling.drawing import drawn
from quorum.experiments.reproduce.scaling.study import Measured, study
from quorum.experiments.reproduce.verdicts import Verdict, judge_growth, written_estimate


def measured_answer(figure: PublishedFigure, folder: Path) -> Answer:
    """Measure what a figure shows of the scaling study, and write tables and figures.

    Args:
        figure: it.
        folder: for the files; made if need be.

    Raises:
        UserError: the files cannot be written there.
    """
    sizes, action_sizes = (sorted({n for s in figure.series for n in s.sizes if (s.last_digit > 0) == actions})
                           for actions in (False, True))  # fmt: skip
    with folder_for(folder):
        measured = study(sizes, action_sizes)
        points = tuple(growth_points(figure.series, measured))
        tables = tuple(_values(figure.series, measured))
        notes = ("Constructor with its defaults; medians. Measure again when nothing else runs on the machine.",)
        files = {"tables.md": formats.as_markdown([*tables, verdict_table(points)], notes).encode()}
        with style.styled():
            for name, drawing in drawn(measured, figure.series).items():
                files |= {f"{name}.{form}": style.rendered(drawing, form) for form in FORMS}
        write_outputs(
            {Output(folder / name, "--runs", force=True, within=folder): data for name, data in files.items()}
        )
    return Answer(tables, notes, points, tuple(folder / name for name in files))


def growth_points(series: Sequence[Series], measured: Measured) -> Iterator[Point]:
    """Yield a point for the growth of each quantity with n, and one for all levels, which are not comparable."""
    for one in series:
        there = {n: v for n, v in zip(one.sizes, one.values, strict=True) if v > 0 and v >= 2 * one.last_digit}
        here = {n: v for n, v in measured[one.quantity].items() if n in there}
        fits = [power_law([*found], [*found.values()]) for found in (here, there)]
        growth, published = (fit.exponent if fit is not None else None for fit in fits)
        judged = judge_growth(published, growth)
        verdict, reason = (Verdict.NOT_COMPARABLE, one.why) if one.why else (judged.verdict, judged.reason)
        yield Point(
            f"{one.quantity}: exponent of n", written_estimate(published), written_estimate(growth), verdict, reason
        )
    yield Point("levels: the values themselves", "above", "above", Verdict.NOT_COMPARABLE, "another machine")


def _values(series: Sequence[Series], measured: Measured) -> Iterator[Table]:
    """Yield a table for each set of sizes: every quantity as it was published, and here."""
    units = {one.quantity: one.unit for one in series}
    published = {one.quantity: dict(zip(one.sizes, one.values, strict=True)) for one in series}
    for sizes in dict.fromkeys(tuple(found) for found in measured.values()):
        rows = []
        for name, found in measured.items():
            if tuple(found) != sizes:
                continue
            unit = units.get(name, "s")
            for whose, values in (("published", published.get(name)), ("here", found)):
                if values is not None:
                    rows.append((f"{name} ({unit})", whose, *(_short(values.get(n)) for n in sizes)))
        header = ("quantity", "whose", *(f"n = {n}" for n in sizes))
        yield Table(f"CUBE against n, {sizes[0]} to {sizes[-1]}", header, tuple(rows), labels=2)


def _short(value: float | None) -> str:
    return NONE if value is None else f"{value:.3g}"
