"""Which language models answered in an episode, and whether they were real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maeil.trace import Trace
from maeil.trace.events import ThoughtEnd


@dataclass(frozen=True, slots=True)
class AnsweringModels:
    """The language models of an episode, as its trace has them.

    Attributes:
        models: their names, as their providers write them, in the order in which they first answered.
        simulated: whether one of them was simulated: no result of the episode says anything of a real model.
    """

    models: Sequence[str]
    simulated: bool

    @property
    def text(self) -> str:
        """Return them for a reader; empty where nothing answered."""
        names = ", ".join(self.models)
        if not self.simulated:
            return names
        return f"{names} (no real model)" if "simulated" in names else f"{names} (simulated)"

    def plain(self) -> dict[str, object]:
        """Return them as JSON-ready data; nothing where nothing answered."""
        return {"models": list(self.models), "simulated": self.simulated} if self.models else {}


def answering_models(trace: Trace) -> AnsweringModels:
    """Find the language models of an episode."""
    calls = [call for thought in trace.of(ThoughtEnd) for call in thought.calls]
    names = dict.fromkeys(str(call["model"]) for call in calls if "model" in call)
    return AnsweringModels(tuple(names), any(call.get("simulated") is True for call in calls))
