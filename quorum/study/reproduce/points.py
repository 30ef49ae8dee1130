"""The points of a published figure, each judged for the runs here, and for teams without a mind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import cast

import numpy as np

from maeil.metrics import METRICS
from quorum.agents.simulated import CHANCE, ECHO
from quorum.comparison import Comparison, Group, Question, compare
from quorum.comparison.differences import Cells, over_boards
from quorum.comparison.factors import NONE, short, written
from quorum.comparison.formats import Table
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import decimals, interval
from quorum.configuration.origin import Scalar
from quorum.runs import Results, Row
from quorum.runs.sweep_file import Published
from quorum.study.reproduce.figure_file import Claim, ExperimentPart, PublishedFigure
from quorum.study.reproduce.verdicts import (
    Judged,
    Verdict,
    judge_number,
    judge_order,
    paired_difference,
    read_number,
)

MODELS = ("llm.model", "model")
"""Factors of a published table that name the model. Runs may use another one: the reason names both."""
HERE = "here"
TEAMS = (HERE, CHANCE, ECHO)
"""The teams that are judged: ours, and its floors, the same with random answers and with copies of the example."""
_SUCCESS = "outcome.success"
Groups = Mapping[tuple[str, Scalar], Group]
Compared = Callable[[Sequence[str], str, Mapping[str, Scalar]], Groups]
"""Groups the runs of a team by factors and across one, where others have given values."""


@dataclass(frozen=True, slots=True)
class Point:
    """A published point.

    Attributes:
        what: description of the point.
        model: the published model; empty: none.
        published: the published value, or the order that the claim states.
        here: the value of our runs.
        control: whether the point is this project's own, stated by no paper.
        verdict: the verdict.
        reason: why, in a few words.
        chance: the verdict on random answers; empty if there are none.
        echo: the verdict on copies of the example; empty if there are none, as for rules, which get no prompt.
    """

    what: str
    model: str
    published: str = NONE
    here: str = NONE
    control: bool = False
    verdict: Verdict = Verdict.NOT_COMPARABLE
    reason: str = ""
    chance: Verdict | str = ""
    echo: Verdict | str = ""


def points_of(
    figure: PublishedFigure, part: ExperimentPart, teams: Mapping[str, Results], *, accept_versions: bool
) -> Iterator[Point]:
    """Yield the points of an experiment of a figure: published numbers, claims, and results that are not comparable.

    In an order, a team of rules keeps its rules: only the answers of models become random, or copies.

    Args:
        figure: the figure.
        part: the experiment.
        teams: its runs by team, as in `TEAMS`.
        accept_versions: whether runs of different versions of the code may be pooled.

    Raises:
        UserError: the runs come from different versions.
    """

    def compared(rows: Sequence[Row]) -> Compared:
        @cache
        def groups(by: tuple[str, ...], across: str, where: tuple[tuple[str, Scalar], ...]) -> Groups:
            chosen = tuple(row for row in rows if all(row.factors.get(k, row.metrics.get(k)) == v for k, v in where))
            if not any(row.pooled for row in chosen):
                return {}
            question = Question(by, across, accept_versions=accept_versions)
            return compare([replace(results, rows=chosen)], question).groups

        return lambda by, across, where: groups(tuple(by), across, tuple(where.items()))

    results = teams[HERE]
    asked = {row.arm for row in results.rows if row.models}
    rules = [row for row in results.rows if row.arm not in asked]
    if part.numbers and results.sweep is not None and (table := results.sweep.published) is not None:
        yield from _numbers(figure, table, {team: compared(found.rows) for team, found in teams.items()})
    answered = {team: [row for row in found.rows if row.arm in asked] for team, found in teams.items()}
    orders = {team: compared([*rows, *rules]) for team, rows in answered.items()}
    for claim in part.claims:
        yield from _orders(figure, part, claim, orders)
    for aside in part.asides:
        yield Point(aside.says, figure.model, reason=aside.why)


def _numbers(figure: PublishedFigure, table: Published, teams: Mapping[str, Compared]) -> Iterator[Point]:
    by = [factor for factor in table.factors if factor not in MODELS]
    for row in table.rows:
        factors = cast("dict[str, Scalar]", dict(zip(table.factors, row, strict=False)))
        models = [factors.pop(name) for name in MODELS if name in factors]
        there = str(models[0] or "") if models else figure.model
        level = " / ".join(map(written, factors.values()))
        first, *others = ((short(name), written(value)) for name, value in factors.items())
        where = ", ".join([first[1], *map(" = ".join, others)])
        values = dict(zip(table.metrics, row[len(table.factors) :], strict=True))
        for name, value in values.items():
            if value is None:
                continue
            metric, trials, only = METRICS[name], table.trials or 1, cast("dict[str, Scalar]", {})
            if name in table.of_successes:
                only, trials = {_SUCCESS: 1}, round(trials * cast("float", values[_SUCCESS]))
            groups = {team: found(by, "none", only).get((level, None)) for team, found in teams.items()}
            here = groups[HERE]
            limit = 1.0 if metric.rate else here.limit(name) if here is not None else None
            bounds = -math.inf if table.least is None else table.least, math.inf if limit is None else limit
            stated = read_number(metric, value, table, trials, bounds)
            margin = figure.margin(name, stated.value)
            found = {team: _estimate(group, name, bounds) for team, group in groups.items()}
            judged = {team: judge_number(metric, own, stated, margin) for team, own in found.items()}
            number = str(stated) if here is not None else f"{stated.value:g}"  # without runs, its limit is not known
            point = Point(f"{metric.title}: {where}", there, number, _written(found[HERE]))
            yield _judged(point, judged, [here])


def _estimate(group: Group | None, metric: str, bounds: tuple[float, float]) -> Estimate | None:
    if group is None:
        return None
    found = group.estimate(metric, "mean")
    low, high = np.clip([found.low, found.high], *bounds).tolist()
    return replace(found, low=low, high=high)


def _orders(
    figure: PublishedFigure, part: ExperimentPart, claim: Claim, teams: Mapping[str, Compared]
) -> Iterator[Point]:
    found = {team: compared((claim.by or part.by,), part.across, claim.where) for team, compared in teams.items()}
    title = " ".join(METRICS[word].title if word in METRICS else word for word in claim.metric.split())
    title += f" per {METRICS[claim.per].title}" if claim.per else ""
    rate = METRICS[claim.terms[0][0]].rate and not claim.per and len(claim.terms) == 1
    for level, sign, other in claim.pairs:
        for at in claim.at or dict.fromkeys(at for _, at in found[HERE]) or (NONE,):
            groups = {team: [own.get((name, at)) for name in (level, other)] for team, own in found.items()}
            paired, judged = {}, {}
            for team, both in groups.items():
                cells, others = (_cells(claim, group) for group in both)
                paired[team] = paired_difference(over_boards(cells, others), rate=rate)
                margin = figure.margin(claim.metric, fmean(map(fmean, others.values())) if others else 0.0)
                judged[team] = judge_order(sign, paired[team], margin)
            what = f"{claim.says}: {title}, {short(part.across)} = {written(at)}"
            order, here = f"{level} {'>' if sign > 0 else '<'} {other}", _written(paired[HERE], signed=True)
            yield _judged(Point(what, figure.model, order, here, claim.control), judged, groups[HERE])


def _cells(claim: Claim, group: Group | None) -> Cells:
    """Return the value of a claim's metric in each run, by board and stratum.

    For a ratio of means, T / S, the values are T / S + (T_i - S_i T / S) / S: their mean is the ratio, and they vary as
    it does (Cochran 1977, Sampling Techniques, section 6.3). There are none if S is 0.
    """
    names = [name for name, _ in claim.terms] + [claim.per] * bool(claim.per)
    rows = [row for row in group.rows if all(row.metrics.get(name) is not None for name in names)] if group else []
    if group is None or not rows:
        return {}
    found = np.array([[row.metrics[name] for name in names] for row in rows], dtype=np.float64)
    values = found[:, : len(claim.terms)] @ np.array([sign for _, sign in claim.terms])
    if claim.per:
        whole = found[:, -1].mean()
        if not whole:
            return {}
        ratio = values.mean() / whole
        values = ratio + (values - found[:, -1] * ratio) / whole
    cells: dict[tuple[Scalar, ...], list[float]] = {}
    for row, value in zip(rows, values.tolist(), strict=True):
        cells.setdefault((group.design.board(row), *group.design.stratum(row)), []).append(value)
    return cells


def _written(found: Estimate | None, *, signed: bool = False) -> str:
    return interval(found, decimals([found] if found is not None else []), signed=signed)


def _judged(point: Point, judged: Mapping[str, Judged], groups: Sequence[Group | None]) -> Point:
    """Add the verdicts. The reason names the floors that agree too, and both models if they are known and differ."""
    rows = [row for group in groups if group is not None for row in group.rows]
    names = sorted({name for row in rows for name in row.models})
    here = "simulated" if any(row.simulated for row in rows) else ", ".join(names)
    verdict, reason = judged[HERE].verdict, judged[HERE].reason
    floors = {team: own.verdict for team, own in judged.items() if team != HERE and (names or team != ECHO)}
    too = [floor for floor, own in floors.items() if own == verdict == Verdict.AGREES]
    reason += f"; {' and '.join(too)} {'agrees' if len(too) == 1 else 'agree'} too" if too else ""
    reason += "; rules have no echo" if rows and not names else ""
    if verdict is not Verdict.NOT_COMPARABLE and here and point.model and here != point.model:
        reason += f"; {here} here, {point.model} there"
    return replace(point, verdict=verdict, reason=reason, chance=floors.get(CHANCE, ""), echo=floors.get(ECHO, ""))


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


def verdict_tables(figure: PublishedFigure, points: Sequence[Point]) -> list[Table]:
    """Return the points as tables: one for each published model, and one for this project's own controls."""
    margins = ", ".join(f"{metric} {margin}" for metric, margin in figure.margins.items())
    found = []
    for control, model in sorted({(point.control, point.model) for point in points}):
        own = [point for point in points if (point.control, point.model) == (control, model)]
        verdicts = [[str(p.verdict), str(p.chance), str(p.echo)] for p in own]
        each = zip(TEAMS, zip(*verdicts, strict=True), strict=True)
        counts = [f"{team}: {', '.join(f'{given.count(v)} {v}' for v in Verdict)}" for team, given in each]
        caption = f"{'; '.join(counts)}. Margins: {margins}. [95 % interval]; for an order, the paired difference here."
        title = "our control" if control else f"published ({model or 'no model'})"
        header = ("point", "expected" if control else "published", "here", "verdict", "chance", "echo", "reason")
        rows = tuple((p.what, p.published, p.here, p.verdict, p.chance or NONE, p.echo or NONE, p.reason) for p in own)
        text = f"{caption} Rules: docs/reproduce.md."
        found.append(Table(f"{title} and here, point by point", header, rows, text, labels=7))
    return found
