"""The outcomes of episodes, with the same names in traces, tables, the viewer and the guide."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How an episode ended. All outcomes except `ERROR` say something about the team, and statistics include them."""

    SUCCESS = "success"
    """The task is finished."""
    FAILURE = "failure"
    """The world reports that the task can no longer be finished, or a method gave up; the score so far counts."""
    ENDED = "ended"
    """The episode ended by itself, and the world does not judge the result."""
    TRUNCATED = "truncated"
    """The episode reached the step limit."""
    BUDGET = "budget"
    """A budget of money, tokens or calls is used up."""
    ERROR = "error"
    """A provider, the code, a wall-clock limit or the user stopped the episode."""
