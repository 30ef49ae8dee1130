"""Writing what came of an agent's action, as kernels."""

from __future__ import annotations

from typing import Final

from crafter_env.arrays import (
    AMOUNT,
    CAPABLE,
    DID,
    OTHER,
    OUTCOME_COLUMNS,
    OUTCOME_ITEM,
    PRESENT,
    REQUIRED,
    RESULT,
    TARGET,
    TARGET_X,
    TARGET_Y,
    World,
)
from crafter_env.constants import Result
from crafter_env.jit import inner

COLLECTED: Final = int(Result.collected)


@inner
def begin_outcome(w: World, agent: int, action: int, result: int) -> None:
    """Forget the last step; nothing else is known yet."""
    for column in range(OUTCOME_COLUMNS):
        w.outcomes[agent, column] = -1
    w.outcomes[agent, RESULT] = result
    w.outcomes[agent, DID] = action
    for item in range(w.collected.shape[1]):
        w.collected[agent, item] = 0


@inner
def note_target(w: World, agent: int, result: int, target: int, x: int, y: int) -> None:
    """Say what was met, and where."""
    w.outcomes[agent, RESULT] = result
    w.outcomes[agent, TARGET] = target
    w.outcomes[agent, TARGET_X] = x
    w.outcomes[agent, TARGET_Y] = y


@inner
def note_item(w: World, agent: int, result: int, item: int, amount: int) -> None:
    """Say what was gained, given or lacked, and how much of it."""
    w.outcomes[agent, RESULT] = result
    w.outcomes[agent, OUTCOME_ITEM] = item
    w.outcomes[agent, AMOUNT] = amount


@inner
def note_agents(w: World, agent: int, required: int, present: int, capable: int) -> None:
    """Say how many agents were needed and there."""
    w.outcomes[agent, REQUIRED] = required
    w.outcomes[agent, PRESENT] = present
    w.outcomes[agent, CAPABLE] = capable


@inner
def note_lack(w: World, agent: int, result: int, item: int, required: int, present: int) -> None:
    """Say how much of an item was needed and there."""
    note_item(w, agent, result, item, -1)
    w.outcomes[agent, REQUIRED] = required
    w.outcomes[agent, PRESENT] = present


@inner
def note_other(w: World, agent: int, other: int) -> None:
    """Say which agent it was about."""
    w.outcomes[agent, OTHER] = other


@inner
def is_blank(w: World, agent: int) -> bool:
    """Whether nothing was written but the action."""
    return w.outcomes[agent, RESULT] == 0
