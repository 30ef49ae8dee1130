"""Branches that are compared by what was changed in them: with what, and over which beginnings.

A **beginning** is a recorded prefix with the instant at which branches leave it. The gain of a change is taken within
each beginning: the mean over draws of the branches with the change, minus that of those without any. A run whose own
continuation is not among the branches stands in for it: draw 0 of no change is the run itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quorum.comparison.factors import written
from quorum.configuration.origin import CHANGE, DRAW, NO_CHANGE, PARENT, Origin, Scalar
from quorum.runs import Results, Row
from quorum_base.user_errors import UserError

Beginning = tuple[Scalar, ...]
"""What rows share that are paired: `Origin.beginning`."""


@dataclass(frozen=True, slots=True)
class Family:
    """What branches are compared with.

    Attributes:
        stand_ins: beginnings at which the run itself is the branch without a change.
        aside: runs that are no branches and stand in for none.
        versions: runs whose branches were made by another version of the code, each with both.
    """

    stand_ins: int
    aside: int
    versions: tuple[str, ...]


def beginning(row: Row) -> Beginning:
    """Return where a branch begins; empty for a run that is none."""
    return () if row.origin is None else row.origin.beginning


def is_family(rows: Sequence[Row]) -> bool:
    """Whether runs are branches with and without changes, or the runs that they come off, and nothing else."""
    changes = {row.factors[CHANGE] for row in rows if row.origin is not None}
    parents = {row.factors[PARENT] for row in rows if row.origin is not None}
    runs = [row for row in rows if row.origin is None]
    held = NO_CHANGE in changes or bool(runs)
    return held and bool(changes - {NO_CHANGE}) and all(row.name in parents for row in runs)


def with_stand_ins(results: Sequence[Results]) -> tuple[tuple[Results, ...], Family]:
    """Leave the branches, those without a change first, and put runs in where their own continuation is missing.

    Raises:
        UserError: there is no branch.
    """
    branches = [row for part in results for row in part.rows if row.origin is not None]
    if not branches:
        raise UserError(
            f"--by {CHANGE}: none of the runs is a branch",
            "Make some with `quorum branch RUN --at STEP ...`, and give their folder.",
        )
    wanted = _missing_controls(branches)
    of_run: dict[str, dict[str, None]] = {}
    for row in branches:
        of_run.setdefault(str(row.factors[PARENT]), {})[row.version] = None
    taken: set[str] = set()
    versions: dict[str, None] = {}
    parts = []
    for part in results:
        stand_ins = []
        for row in part.rows:
            own = wanted.get(row.name, ())
            versions |= dict.fromkeys(
                f"{row.name} by {row.version}, branches of it by {other}"
                for other in of_run.get(row.name, ())
                if other != row.version
            )
            if row.name not in taken and own and own[0].seed == row.seed:
                taken.add(row.name)
                stand_ins += [_as_branch(row, one.origin) for one in own if one.origin is not None]
        rows = [*stand_ins, *(row for row in part.rows if row.origin is not None)]
        rows.sort(key=lambda row: row.factors[CHANGE] != NO_CHANGE)
        parts.append(replace(part, rows=tuple(rows)))
    aside = sum(row.origin is None and row.name not in taken for part in results for row in part.rows)
    found = Family(sum(len(wanted[name]) for name in taken), aside, tuple(versions))
    return tuple(parts), found


def refuse_unpaired(rows: Iterable[Row], baseline: str) -> None:
    """Make sure that some branch has a counterpart at the baseline.

    Raises:
        UserError: none has.
    """
    found: dict[bool, set[Beginning]] = {True: set(), False: set()}
    for row in rows:
        found[written(row.factors[CHANGE]) == baseline].add(beginning(row))
    if found[True] & found[False]:
        return
    if baseline != NO_CHANGE:
        raise UserError(f"--baseline {baseline}: no other change was made at a branch point at which this one was")
    raise UserError(
        f"--by {CHANGE}: no branch has a counterpart without a change from the same branch point of the same run",
        "Give the folder of the runs that they come off, too, or make branches without a change:"
        " `quorum branch RUN --at STEP`.",
    )


def _missing_controls(branches: Sequence[Row]) -> dict[str, list[Row]]:
    """Return a branch for each beginning that has no draw 0 of no change, by the name of its run."""
    there = {
        (row.factors[PARENT], beginning(row))
        for row in branches
        if row.factors[DRAW] == 0 and row.factors[CHANGE] == NO_CHANGE
    }
    found: dict[str, dict[Beginning, Row]] = {}
    for row in branches:
        run = row.factors[PARENT]
        if (run, beginning(row)) not in there:
            found.setdefault(str(run), {}).setdefault(beginning(row), row)
    return {run: list(rows.values()) for run, rows in found.items()}


def _as_branch(row: Row, origin: Origin) -> Row:
    """Return a run as the branch without a change that it equals."""
    unchanged = origin.unchanged()
    own = "-".join(map(str, unchanged.beginning))
    return replace(row, hash=f"{row.hash}-{own}", origin=unchanged, factors={**row.factors, **unchanged.factors})
