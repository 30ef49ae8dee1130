"""The share of each agent in a failure, and the smallest sets of agents that must be corrected together.

Shares are Shapley values: the value of agent i is the mean, over all orders of the agents, of what it adds to the
agents before it (Shapley 1953). The game is the success, or the grade, of the run when the reference decides for a
coalition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, fsum
from typing import Any

from maeil.trace import Instant
from quorum.what_if.blame.attempts import Attempts, BudgetSpent
from quorum.what_if.blame.reruns import Correction

LARGEST = 8
"""Most agents for which all 2^n coalitions are played."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares and minimal sets of the agents of a run.

    Attributes:
        players: names of the agents.
        at: when the reference starts to decide for a coalition.
        success: share of each agent in the gain of the reference, in successes.
        graded: the same in the graded measure.
        sets: all minimal sets whose correction flips the run.
        why_cut: why a part is missing; empty if nothing is.
    """

    players: tuple[str, ...]
    at: Instant
    success: Sequence[float] = ()
    graded: Sequence[float] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    why_cut: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "from": str(self.at),
            "success": dict(zip(self.players, self.success, strict=False)),
            "graded": dict(zip(self.players, self.graded, strict=False)),
            "sets": [list(names) for names in self.sets],
            "why_cut": self.why_cut,
        }


def find_shares(players: Sequence[str], attempts: Attempts, at: Instant) -> Shares:
    """Let the reference decide for coalitions of agents, and divide the improvement among the agents.

    Args:
        players: names of the agents.
        attempts: plays corrections.
        at: when the reference starts to decide.
    """
    names = tuple(players)
    if len(names) > LARGEST:
        return Shares(names, at, why_cut=f"{len(names)} agents are too many, {LARGEST} at most")
    try:
        ends = {one: attempts.ending(Correction(at, _named(names, one))) for one in coalitions(len(names))}
    except BudgetSpent as spent:
        return Shares(names, at, why_cut=str(spent))
    success = {members: float(attempts.success.met(end)) for members, end in ends.items()}
    grades = {members: attempts.success.grade(end, attempts.longest) for members, end in ends.items()}
    found = minimal_sets(members for members, flips in success.items() if flips)
    shares, graded = (exact_shares(values, len(names)) for values in (success, grades))
    return Shares(names, at, shares, graded, tuple(_named(names, one) for one in found))


def _named(names: Sequence[str], members: frozenset[int]) -> tuple[str, ...]:
    return tuple(names[index] for index in sorted(members))


def coalitions(agents: int) -> list[frozenset[int]]:
    """Return all sets of agents: the smaller ones first, each size in order."""
    found = [frozenset(i for i in range(agents) if mask >> i & 1) for mask in range(1 << agents)]
    return sorted(found, key=lambda members: (len(members), sorted(members)))


def exact_shares(values: Mapping[frozenset[int], float], agents: int) -> list[float]:
    """Return the Shapley values of a game with known coalitions.

    Args:
        values: value of each of the 2^n coalitions.
        agents: n.
    """
    weights = [factorial(size) * factorial(agents - size - 1) / factorial(agents) for size in range(agents)]
    return [
        fsum(
            weights[len(members)] * (values[members | {agent}] - value)
            for members, value in values.items()
            if agent not in members
        )
        for agent in range(agents)
    ]


def minimal_sets(successes: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that flip and have no smaller subset that flips, smaller sets first.

    Args:
        successes: all sets that flip.
    """
    found: list[frozenset[int]] = []
    for members in sorted(successes, key=lambda members: (len(members), sorted(members))):
        if not any(smaller <= members for smaller in found):
            found.append(members)
    return found
