"""What a provider's batches can do, and what comes back of each of their requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol


class Fate(Enum):
    """What became of a request of a batch."""

    ANSWERED = auto()
    FAILED = auto()
    """The provider has an error for it."""
    EXPIRED = auto()
    """The batch was over before its turn came; nothing is charged for it."""
    CANCELLED = auto()
    """The batch was cancelled before its turn came; nothing is charged for it."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A request of a batch.

    Attributes:
        name: unique in the batch; begins with the batch's mark.
        body: of the request, as a call of its own would send it.
    """

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowResult:
    """What came back of a request.

    Attributes:
        name: of its row.
        fate: what became of it.
        body: the response, or the body of the error; None where there is neither.
        status: HTTP status of a failure, as a call of its own would have got it.
    """

    name: str
    fate: Fate
    body: Mapping[str, Any] | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class BatchRefused:
    """A batch that the provider has taken and then refused as a whole.

    Attributes:
        reason: in the provider's words.
        busy: whether it says that too much waits already, so that it may be taken later.
    """

    reason: str
    busy: bool


class BatchService(Protocol):
    """The batches of one provider. What goes wrong is raised as the SDK's own errors.

    Attributes:
        most_requests: of a batch, at most.
        most_bytes: of a batch, at most.
    """

    most_requests: int
    most_bytes: int

    def size(self, row: BatchRow) -> int:
        """Return how many bytes a request takes in a batch."""

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return the provider's id of it."""

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:
        """Find the batch of a mark; None where there is none.

        Args:
            mark: of the batch.
            number: of its requests.
            since: seconds since the epoch, before which it was not created.
            pause: seconds between two looks, where only the end of other batches can tell.
        """

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Tell whether all requests of a batch have met their fate, or that the batch was refused."""

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return what came back of a batch that has ended, in any order."""

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return the response to a request as a call of its own would, by the SDK's own type."""

    async def cancel(self, batch: str) -> None:
        """Have a batch end soon; what is answered by then stays answered, and is paid."""

    async def close(self) -> None:
        """Close the connections."""


MOST_BYTES = 2**30
"""Longest file of results that is read: batches may hold up to 256 MB, and answers are shorter than prompts mostly."""
CLOCK_SLACK = 3600.0
"""Seconds by which a provider's clock and ours may differ, at most."""
