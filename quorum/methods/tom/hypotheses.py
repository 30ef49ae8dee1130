"""Hypotheses about another agent and their values, scored as in Hypothetical Minds (arXiv 2407.07086).

A hypothesis starts with the value 0. After each observed act of the other agent, every hypothesis that predicted the
act updates by `V <- V + alpha (r - V)`, with r = 1 if it was right and r = -1 if it was wrong; without a prediction,
its value is unchanged. A hypothesis above the threshold is reused until its value falls back to the threshold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from maeil.plans import Task
from quorum.methods.predictions import Prediction

ACTS = 10
"""Number of recent acts remembered per agent."""


@dataclass(slots=True)
class Hypothesis:
    """A hypothesis about another agent's strategy.

    Attributes:
        number: its number among the hypotheses about the agent, in order of creation, from 1.
        text: its wording.
        value: V, from -1 to 1.
        prediction: the predicted next act; None until one is predicted.
    """

    number: int
    text: str
    value: float = 0.0
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """A task that another agent has started.

    Attributes:
        t: environment step at which it became known.
        task: the task.
    """

    t: int
    task: Task


@dataclass(slots=True)
class Partner:
    """One mind's knowledge of another agent.

    Attributes:
        agent: its index.
        kept: number of hypotheses kept in addition to the latest.
        alpha: learning rate of the values.
        threshold: the value above which a hypothesis is reused.
        acts: its observed acts, oldest first.
        hypotheses: the latest and at most `kept` with the highest values, in order of creation.
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
        """The agent's last known task."""
        return self.acts[-1].task if self.acts else None

    @property
    def valid(self) -> Hypothesis | None:
        """The best hypothesis, if its value exceeds the threshold."""
        best = self._best(self.hypotheses)
        return best if best is not None and best.value > self.threshold else None

    @property
    def shown(self) -> Sequence[Hypothesis]:
        """The hypotheses shown when another one is requested: those with positive values, best first."""
        return [one for one in self._ranked() if one.value > 0][: self.kept]

    @property
    def predicting(self) -> Sequence[Hypothesis]:
        """The hypotheses that predict the next act: the valid one if any, otherwise all."""
        return (self.valid,) if self.valid is not None else self.hypotheses

    @property
    def expected(self) -> Prediction | None:
        """The prediction of the best predicting hypothesis; ties go to the latest."""
        best = self._best([one for one in self.predicting if one.prediction is not None])
        return best.prediction if best is not None else None

    @property
    def awaited(self) -> bool:
        """Whether any prediction awaits the agent's next act."""
        return any(one.prediction is not None for one in self.hypotheses)

    def observe(self, act: Act) -> None:
        """Record an act and score the hypotheses that predicted it."""
        self.acts.append(act)
        for one in self.hypotheses:
            if one.prediction is not None:
                reward = 1 if one.prediction.task == act.task else -1
                one.value += self.alpha * (reward - one.value)
                one.prediction = None

    def add(self, text: str) -> None:
        """Add a hypothesis and drop all earlier ones but the best."""
        self._born += 1
        best = sorted(self._ranked()[: self.kept], key=lambda one: one.number)
        self.hypotheses = (*best, Hypothesis(self._born, text))

    def predict(self, tasks: Mapping[int, Task | None]) -> None:
        """Set the predictions of the numbered hypotheses and clear all others."""
        for one in self.hypotheses:
            one.prediction = Prediction(self.agent, tasks[one.number]) if one.number in tasks else None

    def _ranked(self) -> list[Hypothesis]:
        """Return all hypotheses, best first; ties put the later one first."""
        return sorted(self.hypotheses, key=lambda one: (-one.value, -one.number))

    @staticmethod
    def _best(hypotheses: Sequence[Hypothesis]) -> Hypothesis | None:
        return max(hypotheses, key=lambda one: (one.value, one.number), default=None)
