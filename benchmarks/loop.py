"""The cost of the loop beyond the world and the minds: CPU per thought, per agent and step, and a large round of talk.

python benchmarks/loop.py
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from maeil import (
    LoopSettings,
    Plan,
    Progress,
    Resume,
    SymbolicAction,
    TaskState,
    Thought,
    Transition,
    View,
    Vocabulary,
    World,
    run_episode,
)
from maeil.acting import end_of
from maeil.controllers import Repeat
from maeil.messages import Draft
from maeil.trace import Recorder
from quorum.topologies.plain import Decentralized, DecentralizedConfig, Individual

RUNS = 5


class Stay(SymbolicAction):
    """Do nothing for some steps."""

    action: Literal["stay"] = "stay"
    steps: int


class _Sight:
    def text(self) -> str:
        return ""


class EmptyWorld(World):
    """A world that costs next to nothing, so that only the loop is measured."""

    name = "empty"
    vocabulary = Vocabulary(Stay)
    idle = Stay(steps=1)

    def __init__(self, agents: int, max_steps: int) -> None:
        self.agents = tuple(f"agent_{i}" for i in range(agents))
        self.max_steps = max_steps
        self.sight = _Sight()

    def reset(self, seed: int) -> Mapping[str, Any]:
        self.t = 0
        return {}

    def observe(self, agent: int) -> _Sight:
        return self.sight

    def global_observation(self) -> _Sight:
        return self.sight

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        return ()

    def start_action(self, agent: int, action: SymbolicAction) -> Repeat:
        assert isinstance(action, Stay)
        return Repeat(0, action.steps)

    def step(self, joint: Sequence[int]) -> Transition:
        self.t += 1
        return Transition((), 0.0, end_of(success=False, truncated=self.t >= self.max_steps))

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        return ()

    def distance(self, agent: int, other: int) -> None:
        return None

    def progress(self) -> Progress:
        return Progress(0, 1, 0.0)

    def ansi(self) -> str:
        return ""


class Planner:
    """Commits a plan to stay for a number of steps."""

    def __init__(self, steps: int) -> None:
        self.thought = Thought(Plan((Stay(steps=steps),)))

    async def think(self, view: View) -> Thought:
        return self.thought


class Talker:
    """Says two things to everybody, then continues its plan."""

    async def think(self, view: View) -> Thought:
        if view.plan is not None:
            return Thought(Resume.RESUME)
        everybody = view.turn.recipients
        return Thought(Plan((Stay(steps=1),)), (Draft(everybody, "I am here"), Draft(everybody, "and you?")))


def cpu_seconds(minds: Sequence[Any], steps: int, topology: Any) -> float:
    """CPU of one episode, trace on."""
    with tempfile.TemporaryDirectory() as folder, Recorder(Path(folder) / "trace.jsonl") as recorder:
        begin = time.process_time()
        asyncio.run(
            run_episode(
                EmptyWorld(len(minds), steps), minds, topology, seed=0, settings=LoopSettings(), recorder=recorder
            )
        )
        return time.process_time() - begin


def main() -> int:
    """Measure and print the table."""
    n, steps = 64, 200

    def long_plans() -> float:
        return cpu_seconds([Planner(10**6)] * n, steps, Individual())

    def short_plans() -> float:
        return cpu_seconds([Planner(1)] * n, steps, Individual())

    def round_of_talk() -> float:
        budget = DecentralizedConfig(name="decentralized", budget=2)
        return cpu_seconds([Talker() for _ in range(256)], 1, Decentralized(budget))

    rows = {case: [case() for _ in range(RUNS)] for case in (long_plans, short_plans, round_of_talk)}
    median = {case.__name__: statistics.median(values) for case, values in rows.items()}
    per_step = median["long_plans"] / (n * steps)
    per_thought = (median["short_plans"] - median["long_plans"]) / (n * (steps - 1))
    table = Table(title=f"the loop, medians of {RUNS} runs, trace on")
    for column in ("what", "at most", "measured"):
        table.add_column(column)
    table.add_row(f"CPU per agent and environment step, n = {n}", "0.02 ms", f"{per_step * 1e3:.4f} ms")
    table.add_row(f"CPU per thought (with its plan's events), n = {n}", "0.1 ms", f"{per_thought * 1e3:.3f} ms")
    table.add_row("256 agents, decentralized, 2 broadcasts each", "1 s", f"{median['round_of_talk']:.2f} s")
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
