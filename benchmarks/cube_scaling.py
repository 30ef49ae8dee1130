"""The scaling study of the CUBE page: compares how each quantity grows with n; levels depend on the machine.

It takes some minutes. Nothing else should run on the machine.

python -m benchmarks.cube_scaling [--out DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from benchmarks.cube_speed.drawing import drawn
from benchmarks.cube_speed.published import Series, published_series
from benchmarks.cube_speed.study import Measured, study
from benchmarks.growth import power_law
from quorum.comparison import formats
from quorum.comparison.factors import NONE
from quorum.comparison.figures import style
from quorum.comparison.formats import Table
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import decimals, interval
from quorum.study.reproduce.verdicts import Judged, Verdict

NOTES = ("Constructor with its defaults; medians.",)


def write(series: Sequence[Series], measured: Measured, folder: Path) -> list[Table]:
    """Write the tables and figures of the study into a folder; return the tables."""
    tables = [*_values(series, measured), _verdicts(tuple(growth_points(series, measured)))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.md").write_text(formats.as_markdown(tables, NOTES), encoding="utf-8")
    with style.styled():
        for name, drawing in drawn(measured, series).items():
            (folder / f"{name}.png").write_bytes(style.rendered(drawing, "png"))
    return tables


class Point(NamedTuple):
    """How a quantity grows with n."""

    what: str
    published: str
    here: str
    verdict: Verdict
    reason: str


def growth_points(series: Sequence[Series], measured: Measured) -> Iterator[Point]:
    """Yield a point for the growth of each quantity with n, and one for all levels, which are not comparable."""
    for one in series:
        there = {n: v for n, v in zip(one.sizes, one.values, strict=True) if v > 0 and v >= 2 * one.last_digit}
        here = {n: v for n, v in measured[one.quantity].items() if n in there}
        fits = [power_law([*found], [*found.values()]) for found in (here, there)]
        growth, published = (fit.exponent if fit is not None else None for fit in fits)
        judged = judge_growth(published, growth)
        verdict, reason = (Verdict.NOT_COMPARABLE, one.why) if one.why else (judged.verdict, judged.reason)
        yield Point(f"{one.quantity}: exponent of n", _written(published), _written(growth), verdict, reason)
    yield Point("levels: the values themselves", "above", "above", Verdict.NOT_COMPARABLE, "another machine")


def judge_growth(published: Estimate | None, here: Estimate | None) -> Judged:
    """Judge how a quantity grows with n by two exponents; an exponent is None if too few sizes are known."""
    if published is None or here is None:
        return Judged(Verdict.NOT_COMPARABLE, "too few sizes above rounding")
    if published.low <= here.high and here.low <= published.high:
        return Judged(Verdict.AGREES, "the intervals overlap")
    return Judged(Verdict.DIFFERS, f"grows {'faster' if here.value > published.value else 'more slowly'} here")


def _written(found: Estimate | None) -> str:
    return interval(found, decimals([found] if found is not None else []))


def _verdicts(points: Sequence[Point]) -> Table:
    """Return the points as a table."""
    header = ("point", "published", "here", "verdict", "reason")
    return Table(
        "published and here", header, tuple((*point[:3], str(point[3]), point[4]) for point in points), labels=5
    )


def _values(series: Sequence[Series], measured: Measured) -> Iterator[Table]:
    """Yield a table for each set of sizes: every quantity as published and as measured here."""
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


def main() -> None:
    """Measure and show the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/cube-scaling"), help="folder for tables and figures")
    folder = parser.parse_args().out
    series = published_series()
    sizes, action_sizes = (
        sorted({n for one in series for n in one.sizes if (one.last_digit > 0) == actions}) for actions in (False, True)
    )
    formats.print_tables(write(series, study(sizes, action_sizes), folder), NOTES, Console())


if __name__ == "__main__":
    main()
