"""True statements in the Gaussian squeeze: the payoff of the last round, and an agent's share of the next sum."""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env import Pick, SqueezeObservation
from maeil.messages import Message, MessageKind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.llamac_worlds.squeeze.rules import next_try, share


def state(world: World, messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task | None]]:
    """State the last round and an agent's pick: its planned one, or its share of the sum that the team tries next.

    Directives and messages of a coordinator without a body are replaced by the picks of their recipients.

    See `docs/controls.md` for the arguments.
    """
    seen = world.global_observation()
    assert isinstance(seen, SqueezeObservation)
    picks = _picks(seen, plans)
    last = f" The last round paid {seen.history[-1].reward:g}." if seen.history else ""
    return [_state(message, picks, last) for message in messages]


def _state(message: Message, picks: Sequence[int], last: str) -> tuple[str, Task | None]:
    if message.kind is MessageKind.DIRECTIVE or message.sender >= len(picks):
        who = ", ".join(f"agent_{agent}: {picks[agent]}" for agent in message.recipients if agent < len(picks))
        return f"What is picked: {who}.{last}", None
    return f"I work on system: I pick {picks[message.sender]}.{last}", Task("allocate", "system")


def _picks(seen: SqueezeObservation, plans: Sequence[Plan | None]) -> list[int]:
    """Return the next pick of each agent."""
    paid = {past.sum: past.reward for past in seen.history if past.sum is not None}
    picks = share(next_try(paid, seen.agents * seen.highest_pick), seen.agents, seen.highest_pick)
    first = [plan.actions[0] if plan is not None else None for plan in plans]
    return [planned.units if isinstance(planned, Pick) else pick for planned, pick in zip(first, picks, strict=True)]
