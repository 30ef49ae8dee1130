"""The roles and values of DR. WELL."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from maeil.component import ComponentConfig
from quorum.agents.prompting.sets import PromptSet


class DrwellRole(StrEnum):
    """A role; the value is the name of its template in `prompts/drwell/`."""

    PROPOSER = "proposer"
    """Proposes a task to the others in the room."""
    COMMITTER = "committer"
    """Commits itself to a task."""
    PLANNER = "planner"
    """Plans for its task, alone."""


class DrwellConfig(ComponentConfig):
    """Parameters of `drwell`."""

    name: Literal["drwell"]
    prompts: PromptSet
    """The set of prompts."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    repairs: NonNegativeInt
    """Times that an answer that cannot be read, or cannot be done, is asked for again."""
    instances: PositiveInt
    """Earlier plans for its task that a planner is shown, at most, the best ones first; and as many prototypes."""
    pause: PositiveInt
    """Steps that an agent waits for which there is no open task."""
