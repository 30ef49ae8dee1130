"""Corrections that were tried, within a budget: each is played once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt

from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.ending import Ending, Success
from quorum.experiments.blame.journal import Journal


class BudgetSpent(Exception):
    """The budget does not reach for another re-run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may take.

    Attributes:
        reruns: episodes; None: any number.
        calls: answers of language models that are paid for; None: any number.
        usd: money; None: any.
    """

    reruns: int | None = None
    calls: int | None = None
    usd: float | None = None


_NORMAL = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many draws of a correction are a success.

    Attributes:
        wins: successes.
        draws: that were played.
        flips: whether more than half of all draws are a success.
    """

    wins: int
    draws: int
    flips: bool

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of successes (Wilson 1927)."""
        n, share, z = self.draws, self.wins / self.draws, _NORMAL
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(slots=True)
class Attempts:
    """Plays corrections, and knows those that were played.

    Attributes:
        play: plays one.
        success: what counts as a success.
        longest: steps that an unfinished episode is counted with.
        budget: what all of them may take.
        journal: those that were played before.
        expected: answers that a re-run is expected to ask for, by its instant; 0 where nothing is paid.
        shadow_calls: answers that the reference has taken when it was asked beside.
        shadow_usd: what they have cost.
        told: called before each that is played.
        draws: samples of what follows a correction of which it is judged; 1 where it follows from its beginning.
    """

    play: Callable[[Correction], Ending]
    success: Success
    longest: int
    budget: Budget
    journal: Journal
    expected: Callable[[Correction], int] = lambda _: 0
    shadow_calls: int = 0
    shadow_usd: float = 0.0
    told: Callable[[Correction], None] = lambda _: None
    draws: int = 1
    reruns: int = 0
    """Episodes that were played now."""
    known: set[str] = field(default_factory=set)
    """What was asked for."""

    def ending(self, correction: Correction) -> Ending:
        """Return how the run ends with a correction.

        Raises:
            BudgetSpent: it is not played any more.
        """
        key = correction.key
        found = self.journal.get(key)
        if found is None:
            self._check(correction)
            self.told(correction)
            self.reruns += 1
            found = self.play(correction)
            self.journal.add(key, found)
        self.known.add(key)
        return found

    def flips(self, correction: Correction) -> bool:
        """Whether the run is a success with a correction.

        Raises:
            BudgetSpent: it is not played any more.
        """
        return self.success.met(self.ending(correction))

    def tally(self, correction: Correction) -> Tally:
        """Play all draws of a correction, or as many as can still be the larger part.

        Raises:
            BudgetSpent: one is not played any more.
        """
        wins = 0
        for draw in range(self.draws):
            wins += self.flips(replace(correction, draw=draw))
            if 2 * (draw + 1 - wins) >= self.draws:
                return Tally(wins, draw + 1, flips=False)
        return Tally(wins, self.draws, flips=True)

    @property
    def calls(self) -> int:
        """Answers that were paid for so far, also by commands before this one."""
        return self.journal.calls + self.shadow_calls

    @property
    def usd(self) -> float:
        """What they have cost."""
        return self.journal.usd + self.shadow_usd

    def _check(self, correction: Correction) -> None:
        budget = self.budget
        if budget.reruns is not None and self.reruns >= budget.reruns:
            raise BudgetSpent(f"{budget.reruns} re-runs are played")
        if budget.calls is not None and self.calls + self.expected(correction) > budget.calls:
            raise BudgetSpent(f"{self.calls} of {budget.calls} calls are asked, and a re-run takes more than are left")
        if budget.usd is not None and self.usd >= budget.usd:
            raise BudgetSpent(f"{self.usd:.4f} of {budget.usd:g} USD are spent")
