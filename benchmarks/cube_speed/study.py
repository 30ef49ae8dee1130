"""The scalability study of the CUBE page: a step, memory, CPU and every symbolic action against n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from benchmarks.cube_speed.measure import Progress, medians, seconds_per_call
from benchmarks.cube_speed.parts import action_names, stepping, tick_seconds
from benchmarks.cube_speed.published import ACTION_SIZES, STEP_SECONDS
from benchmarks.cube_speed.rows import probe


@dataclass(frozen=True, slots=True)
class Growth:
    """The environment at one size.

    Attributes:
        n: number of agents.
        random_seconds: median seconds of a step with random actions.
        right_seconds: median seconds of a step when all walk right.
        memory_mb: peak memory of a process with one environment.
        cpu_percent: CPU of that process at 20 steps a second, in percent of a core.
    """

    n: int
    random_seconds: float
    right_seconds: float
    memory_mb: float
    cpu_percent: float


@dataclass(frozen=True, slots=True)
class ActionCost:
    """A symbolic action at one size.

    Attributes:
        action: its name.
        n: number of agents.
        agent_seconds: median seconds of a tick when one agent carries it out.
        team_seconds: the same of all controllers together when the team carries it out.
    """

    action: str
    n: int
    agent_seconds: float
    team_seconds: float


@dataclass(frozen=True, slots=True)
class Study:
    """What the study found.

    Attributes:
        growth: by n.
        actions: by action and n.
    """

    growth: tuple[Growth, ...]
    actions: tuple[ActionCost, ...]

    def plain(self) -> dict[str, Any]:
        """Return the study as JSON-ready data."""
        return asdict(self)


def study(rounds: int, progress: Progress, *, quick: bool) -> Study:
    """Measure everything; `quick` at few sizes with few calls."""
    sizes = tuple(STEP_SECONDS)[:2] if quick else tuple(STEP_SECONDS)
    action_sizes = ACTION_SIZES[1:3] if quick else ACTION_SIZES
    growth = _growth(sizes, rounds, progress, quick=quick)
    costs = []
    for name in action_names():
        for n in action_sizes:
            progress(f"symbolic action {name}, n={n}")
            costs.append(_action(name, n, 1 if quick else 6))
    return Study(growth, tuple(costs))


def _growth(sizes: Sequence[int], rounds: int, progress: Progress, *, quick: bool) -> tuple[Growth, ...]:
    """Measure the sizes turn about, so that a busy moment of the machine hits them alike."""
    progress("step time against n")
    calls = 10 if quick else 200
    steps = {f"{n} {right}": stepping(n, right=right) for n in sizes for right in (False, True)}
    found = medians({name: partial(seconds_per_call, step, calls) for name, step in steps.items()}, 2 * rounds)
    growth = []
    for n in sizes:
        progress(f"memory and CPU, n={n}")
        process = probe(n, 0.1 if quick else 1.5)[1]
        growth.append(Growth(n, found[f"{n} False"], found[f"{n} True"], process["memory_mb"], process["cpu_percent"]))
    return tuple(growth)


def _action(name: str, n: int, episodes: int) -> ActionCost:
    return ActionCost(
        name,
        n,
        tick_seconds(name, n, team=False, episodes=episodes),
        tick_seconds(name, n, team=True, episodes=episodes),
    )
