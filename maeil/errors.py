"""The errors of the loop.

MaeilError
|- ContractError        a world, a mind or a topology broke its contract
|- IllegalTransition    a stage change that the table does not allow (a bug)
|- InvalidThought       an answer that the turn or the state of the world does not allow
|- ChangeRefused        a world cannot make a requested change
|- EpisodeStop          ends the episode with a labelled outcome; not a bug
|  |- LimitReached      a wall-clock limit has passed: `error`
|- StalledConversation  a topology left an agent without a turn and without a plan
|- TraceError           a trace that cannot be read
|  |- NewerTrace        written by a newer version of the schema
|  |- ReplayMismatch    a replayed episode differs from its trace
|- MetricError          a metric cannot be computed from a trace
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maeil.calls import Call
from maeil.outcomes import Outcome
from quorum_base.exits import Stop


class MaeilError(Exception):
    """Base of every error of the loop.

    Attributes:
        blamed: the function or class that broke its contract; None if no single one is known.
    """

    blamed: Callable[..., Any] | None = None


class ContractError(MaeilError):
    """A world, a mind, a topology or one of their parts broke its contract: an error in its code.

    Args:
        message: what is wrong, and what is expected.
        blamed: the function or class at fault.
    """

    def __init__(self, message: str, blamed: Callable[..., Any]) -> None:
        super().__init__(message)
        self.blamed = blamed


class IllegalTransition(MaeilError):
    """A stage change that the table of stages does not allow: a bug, never a user error."""


class InvalidThought(MaeilError):
    """A thought that its turn or the state of the world does not allow; the mind gets the `reasons`."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class ChangeRefused(MaeilError):
    """A world cannot be changed, or the requested state is impossible."""


class EpisodeStop(MaeilError, Stop):
    """Ends the episode at once. A mind also raises it if it cannot continue (because a budget is used up, for example).

    Attributes:
        outcome: outcome of the episode; `FAILURE` for a method that gives up, which is scored on its progress so far.
        calls: all language model calls of the thought that raises it, if the mind can add details to their records
            (what was wrong with an answer, for example); empty for the calls in the ledger.
    """

    outcome = Outcome.ERROR
    calls: tuple[Call, ...] = ()

    @property
    def urgent(self) -> bool:
        """Whether other thoughts under way are cancelled. Otherwise they complete, since their answers are paid for.

        If a provider is gone or a time limit has passed, there is nothing to wait for.
        """
        return self.outcome == Outcome.ERROR


class LimitReached(EpisodeStop):
    """A wall-clock limit has passed, which says nothing about the team."""


class StalledConversation(MaeilError):
    """No participant has a turn and nothing is under way, but an agent is not ready."""


class TraceError(MaeilError):
    """A trace that cannot be read."""


class NewerTrace(TraceError):
    """The trace was written by a newer schema than this version reads."""


class ReplayMismatch(TraceError):
    """Seed and joint actions do not reproduce the trace."""


class MetricError(MaeilError):
    """A metric cannot be computed from a trace: the events contradict each other, or the metric is wrong."""
