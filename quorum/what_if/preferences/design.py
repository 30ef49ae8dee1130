"""What `quorum export --to preferences` measures at each decision: `--measure KEY=VALUE,...`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from maeil.metrics import METRICS
from quorum.comparison.metrics import find_metric
from quorum_base.user_errors import UserError, choices_hint

_OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class Design:
    """What to measure at each decision.

    Attributes:
        decisions: maximum number of decisions of each run.
        answers: number of other answers to sample, at most `draws`; equal ones count once.
        draws: number of draws in which each distinct answer is played.
        fresh: number of further draws in which the answers of each pair are played again.
        outcome: a metric with a better direction.

    Raises:
        UserError: the numbers contradict each other, or neither direction of the metric is better.
    """

    decisions: int = 4
    answers: int = 3
    draws: int = 8
    fresh: int = 0
    outcome: str = "outcome.steps_or_limit"

    def __post_init__(self) -> None:
        if not (self.decisions and 1 <= self.answers <= self.draws):
            raise UserError(
                f"--measure {self}: it needs a decision, an answer, and at least as many draws as answers",
                "Each sampled answer comes from a draw.",
            )
        if METRICS[self.outcome].better is None:
            raise UserError(f"--measure outcome={self.outcome}: neither higher nor lower is better", "Choose another.")

    @classmethod
    def of(cls, text: str) -> Design:
        """Read `KEY=VALUE,...`; keys that are not given keep their defaults.

        Raises:
            UserError: it is something else.
        """
        names, found = [one.name for one in fields(cls)], dict[str, str]()
        for word in filter(None, text.split(",")):
            key, _, value = word.partition("=")
            if key not in names or key in found:
                raise UserError(f"--measure {word}: give each key once", choices_hint(key, "They are", names))
            if key != _OUTCOME and not (value.isascii() and value.isdigit() and len(value) < 7):
                raise UserError(f"--measure {word}: give a whole number", f"For example: --measure {key}=6")
            found[key] = value
        outcome = find_metric(found.pop(_OUTCOME, cls().outcome), "--measure outcome")
        numbers: dict[str, Any] = {key: int(value) for key, value in found.items()}
        return cls(outcome=outcome, **numbers)

    def __str__(self) -> str:
        return ",".join(f"{one.name}={getattr(self, one.name)}" for one in fields(self))

    @property
    def sign(self) -> int:
        """1 if a higher outcome is better, else -1."""
        return 1 if METRICS[self.outcome].better == "higher" else -1

    @property
    def choosing(self) -> range:
        """The draws that choose the better answer of a pair."""
        return range(1, self.draws + 1)

    @property
    def again(self) -> range:
        """The fresh draws."""
        return range(self.draws + 1, self.draws + self.fresh + 1)
