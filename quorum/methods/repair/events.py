"""The events of repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Agent, Event


@dataclass(frozen=True, slots=True)
class RepairChecked(Event):
    """The gate judges the committed plans before a new one runs.

    Attributes:
        predictor: `heuristic` or `exact`.
        plans: the judged plans.
        violations: the constraints that the plans are expected to violate.
        verdict: `passed`; `cooldown`: these tasks were repaired too recently; `no_advice`: there is no better plan; or
            `repair`.

    The keys of each record in `plans`:
        plan (string): id of the plan.
        agent (integer; index): the plan's agent.
        task (object or null): `kind` and `target` of the task that the plan serves; null for none.

    The keys of each record in `violations`:
        task (object): `kind` and `target` of the task.
        constraint (string): name of the constraint.
        agents (list of integer; index): the agents whose plans violate it.
        expected (integer; agents): number of agents expected to meet it.
        needed (integer; agents): number of agents required.
    """

    kind: ClassVar[str] = "repair_check"
    opens_step: ClassVar[bool] = True
    predictor: str
    plans: Sequence[Mapping[str, Any]]
    violations: Sequence[Mapping[str, Any]]
    verdict: str


@dataclass(frozen=True, slots=True)
class RepairStarted(Event):
    """A repair starts.

    Attributes:
        mode: `channel`, `wide_channel`, `notice` or `rules`.
        agents: the agents that take part, ascending.
        advice: the `task`, and `plans` by agent name; null for no advice.
    """

    kind: ClassVar[str] = "repair_start"
    mode: str
    agents: Sequence[Agent]
    advice: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RepairEnded(Event):
    """A repair ends, and all agents are ready again.

    Attributes:
        replaced: ids of the replaced plans.
    """

    kind: ClassVar[str] = "repair_end"
    replaced: Sequence[str]
