"""The events of repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Event


@dataclass(frozen=True, slots=True)
class RepairChecked(Event):
    """The committed plans were judged before anything of the new ones is carried out.

    Attributes:
        predictor: `heuristic` or `exact`.
        plans: each judged plan: `plan`, `agent`, `task` (None where it serves no task of the world).
        violations: what they are expected to violate: `task`, `constraint`, `agents`, `expected`, `needed`.
        verdict: `passed`; `cooldown`: it is too early to repair these tasks again; `no_advice`: there is no plan to
            put in their place; or `repair`.
    """

    kind: ClassVar[str] = "repair_check"
    opens_step: ClassVar[bool] = True
    predictor: str
    plans: Sequence[Mapping[str, Any]]
    violations: Sequence[Mapping[str, Any]]
    verdict: str


@dataclass(frozen=True, slots=True)
class RepairStarted(Event):
    """A repair begins: whose plans it is about, and what is advised.

    Attributes:
        mode: `channel`, `notice` or `rules`.
        agents: those concerned, ascending.
        advice: `task`, and `plans` by the name of the agent; None where nothing is advised.
    """

    kind: ClassVar[str] = "repair_start"
    mode: str
    agents: Sequence[int]
    advice: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RepairEnded(Event):
    """A repair is over, and all agents are ready again.

    Attributes:
        replaced: ids of the plans that were given up.
    """

    kind: ClassVar[str] = "repair_end"
    replaced: Sequence[str]
