"""The parameters of the loop."""

from __future__ import annotations

from dataclasses import dataclass

from maeil.clock import ClockCount, ClockUnit


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How an episode is run.

    Attributes:
        clock_unit: what moves the cognitive clock.
        clock_count: which tokens do, where tokens move it.
        delivery: cognitive time from the send of a message to its arrival.
        max_thoughts_per_step: thoughts of one participant in one environment step, at most.
        max_repairs: how often a refused thought is asked for again.
        memory_messages: earlier messages that a mind sees.
        memory_plans: ended plans that a mind sees.
        thought_seconds: wall-clock limit of a thought; None for none.
        episode_seconds: wall-clock limit of the episode; None for none.
        max_steps: environment steps after which a world that goes on is wrong; None for any number.
    """

    clock_unit: ClockUnit = ClockUnit.TOKENS
    clock_count: ClockCount = ClockCount.ALL
    delivery: float = 0
    max_thoughts_per_step: int = 8
    max_repairs: int = 2
    memory_messages: int = 10
    memory_plans: int = 3
    thought_seconds: float | None = None
    episode_seconds: float | None = None
    max_steps: int | None = None
