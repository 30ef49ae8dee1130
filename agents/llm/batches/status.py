"""The bounds of batches, and what there is of them: what engines and views know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchRules:
    """The bounds of batches.

    Attributes:
        size: requests of a batch, at most; None for as many as the provider takes.
        bytes: of a batch, at most; None for as many as the provider takes.
        wait: seconds that a request waits for others, at most.
        poll: seconds between two looks at a batch.
    """

    size: int | None
    bytes: int | None
    wait: float
    poll: float


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """What there is of batches in this process.

    Attributes:
        waves: that have gone out.
        open: batches whose answers are awaited.
        asked: requests in them.
        age: seconds since the oldest of them was sent.
        ended: batches whose answers were read.
        seconds: that these took, in the mean; 0 where there are none.
        answers: that episodes got.
        replayed: those of them that an earlier process has read, or asked for.
        usd: money of the answers; None where a price is not known.
    """

    waves: int = 0
    open: int = 0
    asked: int = 0
    age: float = 0.0
    ended: int = 0
    seconds: float = 0.0
    answers: int = 0
    replayed: int = 0
    usd: float | None = 0.0

    @property
    def expected_usd(self) -> float | None:
        """Money that the open batches are expected to cost, by the mean of the answers so far; None: not known."""
        return self.usd / self.answers * self.asked if self.usd is not None and self.answers else None
