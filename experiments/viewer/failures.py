"""Why the team failed, by rule, as a lane of the page."""

from __future__ import annotations

from maeil.failures import find_failures
from maeil.trace import Stamped, Trace
from quorum.experiments.viewer.pages import WHOLE, Json


class FailureSearch:
    """Takes the events of an episode in, and finds its failures; of a very long one it keeps nothing."""

    def __init__(self) -> None:
        self.problem = ""
        """Why there are no failures to show, where that is not told by the length of the trace."""
        self._events: list[Stamped] = []
        self._size = 0

    def take(self, stamped: Stamped, size: int) -> None:
        """Take the next event; the first is the start.

        Args:
            stamped: the event.
            size: bytes of its line.
        """
        self._size += size
        if self._size <= WHOLE:
            self._events.append(stamped)
        else:
            self._events.clear()

    def found(self) -> list[Json] | None:
        """Return the failures in the order in which they show; None where the trace is too long, or wrong."""
        if self._size > WHOLE:
            return None
        if not self._events:
            return []
        try:
            failures = find_failures(Trace(tuple(self._events)))
        except Exception as error:  # a trace of a stranger may hold anything
            self.problem = f"Its failures cannot be found: its events contradict each other ({type(error).__name__})."
            return None
        finally:
            self._events.clear()
        return [
            {
                "kind": str(found.kind),
                "mast": found.kind.mast,
                "agent": found.agent,
                "t": found.t,
                "task": found.task,
                "proofs": [{"t": proof.t, "words": proof.words} for proof in found.proofs],
            }
            for found in failures
        ]
