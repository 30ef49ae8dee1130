"""Compare levels at equal budgets, from runs without a budget: the score as a function of spending."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from quorum.comparison.comparison import Comparison, differences_from
from quorum.comparison.groups import Group
from quorum.comparison.spent import AT_BUDGETS, BUDGETS, AtBudgets, Spent, Unknown, read_spent
from quorum.configuration.origin import Scalar
from quorum.runs import Row
from quorum.storage.run_files import DamagedFile
from quorum_base.user_errors import UserError, choices_hint

STEPS = 12
"""Number of budgets above 0 at which levels are compared."""
_USUAL = "outcome.completion"

_Place = tuple[str, Scalar]
"""A level and a value of `across`."""
_Read = Sequence[tuple[Row, Spent]]
"""The runs of a group whose spending is known."""


def budget_curves(comparison: Comparison, kind: str) -> AtBudgets:
    """Compare the levels at equal budgets, from 0 to the largest budget known for all of them.

    A run that ended by itself keeps its last score at every larger budget. A run that its budget ended is known only up
    to that budget. Holm's correction covers the levels and the values of `across` at one budget.

    Args:
        comparison: its runs, and those of its metrics that are in `AT_BUDGETS`; completion if none of them are.
        kind: one of `BUDGETS`.

    Raises:
        UserError: the kind is unknown, or no run has spent any of it.
    """
    if kind not in BUDGETS:
        raise UserError(f"--budget {kind}: there is no such budget", choices_hint(kind, "Budgets", list(BUDGETS)))
    left_out: list[str] = []
    read = {key: _read(group, kind, left_out) for key, group in comparison.groups.items()}
    budgets = {point: _budgets([read[key] for key in read if key[1] == point], kind) for point in comparison.points}
    if not any(map(max, budgets.values())):
        raise UserError(f"--budget {kind}: no run records any {BUDGETS[kind]} spent", "Try --budget thoughts.")
    metrics = tuple(name for name in comparison.metrics if name in AT_BUDGETS) or (_USUAL,)
    moments = [
        _groups(comparison, read, {point: own[place] for point, own in budgets.items()}) for place in range(STEPS + 1)
    ]
    differences = [differences_from(metrics, comparison.baseline, groups) for groups in moments]
    return AtBudgets(
        kind=kind,
        metrics=metrics,
        budgets=budgets,
        estimates={
            (metric, *key): tuple(groups[key].estimate(metric, comparison.statistic) for groups in moments)
            for metric in metrics
            for key in moments[0]
        },
        differences={(each[0].metric, each[0].level, each[0].point): each for each in zip(*differences, strict=True)},
        left_out=tuple(left_out),
    )


def _read(group: Group, kind: str, left_out: list[str]) -> _Read:
    found = []
    for row in group.rows:
        try:
            found.append((row, read_spent(row, kind)))
        except (DamagedFile, Unknown) as error:
            left_out.append(f"{row.folder.name}: {error.brief if isinstance(error, DamagedFile) else error}")
    return found


def _budgets(read: Sequence[_Read], kind: str) -> tuple[float, ...]:
    """Return evenly spaced budgets, rounded down to whole numbers for counts."""
    spent = [one for found in read for _, one in found]
    largest = min(max((one.least[-1] for one in spent), default=0.0), min((one.most for one in spent), default=0.0))
    steps = np.linspace(0.0, largest, STEPS + 1)
    return tuple((steps if kind in ("usd", "seconds") else np.floor(steps)).tolist())


def _groups(comparison: Comparison, read: Mapping[_Place, _Read], at: Mapping[Scalar, float]) -> dict[_Place, Group]:
    """Return the groups, by level and value of `across`, with the metrics that their runs reach under a budget."""
    groups = {}
    for key, found in read.items():
        rows = []
        for row, spent in found:
            values = spent.at(at[key[1]]).tolist()
            known = {name: None if math.isnan(v) else v for name, v in zip(AT_BUDGETS, values, strict=True)}
            rows.append(replace(row, metrics=known))
        if rows:
            groups[key] = replace(comparison.groups[key], rows=tuple(rows), left_out=())
    return groups
