"""The points of a published figure, each compared with the runs here and with teams that know nothing, and judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import cast

import numpy as np

from maeil.metrics import METRICS
from quorum.comparison import Comparison, Group, Question, compare
from quorum.comparison.differences import Cells, Pairing, differences
from quorum.comparison.factors import NONE, short, written
from quorum.comparison.formats import Table
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import decimals, interval
from quorum.configuration.origin import Scalar
from quorum.runs import Results
from quorum.runs.sweep_file import Published
from quorum.study.reproduce.figure_file import Claim, ExperimentPart, PublishedFigure
from quorum.study.reproduce.verdicts import Judged, Verdict, judge_number, judge_order, read_number

MODELS = ("llm.model", "model")
"""Factors of a published table that name the model. Runs may use another one: the reason names both."""
HERE, CHANCE, ECHO = TEAMS = ("here", "chance", "echo")
"""The teams that are judged: ours, and the same with random answers and with copies of the prompt's example."""
_SUCCESS = "outcome.success"
Compared = Callable[[Sequence[str], str, Mapping[str, Scalar]], Comparison | None]
"""Compares the runs of a team by factors and across one, where others have given values; None if no run counts."""


@dataclass(frozen=True, slots=True)
class Point:
    """A published point.

    Attributes:
        what: description of the point.
        model: the published model; empty: none.
        control: whether the point is this project's own, stated by no paper.
        published: the published value, or the order that the claim states.
        here: the value of our runs.
        verdict: the verdict.
        reason: why, in a few words.
        chance: the verdict on random answers; empty if there are none.
        echo: the verdict on copies of the example; empty if there are none, as for rules, which get no prompt.
    """

    what: str
    model: str
    control: bool
    published: str
    here: str
    verdict: Verdict
    reason: str
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
    results = teams[HERE]
    metrics = metrics_of(part, results)
    asked = {row.arm for row in results.rows if row.models}
    rules = tuple(row for row in results.rows if row.arm not in asked)
    own = {name: (*(row for row in found.rows if row.arm in asked), *rules) for name, found in teams.items()}
    numbers = {name: _comparer(found, metrics, accept_versions) for name, found in teams.items()}
    orders = {name: _comparer(replace(teams[name], rows=rows), metrics, accept_versions) for name, rows in own.items()}
    if part.numbers and results.sweep is not None and (table := results.sweep.published) is not None:
        yield from _numbers(figure, table, numbers)
    for claim in part.claims:
        yield from _orders(figure, part, claim, orders)
    for aside in part.asides:
        yield Point(aside.says, figure.model, False, NONE, NONE, Verdict.NOT_COMPARABLE, aside.why)


def _comparer(results: Results, metrics: Sequence[str], accept_versions: bool) -> Compared:
    @cache
    def compared(by: tuple[str, ...], across: str, where: tuple[tuple[str, Scalar], ...]) -> Comparison | None:
        rows = tuple(
            row for row in results.rows if all(row.factors.get(key, row.metrics.get(key)) == own for key, own in where)
        )
        if not any(row.pooled for row in rows):
            return None
        return compare([replace(results, rows=rows)], Question(by, across, metrics, accept_versions=accept_versions))

    return lambda by, across, where: compared(tuple(by), across, tuple(where.items()))


def metrics_of(part: ExperimentPart, results: Results) -> tuple[str, ...]:
    """Return the metrics of a figure: the published ones, those of its claims, and those whose shares it shows.

    If there are none, return all that the experiment names.
    """
    sweep = results.sweep
    table = sweep.published if sweep is not None and part.numbers else None
    claimed = (name for claim in part.claims for name in (*(name for name, _ in claim.terms), claim.per) if name)
    found = dict.fromkeys([*(table.metrics if table is not None else ()), *claimed, *part.shares])
    return tuple(found) or (tuple(sweep.metrics) if sweep is not None else ())


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
            groups = {team: _group(compared(by, "none", only), level, None) for team, compared in teams.items()}
            bounds = _bounds(table, name, groups[HERE])
            stated = read_number(metric, value, table, trials, bounds)
            found = {team: _estimate(group, name, bounds) for team, group in groups.items()}
            margin = figure.margin(name, stated.value)
            judged = {team: judge_number(metric, own, stated, margin) for team, own in found.items()}
            texts = str(stated), _written(found[HERE])
            yield _point(f"{metric.title}: {where}", there, texts, judged, [groups[HERE]])


def _group(comparison: Comparison | None, level: str, point: Scalar) -> Group | None:
    return comparison.groups.get((level, point)) if comparison is not None else None


def _bounds(table: Published, metric: str, group: Group | None) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a published metric."""
    limit = 1.0 if METRICS[metric].rate else group.limit(metric) if group is not None else None
    return -math.inf if table.least is None else table.least, math.inf if limit is None else limit


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
    here = found[HERE]
    title = " ".join(METRICS[word].title if word in METRICS else word for word in claim.metric.split())
    title += f" per {METRICS[claim.per].title}" if claim.per else ""
    metric = METRICS[claim.terms[0][0]]
    metric = replace(metric, rate=metric.rate and not claim.per and len(claim.terms) == 1)
    for level, sign, other in claim.pairs:
        for point in claim.at or (here.points if here is not None else (NONE,)):
            groups = {team: [_group(one, name, point) for name in (level, other)] for team, one in found.items()}
            paired, judged = {}, {}
            for team, both in groups.items():
                cells, others = (_cells(claim, group) for group in both)
                (paired[team],) = differences(metric, [Pairing(level, point, cells, others)])
                margin = figure.margin(claim.metric, fmean(map(fmean, others.values())) if others else 0.0)
                judged[team] = judge_order(sign, paired[team], margin, rate=metric.rate)
            what = f"{claim.says}: {title}, {short(part.across)} = {written(point)}"
            texts = f"{level} {'>' if sign > 0 else '<'} {other}", _written(paired[HERE].mean, signed=True)
            yield _point(what, figure.model, texts, judged, groups[HERE], control=claim.control)


def _cells(claim: Claim, group: Group | None) -> Cells:
    """Return the value of a claim's metric in each run, by board and stratum.

    For a ratio of means, T / S, the values are T / S + (T_i - S_i T / S) / S: their mean is the ratio, and they vary as
    it does (Cochran 1977, Sampling Techniques, section 6.3). There are none if S is 0.
    """
    names, signs = zip(*claim.terms, strict=True)
    wanted = (*names, claim.per) if claim.per else names
    rows = [row for row in group.rows if all(row.metrics.get(name) is not None for name in wanted)] if group else []
    if group is None or not rows:
        return {}
    found = np.array([[row.metrics[name] for name in wanted] for row in rows], dtype=np.float64)
    values = found[:, : len(signs)] @ np.array(signs)
    if claim.per:
        whole = float(found[:, -1].mean())
        if whole == 0:
            return {}
        ratio = values.mean() / whole
        values = ratio + (values - found[:, -1] * ratio) / whole
    cells: dict[tuple[Scalar, ...], list[float]] = {}
    for row, value in zip(rows, values.tolist(), strict=True):
        cells.setdefault((group.design.board(row), *group.design.stratum(row)), []).append(value)
    return cells


def _written(found: Estimate | None, *, signed: bool = False) -> str:
    return interval(found, decimals([found] if found is not None else []), signed=signed)


def _point(
    what: str,
    there: str,
    texts: tuple[str, str],
    judged: Mapping[str, Judged],
    groups: Sequence[Group | None],
    *,
    control: bool = False,
) -> Point:
    """Return a point. Its reason adds which teams agree too, and the models here and there if both are known and differ."""
    rows = [row for group in groups if group is not None for row in group.rows]
    names = sorted({name for row in rows for name in row.models})
    here = "simulated" if any(row.simulated for row in rows) else ", ".join(names)
    verdict, reason = judged[HERE].verdict, judged[HERE].reason
    others = {team: own.verdict for team, own in judged.items() if team != HERE and (names or team != ECHO)}
    too = [team for team, own in others.items() if own == verdict == Verdict.AGREES]
    reason += f"; {' and '.join(too)} {'agrees' if len(too) == 1 else 'agree'} too" if too else ""
    if verdict is not Verdict.NOT_COMPARABLE and here and there and here != there:
        reason += f"; {here} here, {there} there"
    return Point(what, there, control, *texts, verdict, reason, others.get(CHANCE, ""), others.get(ECHO, ""))


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
    parts: dict[tuple[bool, str], list[Point]] = {}
    for point in points:
        parts.setdefault((point.control, point.model), []).append(point)
    return [_verdicts(figure, model, found, control=control) for (control, model), found in sorted(parts.items())]


def _verdicts(figure: PublishedFigure, model: str, points: Sequence[Point], *, control: bool) -> Table:
    rows = tuple(
        (p.what, p.published, p.here, str(p.verdict), str(p.chance) or NONE, str(p.echo) or NONE, p.reason)
        for p in points
    )
    verdicts = {team: [row[3 + place] for row in rows] for place, team in enumerate(TEAMS)}
    counts = [f"{team}: {', '.join(f'{found.count(v)} {v}' for v in Verdict)}" for team, found in verdicts.items()]
    margins = ", ".join(f"{metric} {margin}" for metric, margin in figure.margins.items())
    caption = f"{'; '.join(counts)}. Margins: {margins}. [95 % interval]; for an order, the paired difference here."
    title = "our control and here" if control else f"published ({model or 'no model'}) and here"
    header = ("point", "expected" if control else "published", "here", "verdict", "chance", "echo", "reason")
    return Table(f"{title}, point by point", header, rows, f"{caption} Rules: docs/reproduce.md.", labels=7)
