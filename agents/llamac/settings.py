"""The roles, switches and bounds of LLaMAC."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from maeil.component import ComponentConfig
from quorum.agents.prompting.sets import PromptSet


class LlamacRole(StrEnum):
    """A role; the value is the name of its template."""

    EXPLORER = "explorer"
    EXPLOITER = "exploiter"
    ASSESSOR = "assessor"
    ACTOR = "actor"


CRITICS = {
    "both": (LlamacRole.EXPLORER, LlamacRole.EXPLOITER),
    "explorer": (LlamacRole.EXPLORER,),
    "exploiter": (LlamacRole.EXPLOITER,),
}
"""Who proposes, by the value of `critics`."""


class LlamacConfig(ComponentConfig):
    """Parameters of `llamac`."""

    name: Literal["llamac"]
    critics: Literal["both", "explorer", "exploiter"]
    """Who proposes; with one critic there is nothing to assess (ablation: only explore, only exploit)."""
    belief_correction: bool
    """Whether the assessor weighs the two proposals; false: they are merged without a call (ablation)."""
    scrutiny: bool
    """Whether joint plans pass veracity scrutiny; false: only their grammar is checked (ablation)."""
    scrutinize_suggestion: bool
    """Whether the assessor's suggestion passes it too; false: as the paper prints it."""
    rollout: NonNegativeInt
    """Steps that scrutiny rolls a joint plan out for on a copy of the world, where its gates can; 0: it does not."""
    confirmation: bool
    """Whether actors check their own part; false: they do what they are told (ablation)."""
    internal_retries: NonNegativeInt
    """IF: times in a decision that a rejected joint plan is asked for again; 0: internal feedback is off."""
    retry: Literal["both", "failed"]
    """Who proposes again when a critic's joint plan is rejected: both critics, as in the paper, or that one alone."""
    external_retries: NonNegativeInt
    """EF: times in a decision that the assessor plans anew on the actors' feedback; 0: external feedback is off."""
    strict: bool
    """Whether conflicts that are left after all internal retries fail the episode, as unreadable plans always do."""
    on_exhaust: Literal["execute", "noop", "fail"]
    """What an actor does with a part that fails confirmation after all external retries."""
    replan: Literal["idle_only", "all"]
    """Whose plans a decision makes: of those without one, or of all, whose plans it may replace."""
    memory: NonNegativeInt | None
    """L: decision epochs that the critics see; null: all."""
    pause: PositiveInt
    """Steps that an agent without a suggestion waits."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    prompts: PromptSet
    """The set of prompts."""
