"""Measures CUBE against n: steps, memory, CPU and symbolic actions, with the constructor's defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.cube_speed.parts import action_names, stepping, tick_seconds
from benchmarks.cube_speed.probe import probe
from benchmarks.cube_speed.timing import medians, seconds_per_call

Measured = Mapping[str, Mapping[int, float]]
"""Values by n, of each quantity by name."""
LIVE: Mapping[str, Any] = {"infos": "none", "copy": False}
"""Constructor arguments for steps without copies."""
TEAM = ", whole team"
"""Suffix for an action that all able agents perform at once; without it, one agent does."""
_ROUNDS = 14
_CALLS = 200
_EPISODES = 6


def study(sizes: Sequence[int], action_sizes: Sequence[int], *, seconds: float = 1.5) -> Measured:
    """Measure everything.

    Args:
        sizes: numbers of agents for steps, memory and CPU.
        action_sizes: numbers of agents for symbolic actions.
        seconds: duration of the CPU measurement at each size.

    Returns:
        `step` with the constructor's defaults and `step, live observations` in seconds; `memory` in megabytes; `CPU` in
        percent of a core; each symbolic action in seconds a tick, by one agent and by the whole team.
    """
    processes = {n: probe(n, seconds)[1] for n in sizes}
    actions = {
        name + suffix: {n: tick_seconds(name, n, team=bool(suffix), episodes=_EPISODES) for n in action_sizes}
        for name in action_names()
        for suffix in ("", TEAM)
    }
    return {
        **_steps(sizes),
        "memory": {n: found["memory_mb"] for n, found in processes.items()},
        "CPU": {n: found["cpu_percent"] for n, found in processes.items()},
        **actions,
    }


def _steps(sizes: Sequence[int]) -> Measured:
    """Measure a step with random actions, all sizes in turn."""
    kinds: Mapping[str, Mapping[str, Any]] = {"step": {}, "step, live observations": LIVE}
    steps = {f"{kind} {n}": stepping(n, **values) for kind, values in kinds.items() for n in sizes}
    found = medians({name: partial(seconds_per_call, step, _CALLS) for name, step in steps.items()}, _ROUNDS)
    return {kind: {n: found[f"{kind} {n}"] for n in sizes} for kind in kinds}
