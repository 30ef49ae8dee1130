"""Corrections that were tried, within a budget: each is played once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

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
