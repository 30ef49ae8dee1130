"""The values that all baselines have."""

from __future__ import annotations

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.component import ComponentConfig


class PlanningConfig(ComponentConfig):
    """Base of the configurations of the baselines."""

    syntax_retries: NonNegativeInt
    """Times that a joint plan that cannot be read, or that the world refuses, is asked for again; then the episode
    fails."""
    history_tokens: NonNegativeInt
    """Tokens, four characters each, that the history of states and joint plans may have in a prompt; 0: none."""
    pause: PositiveInt
    """Steps that an agent without a part in the joint plan waits."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    prompts_folder: str | None
    """A folder of templates that come before the shipped ones; null: none."""
    rules: str = Field(min_length=1)
    """Template of the rules of the world."""
