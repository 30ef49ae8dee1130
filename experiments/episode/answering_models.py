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
        models: their names, as their providers write them, in the order in which they first answered; those that only
            stood in for others are not among them where others answered.
        simulated: whether one of them was simulated: no result of the episode says anything of a real model.
        fallbacks: those that answered in the place of models that could not be reached, with their providers.
    """

    models: Sequence[str]
    simulated: bool
    fallbacks: Sequence[str] = ()

    @property
    def text(self) -> str:
        """Return them for a reader; empty where nothing answered."""
        names = ", ".join(self.models)
        if self.fallbacks:
            names += f"; {', '.join(self.fallbacks)} in the place of one that could not be reached"
        if not self.simulated:
            return names
        return f"{names} (no real model)" if "simulated" in names else f"{names} (simulated)"

    def plain(self) -> dict[str, object]:
        """Return them as JSON-ready data; nothing where nothing answered."""
        fallbacks = {"fallbacks": list(self.fallbacks)} if self.fallbacks else {}
        return {"models": list(self.models), "simulated": self.simulated, **fallbacks} if self.models else {}


def answering_models(trace: Trace) -> AnsweringModels:
    """Find the language models of an episode."""
    calls = [call for thought in trace.of(ThoughtEnd) for call in thought.calls]
    answered = [call for call in calls if "model" in call]
    chosen = [call for call in answered if not call.get("fallback")] or answered
    return AnsweringModels(
        tuple(dict.fromkeys(str(call["model"]) for call in chosen)),
        any(call.get("simulated") is True for call in calls),
        tuple(dict.fromkeys(str(call["fallback"]) for call in answered if call.get("fallback"))),
    )
