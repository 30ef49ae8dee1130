"""The event of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Event


@dataclass(frozen=True, slots=True)
class Predicted(Event):
    """What an agent expects others to do, said in a thought that plans, before it takes effect.

    Attributes:
        agent: whose thought it is.
        predictions: one for each of the others that it says something about: `agent`, and `task`, what the next plan
            is for that this one commits by itself after the thought has begun; None: it serves no task.
    """

    kind: ClassVar[str] = "prediction"
    agent: int
    predictions: Sequence[Mapping[str, Any]]
