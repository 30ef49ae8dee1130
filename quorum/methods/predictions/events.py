"""The event of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Agent, Event


@dataclass(frozen=True, slots=True)
class Predicted(Event):
    """An agent predicts what others do next, in a thought that plans, before the thought takes effect.

    Attributes:
        agent: the predicting agent.
        predictions: one for each other agent that it predicts.

    The keys of each record in `predictions`:
        agent (integer; index): the predicted agent.
        task (object or null): `kind` and `target` of the task of that agent's next own plan; null for a plan without a
            task.
    """

    kind: ClassVar[str] = "prediction"
    agent: Agent
    predictions: Sequence[Mapping[str, Any]]
