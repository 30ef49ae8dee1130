"""Hypotheses about another agent, and what they are worth: the scores of Hypothetical Minds (arXiv 2407.07086).

A hypothesis is born with the value 0. After each observed act of the other, every hypothesis that had predicted what it
would take up moves by `V <- V + alpha (r - V)`, with r = 1 where it was right and r = -1 where it was wrong. One that
had predicted nothing stays where it is. One above the threshold is reused until it has fallen to it again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from maeil.plans import Task
from quorum.methods.predictions import Prediction

ACTS = 10
"""Acts of another agent that are remembered, the last ones."""


@dataclass(slots=True)
class Hypothesis:
    """What somebody might be doing by.

    Attributes:
        number: which one it is of those about the agent, by birth, from 1.
        text: what it says.
        value: V, from -1 to 1.
        prediction: what the agent does next by it; None as long as nothing was predicted.
    """

    number: int
    text: str
    value: float = 0.0
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """Something that another agent has taken up.

    Attributes:
        t: environment step in which it became known.
        task: what it is for.
    """

    t: int
    task: Task


@dataclass(slots=True)
class Partner:
    """Another agent as one mind knows it.

    Attributes:
        agent: its index.
        kept: hypotheses that are kept besides the latest.
        alpha: how fast values move.
        threshold: the value above which a hypothesis is reused.
        acts: what it has been seen to take up, oldest first.
        hypotheses: those of the highest values, at most `kept`, and the latest; in the order of their birth.
    """

    agent: int
    kept: int
    alpha: float
    threshold: float
    acts: deque[Act] = field(default_factory=lambda: deque(maxlen=ACTS))
    hypotheses: tuple[Hypothesis, ...] = ()
    _born: int = 0

    @property
    def last(self) -> Task | None:
        """The task that it is known to have taken up last."""
        return self.acts[-1].task if self.acts else None

    @property
    def valid(self) -> Hypothesis | None:
        """The best hypothesis, where its value is above the threshold."""
        best = self._best(self.hypotheses)
        return best if best is not None and best.value > self.threshold else None

    @property
    def shown(self) -> Sequence[Hypothesis]:
        """What is shown to who makes another hypothesis: those with a value above 0, the best first."""
        return [one for one in self._ranked() if one.value > 0][: self.kept]

    @property
    def predicting(self) -> Sequence[Hypothesis]:
        """The hypotheses that predict its next act: the valid one alone; where there is none, all that are kept."""
        return (self.valid,) if self.valid is not None else self.hypotheses

    @property
    def expected(self) -> Prediction | None:
        """What it does next by the best of the hypotheses that predict it, by the latest of equally good ones."""
        best = self._best([one for one in self.predicting if one.prediction is not None])
        return best.prediction if best is not None else None

    @property
    def awaited(self) -> bool:
        """Whether there are predictions that its next act decides about."""
        return any(one.prediction is not None for one in self.hypotheses)

    def observe(self, act: Act) -> None:
        """Score the hypotheses that have predicted what it would do, by what it has done."""
        self.acts.append(act)
        for one in self.hypotheses:
            if one.prediction is not None:
                reward = 1 if one.prediction.task == act.task else -1
                one.value += self.alpha * (reward - one.value)
                one.prediction = None

    def add(self, text: str) -> None:
        """Take up a new hypothesis, and let go of those that are neither it nor among the best before it."""
        self._born += 1
        best = sorted(self._ranked()[: self.kept], key=lambda one: one.number)
        self.hypotheses = (*best, Hypothesis(self._born, text))

    def predict(self, tasks: Mapping[int, Task | None]) -> None:
        """Note what it does next by the hypotheses of these numbers; what was predicted before no longer counts."""
        for one in self.hypotheses:
            one.prediction = Prediction(self.agent, tasks[one.number]) if one.number in tasks else None

    def _ranked(self) -> list[Hypothesis]:
        """All hypotheses, the best first, the later of equally good ones before the earlier."""
        return sorted(self.hypotheses, key=lambda one: (-one.value, -one.number))

    @staticmethod
    def _best(hypotheses: Sequence[Hypothesis]) -> Hypothesis | None:
        return max(hypotheses, key=lambda one: (one.value, one.number), default=None)
