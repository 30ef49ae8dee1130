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
        violations: the constraints that they are expected to violate.
        verdict: `passed`; `cooldown`: it is too early to repair these tasks again; `no_advice`: there is no better
            plan; or `repair`.

    The keys of each record in `plans`:
        plan (string): id of the plan.
        agent (integer; index): whose plan it is.
        task (object or null): `kind` and `target` of the task that it serves; null for none.

    The keys of each record in `violations`:
        task (object): `kind` and `target` of the task.
        constraint (string): name of the constraint.
        agents (list of integer; index): whose plans violate it.
        expected (integer; agents): how many agents are expected to meet it.
        needed (integer; agents): how many have to.
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
        agents: who takes part, ascending.
        advice: the `task`, and `plans` by name of the agent; null for no advice.
    """

    kind: ClassVar[str] = "repair_start"
    mode: str
    agents: Sequence[Agent]
    advice: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RepairEnded(Event):
    """A repair ends, and all agents are ready again.

    Attributes:
        replaced: ids of the plans that were given up.
    """

    kind: ClassVar[str] = "repair_end"
    replaced: Sequence[str]
