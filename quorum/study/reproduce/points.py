"""The points of a published figure, each compared with the runs here, and judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from maeil.metrics import METRICS
from quorum.comparison import Comparison, Group, Question, compare
from quorum.comparison.differences import Difference, Pairing, differences
from quorum.comparison.factors import NONE, short, written
from quorum.comparison.formats import Table
from quorum.configuration.origin import Scalar
from quorum.runs import Results, Row
from quorum.runs.sweep_file import Published
from quorum.study.reproduce.figure_file import Claim, ExperimentPart, PublishedFigure
from quorum.study.reproduce.verdicts import (
    Judged,
    Verdict,
    judge_number,
    judge_order,
    published_estimate,
    written_estimate,
)

MODELS = ("llm.model", "model")
"""Factors of a published table that name the model. Runs may use another one: the reason names both."""


@dataclass(frozen=True, slots=True)
class Point:
    """A published point.

    Attributes:
        what: description of the point.
        published: the published value.
        here: the value of our runs.
        verdict: the verdict.
        reason: why, in a few words.
    """

    what: str
    published: str
    here: str
    verdict: Verdict
    reason: str


def points_of(
    figure: PublishedFigure, part: ExperimentPart, results: Results, *, accept_versions: bool
) -> Iterator[Point]:
    """Yield the points of an experiment of a figure: published numbers, claims, and results that are not comparable.

    Args:
        figure: the figure.
        part: the experiment.
        results: its runs.
        accept_versions: whether runs of different versions of the code may be pooled.

    Raises:
        UserError: no run counts, or the runs come from different versions.
    """

    @cache
    def compared(by: tuple[str, ...], across: str) -> Comparison:
        question = Question(by, across, metrics_of(part, results), accept_versions=accept_versions)
        return compare([results], question)

    table = results.sweep.published if results.sweep is not None else None
    if table is not None:
        factors = tuple(factor for factor in table.factors if factor not in MODELS)
        yield from _numbers(figure, table, compared(factors, "none"))
    for claim in part.claims:
        yield from _orders(figure, claim, compared((claim.by or part.by,), part.across))
    for aside in part.asides:
        yield Point(aside.says, NONE, NONE, Verdict.NOT_COMPARABLE, aside.why)


def metrics_of(part: ExperimentPart, results: Results) -> tuple[str, ...]:
    """Return the metrics of a figure: the published ones, those of its claims, and those whose shares it shows.

    If there are none, return all that the experiment names.
    """
    sweep = results.sweep
    table = sweep.published if sweep is not None else None
    published = table.metrics if table is not None else ()
    found = dict.fromkeys([*published, *(claim.metric for claim in part.claims), *part.shares])
    return tuple(found) or (tuple(sweep.metrics) if sweep is not None else ())


def _numbers(figure: PublishedFigure, table: Published, comparison: Comparison) -> Iterator[Point]:
    width = len(table.factors)
    for row in table.rows:
        factors = cast("dict[str, Scalar]", dict(zip(table.factors, row, strict=False)))
        models = [factors.pop(name) for name in MODELS if name in factors]
        there = str(models[0] or "") if models else figure.model
        level = " / ".join(map(written, factors.values()))
        group = comparison.groups.get((level, None))
        first, *others = ((short(name), written(value)) for name, value in factors.items())
        where = ", ".join([first[1], *map(" = ".join, others), *([there] if models and there else [])])
        for name, value in zip(table.metrics, row[width:], strict=True):
            if value is None:
                continue
            metric = METRICS[name]
            here = comparison.estimates.get((name, level, None))
            judged = _with_models(judge_number(metric, value, here, table), group.rows if group else (), there)
            published = written_estimate(published_estimate(metric, value, table))
            yield Point(f"{metric.title}: {where}", published, written_estimate(here), judged.verdict, judged.reason)


def _orders(figure: PublishedFigure, claim: Claim, comparison: Comparison) -> Iterator[Point]:
    metric = METRICS[claim.metric]
    for level, sign, other in claim.pairs:
        for point in claim.at or comparison.points:
            level_group, other_group = (comparison.groups.get((name, point)) for name in (level, other))
            found = _difference(claim.metric, level_group, other_group)
            rows = [row for group in (level_group, other_group) if group is not None for row in group.rows]
            judged = _with_models(judge_order(sign, found), rows, figure.model)
            here = written_estimate(found.mean if found is not None else None, signed=True)
            what = f"{claim.says}: {metric.title}, {short(str(comparison.across))} = {written(point)}"
            yield Point(what, f"{level} {'>' if sign > 0 else '<'} {other}", here, judged.verdict, judged.reason)


def _difference(metric: str, level: Group | None, other: Group | None) -> Difference | None:
    """Return the paired difference of a level from another one; None if either has no runs."""
    if level is None or other is None:
        return None
    pairing = Pairing(level.level, level.point, level.cells(metric), other.cells(metric))
    return differences(METRICS[metric], [pairing])[0]


def _with_models(judged: Judged, rows: Sequence[Row], there: str) -> Judged:
    """Add the models here and there to the reason, if both are known and differ."""
    names = sorted({name for row in rows for name in row.models})
    here = "simulated" if any(row.simulated for row in rows) else ", ".join(names)
    if judged.verdict is Verdict.NOT_COMPARABLE or not here or not there or here == there:
        return judged
    return replace(judged, reason=f"{judged.reason}; {here} here, {there} there")


def shares(comparison: Comparison, metrics: Sequence[str]) -> Table:
    """Return the share of each metric in their sum, by level and value of `across`.

    Args:
        comparison: a comparison of the runs.
        metrics: parts of a whole, such as the causes of failed attempts.
    """
    across = str(comparison.across)
    rows = []
    for (level, point), group in comparison.groups.items():
        means = [group.mean(metric) for metric in metrics]
        whole = sum(means)
        rows.append((level, written(point), f"{whole:.1f}", *(f"{m / whole:.1%}" if whole else NONE for m in means)))
    header = (short(comparison.by[0]), short(across), "per run", *(metric.partition("_")[2] for metric in metrics))
    title = f"shares of {metrics[0].rpartition('_')[0]} by {short(comparison.by[0])} across {short(across)}"
    return Table(title, header, tuple(rows), "Computed from means over boards.", labels=2)


def verdict_table(points: Sequence[Point]) -> Table:
    """Return the points as a table."""
    rows = tuple((p.what, p.published, p.here, str(p.verdict), p.reason) for p in points)
    counts = ", ".join(f"{sum(p.verdict is v for p in points)} {v}" for v in Verdict)
    caption = f"{counts}. [95 % interval]; for an order, the paired difference here. Rules: docs/reproduce.md."
    header = ("point", "published", "here", "verdict", "reason")
    return Table("published and here, point by point", header, rows, caption, labels=5)
