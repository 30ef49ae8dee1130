"""The roles of the baselines."""

from __future__ import annotations

from enum import StrEnum


class BaselineRole(StrEnum):
    """A role; the value is the name of its template in `prompts/baselines/`."""

    CENTRE = "centre"
    """Plans for the team."""
    DEBATER = "debater"
    """One of several who do so, and hear each other."""
    REVIEWER = "reviewer"
    """An agent that agrees or objects to the joint plan."""
    TALKER = "talker"
    """An agent that talks, or states the joint plan."""
