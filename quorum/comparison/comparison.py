"""Compare metrics by one factor across another."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from maeil.metrics import METRICS
from quorum.agents.simulated import CHANCE
from quorum.comparison import factors, metrics
from quorum.comparison.design import Design, Unit, find_design
from quorum.comparison.differences import Difference, Pairing, differences
from quorum.comparison.draws import Noise, noise_of
from quorum.comparison.families import Family, is_family, refuse_unpaired, with_stand_ins
from quorum.comparison.floors import MODELS, command_for_floors, mixes_floors, without_floors
from quorum.comparison.groups import Group
from quorum.comparison.pooling import Pool, pool, refuse_mixed_inputs, refuse_mixed_versions
from quorum.comparison.spent import AtBudgets
from quorum.comparison.statistics.intervals import STATISTICS, Estimate, Name
from quorum.configuration.origin import CHANGE, NO_CHANGE, Scalar
from quorum.runs import Results, Row
from quorum.runs.sweep_file import Published
from quorum_base.user_errors import UserError, choices_hint

_ACROSS = ("n", "episode")
"""Default factors to compare across: the first of these that varies."""
FIRST = ""
"""As a baseline: the first of several levels."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question that a user asks.

    Attributes:
        by: factors whose levels are compared; empty: `change` for branches, else the first that varies of arm,
            topology, agents, model, env and other keys.
        across: the factor to compare across; None: `n` if it varies, else `episode` if that varies; `none`: no factor.
        metrics: the metrics to compare; empty: those the sweeps name, or success, completion and steps.
        baseline: the level that differences are taken from, or `FIRST`; None: no differences, except that branches are
            compared with no change.
        statistic: the statistic that tables and figures show.
        accept_versions: whether runs of different versions of the code, prompts or plug-ins may be pooled.
        room: the level with full knowledge, which bounds the room above the baseline; None: do not measure room.
    """

    by: Sequence[str] = ()
    across: str | None = None
    metrics: Sequence[str] = ()
    baseline: str | None = None
    statistic: str = "mean"
    accept_versions: bool = False
    room: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer to a question.

    Attributes:
        folders: the folders of the runs.
        by: the resolved factors.
        across: the resolved factor; None for none.
        metrics: the resolved metrics.
        statistic: the statistic that tables and figures show.
        baseline: label of the baseline; None for none.
        pool: the runs that count, and those that do not.
        design: what else varies.
        levels: labels, in order.
        points: values of `across`, in order; (None,) without it.
        groups: by level and point; groups without runs that count are absent.
        estimates: by metric, level and point.
        bounds: estimates with excluded runs counted as failures, and as successes: for shares with a better direction,
            in groups that have such runs.
        differences: from the baseline, metric by metric.
        published: published results that the experiments of the sweeps name.
        noise: what chance alone changes, by metric, level and point: for groups with several draws of a board.
        set_aside: number of runs with random answers, excluded because they would be pooled with a model's.
        floor_commands: the commands that add chance and echo to sweeps of a real model.
        family: how branches are paired, if they are compared by their changes; else None.
        budgets: the levels at equal budgets; None unless requested.
        room: the level with full knowledge that bounds the room above the baseline; None: room is not measured.
    """

    folders: tuple[Path, ...]
    by: tuple[str, ...]
    across: str | None
    metrics: tuple[str, ...]
    statistic: Name
    baseline: str | None
    pool: Pool
    design: Design
    levels: tuple[str, ...]
    points: tuple[Scalar, ...]
    groups: Mapping[tuple[str, Scalar], Group]
    estimates: Mapping[tuple[str, str, Scalar], Estimate]
    bounds: Mapping[tuple[str, str, Scalar], tuple[Estimate, Estimate]]
    differences: tuple[Difference, ...]
    published: tuple[Published, ...]
    noise: Mapping[tuple[str, str, Scalar], Noise]
    set_aside: int = 0
    floor_commands: tuple[str, ...] = ()
    family: Family | None = None
    budgets: AtBudgets | None = None
    room: str | None = None

    @property
    def unit(self) -> Unit:
        """The unit that intervals are taken over."""
        return self.design.unit

    @property
    def things(self) -> str:
        """Name of the pooled items: runs or branches."""
        return "runs" if self.family is None else "branches"

    def gap(self, difference: Difference) -> float:
        """Return the larger A/A gap of the two levels of a difference; NaN if neither has several draws."""
        levels = (difference.level, self.baseline)
        found = [self.noise.get((difference.metric, str(level), difference.point)) for level in levels]
        return max((noise.gap for noise in found if noise is not None), default=math.nan)

    @property
    def clustered(self) -> bool:
        """Whether some board has several runs, so that both numbers must be shown."""
        return any(found.boards < found.runs for found in self.estimates.values())

    @property
    def simulated(self) -> frozenset[str]:
        """The levels with a simulated language model, except the floors."""
        return frozenset(tally.level for tally in self.pool.tallies if tally.simulated and not tally.floor)

    @property
    def floors(self) -> Mapping[str, str]:
        """The levels in which no mind answered, each with `chance` or `echo`."""
        return {tally.level: tally.floor for tally in self.pool.tallies if tally.floor}


def compare(results: Sequence[Results], question: Question) -> Comparison:
    """Compare the runs of one or more folders.

    Raises:
        UserError: the question names something that the runs do not have, no run counts, or the runs come from
            different versions of the code, prompts or plug-ins.
    """
    every = [row for part in results for row in part.rows]
    family = None
    if CHANGE in question.by or (not question.by and is_family(every)):
        if others := [name for name in question.by if name != CHANGE]:
            raise UserError(
                f"--by {CHANGE}: branches are paired by their beginning, so --by cannot add {others[0]}",
                f"Give the other factor as --across {others[0]}.",
            )
        question = replace(question, by=(CHANGE,))
        results, family = with_stand_ins(results)
        every = [row for part in results for row in part.rows]
    _check_known("statistic", question.statistic, "statistic", STATISTICS)
    statistic = cast("Name", question.statistic)
    by = tuple(dict.fromkeys(factors.resolve(name, every, "--by") for name in question.by))
    by = by or (factors.first_that_varies([row for row in every if row.pooled]),)
    across = _across(question.across, every, by)
    commands = tuple(filter(None, map(command_for_floors, results))) if family is None else ()
    set_aside = 0
    if mixes_floors(every, lambda row: (factors.label_of(row, by), _point(row, across))):
        set_aside = sum(bool(row.floor) for row in every)
        results = without_floors(results)
    found = pool(results, lambda row: factors.label_of(row, by))
    if not question.accept_versions:
        if "version" not in by:
            refuse_mixed_versions(found)
        refuse_mixed_inputs(found)
    named = [name for part in results if part.sweep is not None for name in part.sweep.metrics]
    asked = question.metrics or named or metrics.DEFAULT
    wanted = tuple(dict.fromkeys(metrics.resolve(name, found.rows) for name in asked))
    if family is not None:
        found = replace(found, tallies=tuple(sorted(found.tallies, key=lambda tally: tally.level != NO_CHANGE)))
    levels = _levels(found, by)
    if family is not None:
        levels = tuple(sorted(levels, key=lambda level: level != NO_CHANGE))
    points = tuple(factors.in_order(_point(row, across) for row in found.rows))
    design = find_design(found.rows, found.levels, by, across, family=family is not None)
    groups = _groups(found, levels, points, design, across)
    asked_for = question.baseline if family is not None else _or_chance(question.baseline, by, found)
    baseline = _baseline(asked_for, levels) if family is None else _control(asked_for, levels, found)
    estimates = {
        (metric, level, point): group.estimate(metric, statistic)
        for metric in wanted
        for (level, point), group in groups.items()
    }
    return Comparison(
        folders=tuple(part.folder for part in results),
        by=by,
        across=across,
        metrics=wanted,
        statistic=statistic,
        baseline=baseline,
        pool=found,
        design=design,
        levels=levels,
        points=points,
        groups=groups,
        estimates=estimates,
        bounds={
            (metric, level, point): group.bounds(metric, statistic)
            for metric in wanted
            for (level, point), group in groups.items()
            if group.left_out and METRICS[metric].share and METRICS[metric].better
        },
        differences=differences_from(wanted, baseline, groups),
        published=tuple(p for part in results if part.sweep is not None and (p := part.sweep.published) is not None),
        noise={
            (metric, *place): noise
            for metric in (wanted if family is None else ())
            for place, noise in noise_of(groups.values(), metric).items()
        },
        room=_room(question.room, baseline, levels),
        set_aside=set_aside,
        floor_commands=commands,
        family=family,
    )


def _control(name: str | None, levels: Sequence[str], found: Pool) -> str:
    """Return the level that changes are compared with.

    Raises:
        UserError: the level does not exist, or no branch is paired with it.
    """
    baseline = NO_CHANGE if name is None or name == FIRST else name
    if baseline != NO_CHANGE:
        _check_known("baseline", baseline, "level", levels)
    refuse_unpaired(found.rows, baseline)
    return baseline


def _check_known(option: str, name: str, what: str, known: Iterable[str]) -> None:
    """Refuse an unknown name.

    Raises:
        UserError: the name is unknown.
    """
    names = list(known)
    if name not in names:
        hint = choices_hint(name, f"{what.capitalize()}s", names)
        raise UserError(f"--{option} {name}: there is no such {what}", hint)


def _across(name: str | None, rows: Sequence[Row], by: Sequence[str]) -> str | None:
    if name == "none":
        return None
    if name is None:
        pooled = [row for row in rows if row.pooled]
        return next((usual for usual in _ACROSS if usual not in by and factors.varies(usual, pooled)), None)
    across = factors.resolve(name, rows, "--across")
    if across in by:
        raise UserError(f"--across {name}: --by already compares by it", "Give another factor, or --across none.")
    return across


def _point(row: Row, across: str | None) -> Scalar:
    return factors.value_of(row, across) if across is not None else None


def _levels(found: Pool, by: Sequence[str]) -> tuple[str, ...]:
    if len(by) > 1:
        return tuple(dict.fromkeys(found.levels))
    return tuple(
        factors.written(value) for value in factors.in_order(factors.value_of(row, by[0]) for row in found.rows)
    )


def _or_chance(baseline: str | None, by: Sequence[str], found: Pool) -> str | None:
    """Return the baseline: by default the chance level if models are compared."""
    drawn = [tally.level for tally in found.tallies if tally.floor == CHANCE]
    compares_models = len(by) == 1 and by[0] in MODELS and len(found.tallies) > 1
    return drawn[0] if baseline in (None, FIRST) and compares_models and drawn else baseline


def _baseline(name: str | None, levels: Sequence[str]) -> str | None:
    if name is None or (name == FIRST and len(levels) == 1):
        return None
    if name == FIRST:
        return levels[0]
    _check_known("baseline", name, "level", levels)
    if len(levels) == 1:
        raise UserError(f"--baseline {name}: there is no other level to compare it with")
    return name


def _room(name: str | None, baseline: str | None, levels: Sequence[str]) -> str | None:
    if name is None:
        return None
    _check_known("room", name, "level", levels)
    if baseline in (None, name):
        hint = "Name another level: --baseline LEVEL."
        raise UserError(f"--room {name}: room needs another level as its baseline", hint)
    return name


def _groups(
    found: Pool, levels: Sequence[str], points: Sequence[Scalar], design: Design, across: str | None
) -> dict[tuple[str, Scalar], Group]:
    members: defaultdict[tuple[str, Scalar], list[Row]] = defaultdict(list)
    left_out: defaultdict[tuple[str, Scalar], list[Row]] = defaultdict(list)
    for row, level in zip(found.rows, found.levels, strict=True):
        members[level, _point(row, across)].append(row)
    for row, level in zip(found.left_out, found.left_out_levels, strict=True):
        left_out[level, _point(row, across)].append(row)
    return {
        (level, point): Group(level, point, tuple(members[level, point]), tuple(left_out[level, point]), design)
        for level in levels
        for point in points
        if (level, point) in members
    }


def differences_from(
    wanted: Sequence[str], baseline: str | None, groups: Mapping[tuple[str, Scalar], Group]
) -> tuple[Difference, ...]:
    """Return the differences of the other levels from a baseline, metric by metric; none without a baseline."""
    if baseline is None:
        return ()
    pairs = [
        (group, groups[baseline, point])
        for (level, point), group in groups.items()
        if level != baseline and (baseline, point) in groups
    ]
    return tuple(
        difference
        for metric in wanted
        for difference in differences(METRICS[metric], [_pairing(group, base, metric) for group, base in pairs])
    )


def _pairing(group: Group, base: Group, metric: str) -> Pairing:
    worst = best = None
    if METRICS[metric].share and (group.left_out or base.left_out):
        worst = group.cells(metric, 0.0), base.cells(metric, 1.0)
        best = group.cells(metric, 1.0), base.cells(metric, 0.0)
    own, others = group.cells(metric), base.cells(metric)
    if group.design.family:
        beginnings = {cell[1:] for cell in own}
        others = {cell: values for cell, values in others.items() if cell[1:] in beginnings}
    return Pairing(group.level, group.point, own, others, worst, best)
