"""Minds without a language model: three that follow a world's rules, and three that ignore their observations.

| mind | what it does |
|---|---|
| `heuristic` | the greedy baseline: follows the world's heuristic |
| `negotiator` | speaks and acts by the rules of the world's negotiators |
| `planner` | the reference: a planner with full knowledge that commands the whole team |
| `always_right` | always moves right; the CUBE page shows its boards under this policy ("always move right") |
| `idle` | does nothing: shows what the rest of a team achieves without the agent |
| `random` | draws valid plans: the baseline without knowledge or communication |
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
"""Steps of one plan of `always_right` and `idle`, which is then repeated."""


class HeuristicConfig(ComponentConfig):
    """Parameters of `heuristic`."""

    name: Literal["heuristic"]
    teams: Literal["several", "one"]
    """`several`: form as many teams as there is work for; `one`: all agents work on one task at a time."""


class NegotiatorConfig(ComponentConfig):
    """Parameters of `negotiator`."""

    name: Literal["negotiator"]
    noise: Annotated[float, Field(ge=0, le=1)]
    """Probability of a random choice instead of the rule's."""
    patience: PositiveInt
    """Steps that an agent waits for the rest of its team."""


class PlannerConfig(ComponentConfig):
    """Search effort of `planner`."""

    name: Literal["planner"]
    starts: PositiveInt
    """Number of schedules built from scratch with estimated times."""
    changes: PositiveInt
    """Number of changes tried on each schedule."""
    rollouts: PositiveInt
    """Maximum number of schedules simulated in the world's rules to measure their real duration."""
    work: PositiveInt
    """Maximum size of these rollouts, in agents times cells times steps."""


def build_heuristic(config: HeuristicConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; they are deterministic.

    Raises:
        ValueError: this world has no such rule, or the topology wants a coordinator.
    """
    refuse_coordinator(config, context)
    role, chosen = ("one_team", " agents.teams=one") if config.teams == "one" else ("heuristic", "")
    return _minds(context, role, f"agents={config.name}{chosen}")


def build_negotiator(config: NegotiatorConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent and the coordinator, each with its own random stream.

    Raises:
        ValueError: this world has no negotiation rules.
    """
    minds = len(context.world.agents) + context.coordinates
    generators = [context.seeds.child(agent).generator() for agent in range(minds)]
    return _minds(context, "negotiator", f"agents={config.name}", config.noise, config.patience, generators)


def build_planner(config: PlannerConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; all draws come from one random stream.

    Raises:
        ValueError: this world has no planner, or the topology wants a coordinator.
    """
    if context.topology.coordinated:
        raise ValueError("agents=planner does not talk, so it has no coordinator: choose topology=individual")
    effort = config.model_dump(exclude={"name"})
    return _minds(context, "planner", f"agents={config.name}", context.seeds.generator(), **effort)


def build_always_right(config: ComponentConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: agents cannot move right in this world, or the topology wants a coordinator.
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
    """Return the minds made by a role of the world's skills."""
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
