"""Minds without a language model: those that follow a world's rules, and three that look at nothing.

| mind | what it does |
|---|---|
| `heuristic` | the greedy baseline: what the world's heuristic decides |
| `negotiator` | talks by rules: what the world's negotiators say and do |
| `planner` | the reference: a planner with full knowledge that commands the whole team |
| `always_right` | only ever goes right. The CUBE page shows its boards under this policy ("always move right") |
| `idle` | does nothing: what a team is without one agent, while the others think on |
| `random` | draws valid plans: what there is without knowledge and talk |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.contracts import check_items
from maeil.errors import InvalidThought
from maeil.mind import Mind
from maeil.plans import Plan
from quorum.agents.prompting.random_plans import RandomPlans
from quorum.agents.skills import CommandedMind, refuse_coordinator, role_of

STEPS = 10
"""Steps of a plan of `always_right` and `idle`; then comes the same again."""


class HeuristicConfig(ComponentConfig):
    """Which of a world's greedy rules `heuristic` follows."""

    name: Literal["heuristic"]
    teams: Literal["several", "one"]
    """`several`: the rule forms as many teams as there is work for; `one`: all agents do one thing at a time."""


class NegotiatorConfig(ComponentConfig):
    """Parameters of `negotiator`."""

    name: Literal["negotiator"]
    noise: Annotated[float, Field(ge=0, le=1)]
    """Probability that a choice is made at random instead of by the rule."""
    patience: PositiveInt
    """Steps that an agent waits for the others of its team."""


class PlannerConfig(ComponentConfig):
    """How long `planner` searches for the best schedule."""

    name: Literal["planner"]
    starts: PositiveInt
    """Schedules that are made from scratch, by estimated times."""
    changes: PositiveInt
    """Changes that are tried on each of them."""
    rollouts: PositiveInt
    """Schedules that are carried out in the world's rules to see what they really take, at most."""
    work: PositiveInt
    """Agents times cells times steps that these rollouts may come to."""


def build_heuristic(config: HeuristicConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; they draw nothing at random.

    Raises:
        ValueError: there is no such rule for this world, or the topology wants a coordinator.
    """
    refuse_coordinator(config, context)
    role, chosen = ("one_team", " agents.teams=one") if config.teams == "one" else ("heuristic", "")
    return _minds(context, role, f"agents={config.name}{chosen}")


def build_negotiator(config: NegotiatorConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent and the coordinator, each with its own random stream.

    Raises:
        ValueError: there are no rules for this world.
    """
    minds = len(context.world.agents) + context.coordinates
    generators = [context.seeds.child(agent).generator() for agent in range(minds)]
    return _minds(context, "negotiator", f"agents={config.name}", config.noise, config.patience, generators)


def build_planner(config: PlannerConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; all draws come from one random stream.

    Raises:
        ValueError: there is no planner for this world, or the topology wants a coordinator.
    """
    if context.topology.coordinated:
        raise ValueError("agents=planner does not talk, so it has no coordinator: choose topology=individual")
    effort = config.model_dump(exclude={"name"})
    return _minds(context, "planner", f"agents={config.name}", context.seeds.generator(), **effort)


def build_always_right(config: ComponentConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: nobody can go right in this world, or the topology wants a coordinator.
    """
    refuse_coordinator(config, context)
    try:
        move = context.world.vocabulary.parse({"action": "move", "direction": "right", "steps": STEPS})
    except InvalidThought as problem:
        raise ValueError(
            f"agents={config.name} needs an action 'move' with the direction 'right', which the world "
            f"'{context.world.name}' does not have: {'; '.join(problem.reasons)}"
        ) from None
    plan = Plan((move,), None, "right is where the goal is")
    return [CommandedMind(lambda _view: plan) for _ in context.world.agents]


def build_idle(config: ComponentConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: the topology wants a coordinator.
    """
    refuse_coordinator(config, context)
    plan = Plan((context.world.idle,) * STEPS, None, "nothing is done")
    return [CommandedMind(lambda _view: plan) for _ in context.world.agents]


def build_random(config: ComponentConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent, each with its own random stream.

    Raises:
        ValueError: the topology wants a coordinator.
    """
    refuse_coordinator(config, context)
    streams = (context.seeds.child(agent).generator() for agent in range(len(context.world.agents)))
    return [CommandedMind(RandomPlans(context.world, rng).draw) for rng in streams]


def _minds(context: TeamContext, role: str, needed_by: str, *values: Any, **options: Any) -> Sequence[Mind]:
    """Return the minds that a role of the world's skills makes."""
    rule = role_of(context.world.name, role, needed_by)
    return check_items(rule(context.world, *values, **options), Mind, rule, "a list of minds")  # type: ignore[type-abstract] # isinstance takes it


heuristic = Component(
    HeuristicConfig, build_heuristic, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW
)
negotiator = Component(
    NegotiatorConfig, build_negotiator, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW, draws=True
)
planner = Component(PlannerConfig, build_planner, talks=False, draws=True)
always_right = Component(
    ComponentConfig, build_always_right, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW
)
idle = Component(ComponentConfig, build_idle, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.FRESH)
random = Component(
    ComponentConfig,
    build_random,
    talks=False,
    compatible=Compatibility.ANYBODY,
    handover=Handover.SHADOW,
    draws=True,
)
