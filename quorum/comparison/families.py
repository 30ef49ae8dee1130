"""Compare branches by their changes: find the baseline of each branch and its beginning.

A **beginning** is a recorded prefix with the instant at which branches leave it. The gain of a change is computed
within each beginning: the mean over draws of the branches with the change, minus the mean of those without any. If a
run's own continuation is not among the branches, the run substitutes for it: draw 0 of no change is the run itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quorum.comparison.factors import written
from quorum.configuration.origin import CHANGE, DRAW, NO_CHANGE, PARENT, Origin, Scalar
from quorum.runs import Results, Row
from quorum_base.user_errors import UserError

Beginning = tuple[Scalar, ...]
"""Key that paired rows share: `Origin.beginning`."""


@dataclass(frozen=True, slots=True)
class Family:
    """How branches are paired with a baseline.

    Attributes:
        stand_ins: number of beginnings at which the run itself is the branch without a change.
        aside: number of runs that are not branches and substitute for none.
        versions: runs whose branches come from another version of the code, each with both versions.
    """

    stand_ins: int
    aside: int
    versions: tuple[str, ...]


def beginning(row: Row) -> Beginning:
    """Return the beginning of a branch; empty for other runs."""
    return () if row.origin is None else row.origin.beginning


def is_family(rows: Sequence[Row]) -> bool:
    """Whether the runs are only branches with and without changes, and their parent runs."""
    changes = {row.factors[CHANGE] for row in rows if row.origin is not None}
    parents = {row.factors[PARENT] for row in rows if row.origin is not None}
    runs = [row for row in rows if row.origin is None]
    held = NO_CHANGE in changes or bool(runs)
    return held and bool(changes - {NO_CHANGE}) and all(row.name in parents for row in runs)


def with_stand_ins(results: Sequence[Results]) -> tuple[tuple[Results, ...], Family]:
    """Keep the branches, those without a change first, and substitute runs for their missing own continuations.

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
                f"{row.name} has {row.version}, its branches have {other}"
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
        UserError: no branch has one.
    """
    found: dict[bool, set[Beginning]] = {True: set(), False: set()}
    for row in rows:
        found[written(row.factors[CHANGE]) == baseline].add(beginning(row))
    if found[True] & found[False]:
        return
    if baseline != NO_CHANGE:
        raise UserError(f"--baseline {baseline}: no other change has a branch point in common with this one")
    raise UserError(
        f"--by {CHANGE}: no branch has a counterpart without a change from the same branch point of the same run",
        "Also give the folder of their parent runs, or make branches without a change: `quorum branch RUN --at STEP`.",
    )


def _missing_controls(branches: Sequence[Row]) -> dict[str, list[Row]]:
    """Return, by run name, one branch for each beginning without draw 0 of no change."""
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
    """Return a run as the equivalent branch without a change."""
    unchanged = origin.unchanged()
    own = "-".join(map(str, unchanged.beginning))
    return replace(row, hash=f"{row.hash}-{own}", origin=unchanged, factors={**row.factors, **unchanged.factors})
