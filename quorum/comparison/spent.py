"""What a run spent for each change of its score, for comparisons at equal budgets.

A hard budget (`quorum.agents.llm.spending`) refuses a call if the amount used so far, plus the mean of the previous
answers, exceeds the budget. So a change of the score happens under a budget exactly if no call before it is refused: it
requires the largest of these sums. Participants who start to think at one instant make their calls together, and each
call is checked against the mean of the answers before all of them. The simulated model without a latency answers one
call after the other. The trace does not record the amount of each answer of a retried call: its answers count equally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest
from operator import itemgetter
from typing import Any

import numpy as np

from maeil.metrics.model import answers_of, call_number
from maeil.outcomes import Outcome
from maeil.trace.events import EpisodeEnd, ScoreChange, Stamped, ThoughtEnd, ThoughtStart
from quorum.comparison.differences import Difference
from quorum.comparison.statistics.intervals import Estimate, Floats
from quorum.configuration.origin import Scalar
from quorum.runs import Row
from quorum.runs.run_folder import RunFolder

BUDGETS = {"tokens": "tokens", "usd": "US dollars", "calls": "answers", "thoughts": "thoughts", "seconds": "seconds"}
"""Kinds of budgets, in words: tokens read and written, money, answers, thoughts, wall time."""
AT_BUDGETS = ("outcome.success", "outcome.completion", "outcome.reached", "outcome.score")
"""The metrics that are known at every moment of a run."""
_SLACK = 1e-9
"""Relative tolerance of a budget, for rounding of sums of money."""


class Unknown(ValueError):
    """A call does not record what it spent."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The budgets that the score changes of a run require.

    Attributes:
        least: the smallest budget under which each change happens, ascending, shape (changes,); the last is what the
            whole run spent.
        values: each of `AT_BUDGETS` after each change, NaN if undefined, shape (metrics, changes).
        most: the largest budget for which the run's result is known: infinite if the run ended by itself, and for
            tokens and money with random answers, which use none.
    """

    least: Floats
    values: Floats
    most: float

    def at(self, budget: float | Floats) -> Floats:
        """Return the values under a budget, shape (metrics,), or under several, shape (metrics, budgets)."""
        return self.values[:, np.searchsorted(self.least, np.multiply(budget, 1 + _SLACK), "right") - 1]


def read_spent(row: Row, kind: str) -> Spent:
    """Read the budgets that the score changes of a run require.

    Args:
        row: the run.
        kind: one of `BUDGETS`.

    Raises:
        DamagedFile: its trace is incomplete.
        Unknown: a call does not record what it spent.
    """
    least, values = [0.0], [(0.0, math.nan, math.nan, math.nan)]
    purse = _Purse(kind, together=not row.simulated or bool(row.factors.get("llm.latency")))
    events = RunFolder(row.folder).some_events(ScoreChange, ThoughtStart, ThoughtEnd)
    for stamped in events:
        purse.follow(stamped)
        event = stamped.event
        if isinstance(event, ScoreChange):
            least.append(purse.least(stamped))
            completion = event.reached / event.goals if event.goals else math.nan
            values.append((0.0, completion, event.reached, event.score))
    end = events[-1].event
    assert isinstance(end, EpisodeEnd)
    least.append(purse.least(events[-1]))
    values.append((float(end.outcome == Outcome.SUCCESS), *values[-1][1:]))
    if row.metrics.get("outcome.success") is None:  # the world does not define success
        values = [(math.nan, *own[1:]) for own in values]
    stopped = end.outcome == Outcome.BUDGET and not (row.floor and kind in ("tokens", "usd"))
    most = least[-1] if stopped else math.inf
    return Spent(np.array(least), np.array(values).T, most)


class _Purse:
    """Adds up what thoughts spend.

    Args:
        kind: one of `BUDGETS`.
        together: whether participants who start to think at one instant make their calls at the same time.
    """

    def __init__(self, kind: str, *, together: bool) -> None:
        self._kind = kind
        self._together = together
        self._used = 0.0
        self._answers = 0
        self._least = 0.0
        self._begun: dict[int, tuple[float, int]] = {}
        self._ended: list[tuple[tuple[float, int], ThoughtEnd]] = []

    def follow(self, stamped: Stamped) -> None:
        """Record the start of a thought, and add one that ends."""
        if isinstance(stamped.event, ThoughtStart):
            self._begun[stamped.event.agent] = (stamped.t_hat, stamped.seq)
        elif isinstance(stamped.event, ThoughtEnd):
            self._ended.append((self._begun[stamped.event.agent], stamped.event))

    def least(self, now: Stamped) -> float:
        """Return the smallest budget under which the current event happens.

        Raises:
            Unknown: a call does not record what it spent.
        """
        thoughts = sorted(self._ended, key=itemgetter(0))
        self._ended.clear()
        if self._kind == "seconds":
            return now.wall
        for _, own in groupby(thoughts, lambda item: item[0][0] if self._together else item[0]):
            for asked in zip_longest(*(self._amounts(thought) for _, thought in own)):
                self._ask([amount for amount in asked if amount is not None])
        return self._least

    def _ask(self, amounts: Sequence[float]) -> None:
        """Add answers of simultaneous calls."""
        expected = self._used / self._answers * len(amounts) if self._answers else sum(amounts)
        self._least = max(self._least, self._used + expected)
        self._used += sum(amounts)
        self._answers += len(amounts)

    def _amounts(self, thought: ThoughtEnd) -> list[float]:
        """Return what each answer of a thought spent; if thoughts are counted, the thought is 1."""
        if self._kind == "thoughts":
            return [1.0]
        return [amount for call in thought.calls for amount in self._each(call)]

    def _each(self, call: Mapping[str, Any]) -> list[float]:
        """Return what each answer of a call spent."""
        answers = answers_of(call)
        if self._kind == "calls":
            return [1.0] * (answers + ("unanswered" in call))
        keys = ("usd",) if self._kind == "usd" else ("prompt_tokens", "completion_tokens")
        amounts = [number for key in keys if (number := call_number(call, key)) is not None]
        if answers and len(amounts) < len(keys):
            raise Unknown(f"one of its calls does not record its {BUDGETS[self._kind]}")
        return [math.fsum(amounts) / answers] * answers if answers else []


@dataclass(frozen=True, slots=True)
class AtBudgets:
    """A comparison at equal budgets.

    Attributes:
        kind: the kind of the budgets, one of `BUDGETS`.
        metrics: the compared metrics, from `AT_BUDGETS`.
        budgets: ascending from 0 to the largest that is known for all levels, by value of `across`.
        estimates: of a metric at each budget, by metric, level and point.
        differences: from the baseline, with the same keys; empty without one. A test is at one budget.
        left_out: the runs whose spending is unknown, each with the reason.
    """

    kind: str
    metrics: tuple[str, ...]
    budgets: Mapping[Scalar, tuple[float, ...]]
    estimates: Mapping[tuple[str, str, Scalar], tuple[Estimate, ...]]
    differences: Mapping[tuple[str, str, Scalar], tuple[Difference, ...]]
    left_out: tuple[str, ...]

    def crossings(self, metric: str, level: str, point: Scalar) -> list[float]:
        """Return the budgets at which the mean difference changes its sign."""
        line = zip(self.budgets[point], self.differences[metric, level, point], strict=True)
        signs = [(budget, item.mean.value > 0) for budget, item in line if item.mean.value]
        return [budget for (_, before), (budget, sign) in pairwise(signs) if sign != before]

    def apart(self, metric: str, level: str, point: Scalar) -> list[tuple[float, int]]:
        """Return the budgets from which the interval of the difference excludes 0, each with the sign."""
        ends = [(item.mean.low, item.mean.high) for item in self.differences[metric, level, point]]
        signs = [(low > 0) - (high < 0) for low, high in ends]
        line = zip(self.budgets[point], signs, [0, *signs[:-1]], strict=True)
        return [(budget, sign) for budget, sign, before in line if sign not in (0, before)]
