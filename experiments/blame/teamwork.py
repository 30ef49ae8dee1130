"""How much each agent has to do with a failure, and which of them must be corrected together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maeil.trace import Instant
from quorum.experiments.blame.attempts import Attempts, BudgetSpent
from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.ending import Ending
from quorum.experiments.blame.repairs import minimal_sets, reduced_set
from quorum.experiments.blame.shapley import Share, coalitions, exact_shares, sampled_shares

LARGEST_EXACT = 8
"""Agents of which all 2^n coalitions are played."""


@dataclass(frozen=True, slots=True)
class Teamwork:
    """What is known of the agents of a run together.

    Attributes:
        players: their names.
        at: from when on the reference decides for a coalition.
        exact: whether all coalitions were played.
        success: the share of each in what the reference makes better, in successes.
        graded: the same in what is graded.
        sets: minimal sets whose correction flips the run: all of them where exact, else one.
        why_cut: why something of this is not known; empty for nothing.
    """

    players: tuple[str, ...]
    at: Instant
    exact: bool = True
    success: tuple[Share, ...] = ()
    graded: tuple[Share, ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    why_cut: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""

        def of(shares: Sequence[Share]) -> dict[str, Any]:
            return {
                name: {"value": share.value, "low": share.low, "high": share.high}
                for name, share in zip(self.players, shares, strict=False)
            }

        return {
            "from": str(self.at),
            "exact": self.exact,
            "success": of(self.success),
            "graded": of(self.graded),
            "sets": [list(names) for names in self.sets],
            "why_cut": self.why_cut,
        }


def find_teamwork(players: Sequence[str], attempts: Attempts, at: Instant, *, pairs: int, seed: int) -> Teamwork:
    """Play coalitions of agents for whom the reference decides, and share out what that makes better.

    Args:
        players: names of the agents.
        attempts: plays corrections.
        at: from when on the reference decides.
        pairs: pairs of orders that are drawn for teams larger than `LARGEST_EXACT`.
        seed: of what is drawn.
    """
    names = tuple(players)
    try:
        if len(names) <= LARGEST_EXACT:
            return _exact(names, attempts, at)
        return _sampled(names, attempts, at, pairs, seed)
    except BudgetSpent as spent:
        return Teamwork(names, at, why_cut=str(spent))


def _correction(names: Sequence[str], members: frozenset[int], at: Instant) -> Correction:
    return Correction(at, tuple(name for index, name in enumerate(names) if index in members))


def _exact(names: tuple[str, ...], attempts: Attempts, at: Instant) -> Teamwork:
    endings: Mapping[frozenset[int], Ending] = {
        members: attempts.ending(_correction(names, members, at)) for members in coalitions(len(names))
    }
    flips = {members: float(attempts.success.met(ending)) for members, ending in endings.items()}
    grades = {members: attempts.success.grade(ending, attempts.longest) for members, ending in endings.items()}
    found = minimal_sets(members for members, flip in flips.items() if flip)
    success, graded = (tuple(exact_shares(values, len(names))) for values in (flips, grades))
    return Teamwork(names, at, True, success, graded, tuple(_named(names, members) for members in found))


def _sampled(names: tuple[str, ...], attempts: Attempts, at: Instant, pairs: int, seed: int) -> Teamwork:
    everybody = tuple(range(len(names)))

    def flips(members: frozenset[int]) -> bool:
        return attempts.flips(_correction(names, members, at))

    def grade(members: frozenset[int]) -> float:
        return attempts.success.grade(attempts.ending(_correction(names, members, at)), attempts.longest)

    sets: tuple[tuple[str, ...], ...] = ()
    try:
        if flips(frozenset(everybody)):
            sets = (_named(names, reduced_set(flips, everybody)),)
        success = tuple(sampled_shares(lambda members: float(flips(members)), len(names), pairs, seed))
        graded = tuple(sampled_shares(grade, len(names), pairs, seed))
    except BudgetSpent as spent:
        return Teamwork(names, at, False, sets=sets, why_cut=str(spent))
    return Teamwork(names, at, False, success, graded, sets)


def _named(names: Sequence[str], members: frozenset[int]) -> tuple[str, ...]:
    return tuple(names[index] for index in sorted(members))
