"""How episodes end: one word each, the same in traces, tables, viewer and guide."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How an episode ended. All but `ERROR` say something about the team, and are pooled in statistics."""

    SUCCESS = "success"
    """The task is finished."""
    FAILURE = "failure"
    """The task can no longer be finished: the world says so, or a method gave up, and is scored as far as it came."""
    ENDED = "ended"
    """The episode has ended by itself, and its world does not say whether that is good."""
    TRUNCATED = "truncated"
    """The step limit came first."""
    BUDGET = "budget"
    """A budget of money, tokens or calls is used up."""
    ERROR = "error"
    """A provider, the code, a wall-clock limit or the user broke it off."""
