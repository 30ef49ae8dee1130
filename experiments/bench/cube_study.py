"""The scalability study of the CUBE page: a step, memory, CPU and every symbolic action against n."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from experiments.bench.cube_parts import action_names, stepping, tick_seconds
from experiments.bench.cube_published import ACTION_SIZES, STEP_SECONDS
from experiments.bench.cube_rows import probe
from experiments.bench.measure import Progress, medians, seconds_per_call


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
        """Give the study as JSON-ready data."""
        return asdict(self)


def study(rounds: int, progress: Progress, *, quick: bool) -> Study:
    """Measure everything; `quick` at few sizes with few calls."""
    sizes = tuple(STEP_SECONDS)[:2] if quick else tuple(STEP_SECONDS)
    action_sizes = ACTION_SIZES[1:3] if quick else ACTION_SIZES
    growth = tuple(_growth(n, rounds, progress, quick=quick) for n in sizes)
    costs = []
    for name in action_names():
        for n in action_sizes:
            progress(f"symbolic action {name}, n={n}")
            costs.append(_action(name, n, 1 if quick else 6))
    return Study(growth, tuple(costs))


def _growth(n: int, rounds: int, progress: Progress, *, quick: bool) -> Growth:
    progress(f"growth, n={n}")
    random, right = stepping(n, right=False), stepping(n, right=True)
    calls = 10 if quick else 200
    found = medians(
        {"random": lambda: seconds_per_call(random, calls), "right": lambda: seconds_per_call(right, calls)}, rounds
    )
    process = probe(n, 0.1 if quick else 1.5)[1]
    return Growth(n, found["random"], found["right"], process["memory_mb"], process["cpu_percent"])


def _action(name: str, n: int, episodes: int) -> ActionCost:
    return ActionCost(
        name,
        n,
        tick_seconds(name, n, team=False, episodes=episodes),
        tick_seconds(name, n, team=True, episodes=episodes),
    )
