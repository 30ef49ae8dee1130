"""Teams in which one agent decides one turn wrongly: minds around other minds.

A fault is a function of a moment: it returns the agent's answer in place of its mind's answer, or None if it cannot
happen. It knows the contract of minds (`maeil.Mind`) and the world, and nothing about the methods that look for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, field_validator

from maeil.actions import SymbolicAction
from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.mind import Act, Mind, Thought, View
from maeil.plans import Plan
from maeil.world import World
from quorum.configuration.checked_values import component_values
from quorum.configuration.registry import minds


@dataclass(frozen=True, slots=True)
class Moment:
    """The turn in which a fault happens.

    Attributes:
        view: the agent's view.
        thought: its own mind's answer.
        world: the world in which it acts.
        last: the last plan that it committed in an earlier turn; None if there is none.
    """

    view: View
    thought: Thought
    world: World
    last: Plan | None = None

    @property
    def plan(self) -> Plan | None:
        """The plan that its own mind commits; None if it commits none."""
        return self.thought.decision if isinstance(self.thought.decision, Plan) else None

    def act(self, *actions: SymbolicAction, keep: bool = True) -> Thought | None:
        """Return the same thought with other actions for the same task; None if the world does not allow them.

        Args:
            actions: the agent's symbolic actions.
            keep: whether the plan keeps its task and rationale.
        """
        own = self.plan
        plan = replace(own, actions=actions) if own is not None and keep else Plan(actions)
        same = own is not None and own.actions == actions
        return None if same or self.world.check_plan(self.view.agent, plan) else replace(self.thought, decision=plan)


Happens = Callable[[Moment], Thought | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A way in which a decision can be wrong.

    Attributes:
        happens: returns the wrong answer; None if the fault cannot happen.
        act: the act that a turn must allow.
    """

    happens: Happens
    act: Act


FAULTS: dict[str, Fault] = {}
"""All faults, by kind."""


def fault(kind: str, act: Act = Act.PLAN) -> Callable[[Happens], Happens]:
    """Register a fault under the name of its kind."""

    def register(function: Happens) -> Happens:
        if kind in FAULTS:
            raise ValueError(f"there are two faults {kind!r}")
        FAULTS[kind] = Fault(function, act)
        return function

    return register


def rest(world: World, steps: int = 1000) -> tuple[SymbolicAction, ...]:
    """Return the actions of an agent that does nothing."""
    if "steps" in type(world.idle).model_fields:
        return (world.idle.model_copy(update={"steps": steps}),)
    return (world.idle,) * steps


@dataclass
class FaultyMind:
    """Decides as the wrapped mind does, except in one turn.

    Attributes:
        mind: the wrapped mind.
        fault: the fault.
        turn: the turn of the agent, from 0; a repeated answer to the same turn counts once.
        world: the world.
    """

    mind: Mind
    fault: Fault
    turn: int
    world: World
    _turns: int = field(default=0, init=False)
    _last: Plan | None = field(default=None, init=False)

    async def think(self, view: View) -> Thought:
        """Answer a turn. The wrapped mind continues from the state that the fault causes."""
        thought = await self.mind.think(view)
        if not view.problems:
            if self._turns == self.turn and not thought.failure:
                thought = self.fault.happens(Moment(view, thought, self.world, self._last)) or thought
            self._turns += 1
        if isinstance(thought.decision, Plan):
            self._last = thought.decision
        return thought


class FaultyConfig(ComponentConfig):
    """Values of a fault: its kind, its agent and its turn."""

    base: Mapping[str, Any]
    """The mind of all agents, with all its values."""
    kind: str
    """Kind of the fault."""
    agent: NonNegativeInt
    """Index of the agent that decides wrongly."""
    turn: Annotated[int, Field(ge=-1)]
    """Turn of this agent with the wrong decision, from 0; -1: none."""

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str) -> str:
        if kind not in FAULTS:
            raise ValueError(f"there is no such fault; there are {', '.join(sorted(FAULTS))}")
        return kind


def build(config: FaultyConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, all from the base."""
    values = component_values(minds, {"base": config.base}, place="agents.base", recorded=True)
    built = list(minds.get(values.name).build(values, context))
    if config.agent < len(built):
        built[config.agent] = FaultyMind(built[config.agent], FAULTS[config.kind], config.turn, context.world)
    return built


def _inputs(config: FaultyConfig, world: str) -> Mapping[str, str]:
    values = component_values(minds, {"base": config.base}, place="agents.base", recorded=True)
    return minds.get(values.name).inputs(values, world)


minds.register("faulty", Component(FaultyConfig, build, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW))
minds.register(
    "faulty_models",
    Component(FaultyConfig, build, uses_models=True, inputs=_inputs, compatible=Compatibility.ANYBODY),
)
