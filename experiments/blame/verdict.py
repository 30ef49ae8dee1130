"""What a method of attribution says of a run: who made it fail, when, and how sure it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a method says of one run.

    Attributes:
        method: name of the method.
        agent: name of the participant whose decision it was; None: the method names nobody.
        t: environment step of that decision; None: it names none.
        t_hat: cognitive time at which the thought of it began; None: it names none.
        kind: what was wrong with it, in a word; empty where the method does not say.
        confidence: of the method, from 0 to 1; None where it has none.
        reruns: episodes that were played for it, from a beginning of the run.
        calls: answers of language models that were asked for it.
        reason: why, in a sentence; what a language model wrote is not to be trusted as text.
    """

    method: str
    agent: str | None
    t: int | None
    t_hat: int | float | None = None
    kind: str = ""
    confidence: float | None = None
    reruns: int = 0
    calls: int = 0
    reason: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)
