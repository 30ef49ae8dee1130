"""What the thoughts of an episode took of language models: tokens and money, and how much before each page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from maeil.metrics.model import answers_of, call_number


@dataclass(slots=True)
class Spent:
    """Sums over calls, as far as they tell.

    Attributes:
        prompt: tokens.
        completion: tokens, those of reasoning included.
        reasoning: tokens.
        usd: US dollars.
        untold: answered calls that do not tell their tokens or their price.
        simulated: answered calls of a simulated model.
    """

    prompt: float = 0
    completion: float = 0
    reasoning: float = 0
    usd: float = 0
    untold: int = 0
    simulated: int = 0

    def add(self, other: Spent) -> None:
        """Add what else was spent."""
        self.prompt += other.prompt
        self.completion += other.completion
        self.reasoning += other.reasoning
        self.usd += other.usd
        self.untold += other.untold
        self.simulated += other.simulated

    def row(self) -> tuple[Any, ...]:
        """Return the sums in their order."""
        return (self.prompt, self.completion, self.reasoning, self.usd, self.untold, self.simulated)


def spent_by(calls: Iterable[Mapping[str, Any]]) -> Spent | None:
    """Return what the calls of a thought took; None where no call was answered."""
    answered = [call for call in calls if answers_of(call)]
    if not answered:
        return None
    spent = Spent()
    for call in answered:
        told = [call_number(call, key) for key in ("prompt_tokens", "completion_tokens", "usd")]
        spent.prompt += told[0] or 0
        spent.completion += told[1] or 0
        spent.usd += told[2] or 0
        spent.reasoning += call_number(call, "reasoning_tokens") or 0
        spent.untold += None in told
        spent.simulated += call.get("simulated") is True
    return spent
