"""Branches planned from the words of a command, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from maeil.outcomes import Outcome
from quorum.what_if.branch.change import edits_of_minds, instant_of, read_change
from quorum.what_if.branch.parent import Parent, PlannedBranch

PLAYED_OUT = {Outcome.SUCCESS, Outcome.FAILURE, Outcome.TRUNCATED}
"""Ends of episodes that nothing broke off."""


def plan_branch(run: Path, at: str | None = None, **what: Any) -> PlannedBranch:
    """Plan one branch."""
    return next(plan_draws(run, at, 1, **what))


def plan_draws(
    run: Path, at: str | None, draws: int, *, edits: Sequence[str] = (), minds: Sequence[str] = (), **what: Any
) -> Iterator[PlannedBranch]:
    """Plan samples of a branch, each when it is asked for."""
    instant = instant_of(at) if at is not None else None
    change, parent = read_change([*edits, *edits_of_minds(minds)], **what), Parent.open(run)
    for draw in range(draws):
        yield parent.branch(instant, change, draw)
