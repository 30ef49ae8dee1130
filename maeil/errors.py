"""What can go wrong in the loop.

MaeilError
|- ContractError        a world, a mind or a topology gave what its contract does not allow
|- IllegalTransition    a stage change that the table does not have (a bug)
|- InvalidThought       a mind answered something that its turn or the state does not allow
|- ChangeRefused        a world cannot be changed as it is asked to
|- EpisodeStop          ends the episode with a labelled outcome, and is no bug
|  |- LimitReached      a wall-clock limit is over: `error`
|- StalledConversation  a topology left an agent without a turn and without a plan
|- TraceError           a trace that cannot be read
|  |- NewerTrace        written by a newer version of the schema
|  |- ReplayMismatch    an episode that is brought back is not what its trace says
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
        blamed: the function or class of a component that did not keep its contract; None where no single one is known.
    """

    blamed: Callable[..., Any] | None = None


class ContractError(MaeilError):
    """A world, a mind, a topology or one of their parts gave what its contract does not allow: a mistake in its code.

    Args:
        message: what is wrong, and what is expected.
        blamed: the function or class.
    """

    def __init__(self, message: str, blamed: Callable[..., Any]) -> None:
        super().__init__(message)
        self.blamed = blamed


class IllegalTransition(MaeilError):
    """A stage change that the table of stages does not have: a bug, never a user's mistake."""


class InvalidThought(MaeilError):
    """A thought that its turn or the state of the world does not allow; `reasons` go back to the mind."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class ChangeRefused(MaeilError):
    """A world cannot be changed, or there can be no such state."""


class EpisodeStop(MaeilError, Stop):
    """Ends the episode where it stands; a mind raises it too when it cannot go on (a budget is used up, say).

    Attributes:
        outcome: what the episode's last event says; `FAILURE` for a method that gives up and is scored as far as it
            came.
        calls: all calls of language models of the thought that ends so, for a mind that knows more of them than its
            models do (what was wrong with an answer, say); empty: those that its models have entered in the ledger.
    """

    outcome = Outcome.ERROR
    calls: tuple[Call, ...] = ()

    @property
    def urgent(self) -> bool:
        """Whether the other thoughts under way are cancelled; else they come to their end, as their answers are paid.

        With a provider that is gone, or a time that is over, there is nothing to wait for.
        """
        return self.outcome == Outcome.ERROR


class LimitReached(EpisodeStop):
    """A wall-clock limit is over, which says nothing about the team."""


class StalledConversation(MaeilError):
    """Nobody has a turn, nothing is under way, and yet an agent is not ready."""


class TraceError(MaeilError):
    """A trace that cannot be read."""


class NewerTrace(TraceError):
    """The trace was written by a newer schema than this version reads."""


class ReplayMismatch(TraceError):
    """Seed and joint actions do not give back what the trace says."""


class MetricError(MaeilError):
    """A metric cannot be computed from a trace: the events contradict each other, or the metric is wrong."""
