"""The parameters of the loop."""

from __future__ import annotations

from dataclasses import dataclass

from maeil.clock import ClockCount, ClockUnit


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The parameters of the loop for an episode.

    Attributes:
        clock_unit: unit of the cognitive clock.
        clock_count: which tokens count, if the unit is tokens.
        delivery: cognitive time from sending a message to its arrival.
        max_thoughts_per_step: maximum number of thoughts of one participant in one environment step.
        max_repairs: how often the loop asks again after a refused thought.
        memory_messages: number of earlier messages that a mind sees.
        memory_plans: number of ended plans that a mind sees.
        thought_seconds: wall-clock limit of a thought; None for none.
        episode_seconds: wall-clock limit of the episode; None for none.
        max_steps: environment steps after which the world must have ended the episode; None for no limit.
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
