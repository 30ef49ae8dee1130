"""What a found failure consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from maeil.trace.events import Stamped


class FailureKind(StrEnum):
    """The kinds of failures, in the order of MAST (arXiv 2503.13657, Figure 2)."""

    REPETITION = "repetition"
    TERMINATION = "termination"
    SILENCE = "silence"
    WITHHOLDING = "withholding"
    IGNORED_INPUT = "ignored_input"
    MISMATCH = "mismatch"

    @property
    def mast(self) -> str:
        """Its number in MAST."""
        return _MAST[self]


_MAST = dict(zip(FailureKind, ("FM-1.3", "FM-1.5", "FM-2.2", "FM-2.4", "FM-2.5", "FM-2.6"), strict=True))


@dataclass(frozen=True, slots=True)
class Proof:
    """An event that a failure follows from.

    Attributes:
        seq: its number in the trace.
        t: environment step.
        words: what it says of the failure, in words; it may hold text of models.
    """

    seq: int
    t: int
    words: str

    @classmethod
    def of(cls, event: Stamped, words: str) -> Proof:
        """Make a proof of an event."""
        return cls(event.seq, event.t, words)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure.

    Attributes:
        kind: its kind.
        agent: index of the participant whose failure it is.
        t: environment step of the last of its proofs: when it shows.
        task: target of the task that it is about; empty where plans that name none are repeated.
        proofs: the events that prove it, in the order of the trace.
    """

    kind: FailureKind
    agent: int
    t: int
    task: str
    proofs: tuple[Proof, ...]

    @classmethod
    def proven(cls, kind: FailureKind, agent: int, task: str, *proofs: Proof) -> Failure:
        """Make a failure of what proves it."""
        ordered = tuple(sorted(proofs, key=lambda proof: proof.seq))
        return cls(kind, agent, ordered[-1].t, task, ordered)
