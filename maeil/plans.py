"""Plans: what an agent has committed itself to, and the one way in which each plan ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from maeil.actions import SymbolicAction, as_call


@dataclass(frozen=True, slots=True)
class Task:
    """What a plan is for, so that plans can be compared across agents.

    Attributes:
        kind: the sort of task, in the words of the world ("deliver").
        target: what it is done to ("block_3").
    """

    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"

    def plain(self) -> dict[str, str]:
        """Return it JSON-ready."""
        return {"kind": self.kind, "target": self.target}


@dataclass(frozen=True, slots=True)
class Plan:
    """A sequence of symbolic actions with the task they serve.

    Attributes:
        actions: executed in order; never empty once committed (the scheduler refuses an empty plan).
        task: what the plan is for, where the mind says so.
        rationale: a short reason in words.
    """

    actions: tuple[SymbolicAction, ...]
    task: Task | None = None
    rationale: str = ""


class PlanStatus(StrEnum):
    """The state of a committed plan. The first two are passing; each plan ends in exactly one of the others."""

    COMMITTED = "committed"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"  # given up for another plan after it had begun to run
    REPLACED = "replaced"  # given up for another plan before its first step
    CANCELLED = "cancelled"  # cut off by the end of the episode

    @property
    def final(self) -> bool:
        """Whether the plan is over."""
        return self not in (PlanStatus.COMMITTED, PlanStatus.RUNNING)


@dataclass(slots=True)
class LivePlan:
    """A committed plan on its way to its end.

    Attributes:
        id: `P<agent>.<k>`, the k-th plan of its agent, from 1.
        agent: index of the agent.
        plan: what was committed.
        status: current status.
        index: number of actions that have succeeded so far, also the index of the action that runs now.
        reason: why it ended, empty while it lives.
        flag: `invalid_plan`, `parse_failure`, `empty_answer` or `forced_ready` when the scheduler committed it in the
            mind's stead, `advised` when a repair did, else empty.
    """

    id: str
    agent: int
    plan: Plan
    status: PlanStatus = PlanStatus.COMMITTED
    index: int = 0
    reason: str = ""
    flag: str = ""
    data: list[dict[str, Any]] = field(init=False)
    """The actions JSON-ready, as the trace has them."""
    calls: tuple[str, ...] = field(init=False)
    """The actions as text, written once for all who see the plan."""

    def __post_init__(self) -> None:
        """Write the actions, once for all readers."""
        self.data = [action.model_dump(mode="json") for action in self.plan.actions]
        self.calls = tuple(map(as_call, self.data))

    @property
    def rest(self) -> tuple[SymbolicAction, ...]:
        """The actions that have not succeeded yet, from the one that runs now on."""
        return self.plan.actions[self.index :]
