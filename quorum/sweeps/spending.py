"""Costs of cells: past spending, expected spending, and whether a budget allows it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.episode.expected import Expected
from quorum.runs.finished import FinishedCell

KINDS = ("usd", "tokens", "calls")
"""The quantities that a budget can limit."""


@dataclass(frozen=True, slots=True)
class SweepBudget:
    """The budget of a whole sweep, including finished cells; None: no limit on that quantity.

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
        """Whether it has any limit."""
        return bool(self.limits)

    @property
    def limits(self) -> dict[str, float]:
        """The limits by kind."""
        found = {kind: getattr(self, kind) for kind in KINDS}
        return {kind: limit for kind, limit in found.items() if limit is not None}

    @property
    def arguments(self) -> dict[str, Any]:
        """The limits as arguments of `quorum.sweeps.run.SweepRequest`."""
        return {f"budget_{kind}": getattr(self, kind) for kind in KINDS}

    def option(self, kind: str) -> str:
        """Return the command line option that sets a limit."""
        return f"--budget-{kind} {self.limits[kind]:.12g}"

    @property
    def words(self) -> list[str]:
        """The options of all limits, as command line arguments."""
        return [word for kind in self.limits for word in self.option(kind).split()]

    def exceeded(
        self, usd: float, tokens: float, calls: float = 0, beyond: Callable[[float, float], bool] = operator.gt
    ) -> str:
        """Describe the limit that the amounts exceed; empty if they exceed none."""
        amounts = dict(zip(KINDS, (usd, tokens, calls), strict=True))
        return next((self.option(kind) for kind, limit in self.limits.items() if beyond(amounts[kind], limit)), "")

    def reached(self, spent: Spent) -> str:
        """Describe the limit that is used up; empty if none is."""
        return self.exceeded(spent.usd, spent.tokens, spent.answers, beyond=operator.ge)

    def less(self, spent: Spent) -> SweepBudget:
        """Return the remaining budget."""
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
    """Mean costs of finished cells, by kind. Failed cells count as spending but not toward the expected cost.

    Args:
        dropped: spending on attempts that failed or were killed, by cell name.
        elsewhere: spending of other cells in the folder.
        in_flight: estimated charge for answers in flight at a kill.
    """

    def __init__(
        self, dropped: Mapping[str, Spent] | None = None, elsewhere: Spent = _NOTHING, in_flight: Spent = _NOTHING
    ) -> None:
        self.dropped = dict(dropped or {})
        """Spending without a result, by cell name."""
        self.in_flight = in_flight
        """Estimated charge for answers in flight at a kill."""
        self._finished = elsewhere
        self._kinds: dict[str, _Sum] = {}

    @property
    def spent(self) -> Spent:
        """Spending of all added cells, and spending without a result."""
        return sum(self.dropped.values(), self._finished)

    @property
    def used(self) -> Spent:
        """Usage that counts toward the budget: spending plus the charge for answers in flight at a kill."""
        return self.spent + self.in_flight

    def add(self, kind: str, done: FinishedCell) -> None:
        """Add a finished cell."""
        self._finished += done.spent
        if not done.failed:
            self._kinds.setdefault(kind, _Sum()).add(done)

    def expected(self, kind: str) -> Expected | None:
        """Return the mean of a kind; None if none of its cells is done."""
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
