"""The roles and values of `tom`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.component import ComponentConfig
from quorum.agents.prompting.sets import PromptSet


class TomRole(StrEnum):
    """A role in which a model is asked before the turn itself; the value is the name of its template."""

    OBSERVER = "observer"
    HYPOTHESIZER = "hypothesizer"
    PREDICTOR = "predictor"


class TomConfig(ComponentConfig):
    """Parameters of `tom`."""

    name: Literal["tom"]
    hypotheses: PositiveInt
    """Hypotheses about each of the others that are kept besides the latest: those of the highest values."""
    alpha: Annotated[float, Field(gt=0, le=1)]
    """How fast the value of a hypothesis goes to 1 when it is right, and to -1 when it is wrong."""
    threshold: Annotated[float, Field(ge=-1, lt=1)]
    """The value above which a hypothesis is reused, and no other is asked for."""
    prompts: PromptSet
    """The set of prompts."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    repairs: NonNegativeInt
    """Times that an answer that does not have the types of its turn or role is asked for again."""
