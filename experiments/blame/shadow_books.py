"""The books of a reference that runs as a shadow: each of its answers is paid for when it arrives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.results.finished import spent_on


class ShadowBooks(CallBooks):
    """Books that are kept elsewhere than in the folder of an episode.

    Args:
        configuration: of the reference.
        calls: answers that it may take; None: any number.
        usd: money that it may spend; None: any.
        pay: called with what each answer has cost.
    """

    def __init__(
        self,
        configuration: Configuration,
        calls: int | None = None,
        usd: float | None = None,
        pay: Callable[[Spent], None] = lambda _: None,
    ) -> None:
        budget = configuration.budget.model_copy(update={"calls": calls, "usd": usd, "tokens": None})
        super().__init__(configuration.model_copy(update={"budget": budget}), None)
        self._pay = pay

    def enter(self, record: Mapping[str, Any]) -> None:
        """Pay for the answer to a call, if there is one."""
        spent = spent_on(record)
        if spent.answers:
            self._pay(spent)
