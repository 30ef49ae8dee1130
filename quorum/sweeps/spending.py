"""What cells cost: what has been spent, what is expected of those to come, and whether a budget allows it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.episode.expected import Expected
from quorum.runs.finished import FinishedCell

KINDS = ("usd", "tokens", "calls")
"""What a budget may bound."""


@dataclass(frozen=True, slots=True)
class SweepBudget:
    """What a whole sweep may spend, finished cells included; None for any amount.

    Attributes:
        usd: money in US dollars.
        tokens: tokens read and written.
        calls: answers of language models.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is a bound at all."""
        return bool(self.limits)

    @property
    def limits(self) -> dict[str, float]:
        """The bounds by kind."""
        found = {kind: getattr(self, kind) for kind in KINDS}
        return {kind: limit for kind, limit in found.items() if limit is not None}

    @property
    def arguments(self) -> dict[str, Any]:
        """The bounds as arguments of `quorum.sweeps.run.SweepRequest`."""
        return {f"budget_{kind}": getattr(self, kind) for kind in KINDS}

    def option(self, kind: str) -> str:
        """Return the option that sets a bound."""
        return f"--budget-{kind} {self.limits[kind]:.12g}"

    @property
    def words(self) -> list[str]:
        """The options of all bounds, as words of a command."""
        return [word for kind in self.limits for word in self.option(kind).split()]

    def exceeded(
        self, usd: float, tokens: float, calls: float = 0, beyond: Callable[[float, float], bool] = operator.gt
    ) -> str:
        """Say which bound an amount is beyond; empty when it is within them."""
        amounts = dict(zip(KINDS, (usd, tokens, calls), strict=True))
        return next((self.option(kind) for kind, limit in self.limits.items() if beyond(amounts[kind], limit)), "")

    def reached(self, spent: Spent) -> str:
        """Say which bound is used up; empty when none is."""
        return self.exceeded(spent.usd, spent.tokens, spent.answers, beyond=operator.ge)

    def less(self, spent: Spent) -> SweepBudget:
        """Return what is left of it."""
        return SweepBudget(
            None if self.usd is None else self.usd - spent.usd,
            None if self.tokens is None else self.tokens - spent.tokens,
            None if self.calls is None else self.calls - spent.answers,
        )


@dataclass(slots=True)
class _Sum:
    number: int = 0
    seconds: float = 0.0
    spent: Spent = field(default_factory=Spent)

    def add(self, done: FinishedCell) -> None:
        self.number += 1
        self.seconds += done.seconds
        self.spent += done.spent


_NOTHING = Spent()


class Costs:
    """Means of finished cells, by kind. Failed cells count in what is spent, not in what is expected.

    Args:
        dropped: what was paid for without a result, on attempts that failed or were killed, by the name of the cell.
        elsewhere: what other cells in the folder have cost.
        in_flight: what answers count as that were in flight at a kill.
    """

    def __init__(
        self, dropped: Mapping[str, Spent] | None = None, elsewhere: Spent = _NOTHING, in_flight: Spent = _NOTHING
    ) -> None:
        self.dropped = dict(dropped or {})
        """What was paid for without a result, by the name of the cell."""
        self.in_flight = in_flight
        """What answers count as that were in flight at a kill: an estimate."""
        self._finished = elsewhere
        self._kinds: dict[str, _Sum] = {}

    @property
    def spent(self) -> Spent:
        """By all cells that were added, and without a result."""
        return sum(self.dropped.values(), self._finished)

    @property
    def used(self) -> Spent:
        """Of the budget: what was spent, and what was in flight at a kill."""
        return self.spent + self.in_flight

    def add(self, kind: str, done: FinishedCell) -> None:
        """Take a finished cell in."""
        self._finished += done.spent
        if not done.failed:
            self._kinds.setdefault(kind, _Sum()).add(done)

    def expected(self, kind: str) -> Expected | None:
        """Return the mean of a kind; None when no cell of it is done."""
        if kind not in self._kinds:
            return None
        total = self._kinds[kind]
        number, spent = total.number, total.spent
        return Expected(
            spent.answers / number,
            spent.tokens / number,
            spent.usd / number,
            total.seconds / number,
            priceless=spent.unpriced > 0,
        )
