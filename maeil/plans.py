"""Plans that agents commit to, with their tasks and their status."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from maeil.actions import SymbolicAction, as_call


@dataclass(frozen=True, slots=True)
class Task:
    """The task that a plan serves, for comparing plans across agents.

    Attributes:
        kind: kind of task, in the world's own terms ("deliver").
        target: object of the task ("block_3").
    """

    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"

    def to_json(self) -> dict[str, str]:
        """Return the task as JSON-ready data."""
        return {"kind": self.kind, "target": self.target}


@dataclass(frozen=True, slots=True)
class Plan:
    """A sequence of symbolic actions with the task they serve.

    Attributes:
        actions: actions in the order of execution; the loop refuses plans without actions.
        task: the task that the plan serves, if the mind states it.
        rationale: a short reason.
    """

    actions: tuple[SymbolicAction, ...]
    task: Task | None = None
    rationale: str = ""


class PlanStatus(StrEnum):
    """The status of a committed plan. `COMMITTED` and `RUNNING` are temporary; every plan ends in one of the others."""

    COMMITTED = "committed"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"  # abandoned for another plan while running
    REPLACED = "replaced"  # abandoned for another plan before its first step
    CANCELLED = "cancelled"  # cut off by the end of the episode

    @property
    def final(self) -> bool:
        """Whether the plan is over."""
        return self not in (PlanStatus.COMMITTED, PlanStatus.RUNNING)


@dataclass(slots=True)
class LivePlan:
    """A committed plan and its progress.

    Attributes:
        id: `P<agent>.<k>`, the k-th plan of its agent, from 1.
        agent: index of the agent.
        plan: the committed plan.
        status: current status.
        index: number of actions that have succeeded so far, which is also the index of the current action.
        reason: why it ended; empty while it is live.
        flag: `invalid_plan`, `parse_failure`, `empty_answer` or `forced_ready` if the loop committed it instead of the
            mind, `advised` if a repair did; otherwise empty.
    """

    id: str
    agent: int
    plan: Plan
    status: PlanStatus = PlanStatus.COMMITTED
    index: int = 0
    reason: str = ""
    flag: str = ""
    data: list[dict[str, Any]] = field(init=False)
    """The actions as JSON-ready data, for the trace."""
    calls: tuple[str, ...] = field(init=False)
    """The actions as text, for views of the plan."""

    def __post_init__(self) -> None:
        """Serialize the actions once for all readers."""
        self.data = [action.model_dump(mode="json") for action in self.plan.actions]
        self.calls = tuple(map(as_call, self.data))

    @property
    def rest(self) -> tuple[SymbolicAction, ...]:
        """The remaining actions, starting with the current one."""
        return self.plan.actions[self.index :]
