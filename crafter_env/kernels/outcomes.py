"""Kernels that write the outcome of an agent's action."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Result
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import World
from crafter_env.kernels.jit import inlined

HAS_COLLECTED: Final = int(Result.collected)


@inlined
def begin_outcome(w: World, agent: int, action: int, result: int) -> None:
    """Reset the outcome for a new action."""
    for column in range(arrays.OUTCOME, arrays.AGENT_COLUMNS):
        w.agents[agent, column] = -1
    w.agents[agent, arrays.RESULT] = result
    w.agents[agent, arrays.DID] = action
    for item in range(arrays.ITEMS):
        w.agents[agent, arrays.GAINED + item] = 0


@inlined
def note_target(w: World, agent: int, result: int, target: int, x: int, y: int) -> None:
    """Write the target and its cell."""
    w.agents[agent, arrays.RESULT] = result
    w.agents[agent, arrays.TARGET] = target
    w.agents[agent, arrays.TARGET_X] = x
    w.agents[agent, arrays.TARGET_Y] = y


@inlined
def note_item(w: World, agent: int, result: int, item: int, amount: int) -> None:
    """Write the item that was gained, given or missing, and its amount."""
    w.agents[agent, arrays.RESULT] = result
    w.agents[agent, arrays.OUTCOME_ITEM] = item
    w.agents[agent, arrays.AMOUNT] = amount


@inlined
def note_agents(w: World, agent: int, required: int, present: int, capable: int) -> None:
    """Write how many agents were required, present and capable."""
    w.agents[agent, arrays.REQUIRED] = required
    w.agents[agent, arrays.PRESENT] = present
    w.agents[agent, arrays.CAPABLE] = capable


@inlined
def note_lack(w: World, agent: int, result: int, item: int, required: int, present: int) -> None:
    """Write how many units of an item were required and present."""
    note_item(w, agent, result, item, -1)
    w.agents[agent, arrays.REQUIRED] = required
    w.agents[agent, arrays.PRESENT] = present


@inlined
def note_other(w: World, agent: int, other: int) -> None:
    """Write the other agent involved."""
    w.agents[agent, arrays.OTHER] = other


@inlined
def is_blank(w: World, agent: int) -> bool:
    """Whether only the action has been written."""
    return w.agents[agent, arrays.RESULT] == 0
