"""The corridor, with cooperation constraints, attempts and capabilities as a test has written them down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from maeil.plans import Plan, Task
from maeil.tasks import Attempt, CapabilityChange, TaskState
from maeil.world import Transition
from tests.maeil.corridor import Corridor


def task(name: str) -> Task:
    return Task("lift", name)


def state(
    name: str, p: int, spatial: int, temporal: int, joint: int, *, involved: int = 9, ready: bool = True
) -> TaskState:
    return TaskState(task(name), p, spatial, temporal, involved, joint, ready)


def over(name: str) -> TaskState:
    return TaskState(task(name), 0, 0, 0, 0, 0, False)


def attempt(name: str, *agents: int, succeeded: bool = False) -> Attempt:
    return Attempt(task(name), agents, succeeded)


@dataclass(frozen=True)
class Report:
    """What the world reports about one step: changed tasks before it, attempts and capabilities of it."""

    states: Sequence[TaskState] = ()
    attempts: tuple[Attempt, ...] = ()
    capabilities: tuple[CapabilityChange, ...] = ()


class ReportingCorridor(Corridor):
    """Gives the report of each step, and nothing where there is none."""

    def __init__(self, agents: int, reports: Mapping[int, Report], **kwargs: int) -> None:
        super().__init__(agents, **kwargs)
        self.reports = reports

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        return self.reports.get(self.t, Report()).states

    def step(self, joint: Sequence[int]) -> Transition:
        report = self.reports.get(self.t, Report())
        return replace(super().step(joint), attempts=report.attempts, capabilities=report.capabilities)
