"""Primitive actions: their type, the agents that act in a step, and how a step ends an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from maeil.contracts import check_items, described, wrong_answer
from maeil.outcomes import Outcome

Primitive = int | float | str | Sequence[Any] | Mapping[str, Any] | None
"""An agent's action in one environment step, JSON-ready.

An integer for discrete actions; numbers, lists and mappings for continuous and structured ones. None is only for an
agent that is off turn (`maeil.world.World.acting`).
"""


def acting_in(turns: Callable[[], Sequence[int] | None], agents: int) -> Sequence[int] | None:
    """Return the agents of a world that act in the coming step; None for all.

    Args:
        turns: the world's method `acting`.
        agents: number of agents in the world.

    Raises:
        ContractError: the world returns no agents, or unknown ones.
    """
    found = turns()
    if found is None:
        return None
    acting = check_items(found, int, turns, "the indices of the agents that act in the next step")
    if not acting or not set(acting) <= set(range(agents)):
        wanted = f"at least one index from 0 to {agents - 1} until the episode ends"
        raise wrong_answer(turns, described(acting), wanted)
    return acting


def end_of(*, success: bool, failure: bool = False, truncated: bool = False) -> Outcome | None:
    """Return how an episode ends with a step; None if it continues. The first true argument decides.

    Args:
        success: the task is finished.
        failure: the task can no longer be finished (all agents are dead, for example).
        truncated: the world's step limit is reached.
    """
    if success:
        return Outcome.SUCCESS
    if failure:
        return Outcome.FAILURE
    return Outcome.TRUNCATED if truncated else None
