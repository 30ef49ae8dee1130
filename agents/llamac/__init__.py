"""LLaMAC: three critics in the place of the coordinator, actors that check and object (arXiv 2311.13884).

`critic.py` holds the TripletCritic, `actor.py` the actors, `gates.py` the contract of the two rule-based gates, and
`<world>_gates.py` the rules of a world.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from maeil.actions import SymbolicAction, Vocabulary
from maeil.component import Component, TeamContext
from maeil.mind import Mind
from maeil.world import World
from quorum.agents.coordination.prompts import RolePrompts
from quorum.agents.coordination.speaker import Speaker
from quorum.agents.coordination.topology_checks import needs_leader
from quorum.agents.llamac.actor import Actor
from quorum.agents.llamac.answers import Answers
from quorum.agents.llamac.critic import TripletCritic
from quorum.agents.llamac.gates import Gates
from quorum.agents.llamac.roles import CRITICS, LlamacRole
from quorum.agents.llamac.scrutiny import Scrutiny
from quorum.agents.llamac.settings import LlamacConfig
from quorum.agents.naive import COORDINATOR

WORLDS = ("cube", "crafter", "transport", "squeeze")
"""Worlds that have gates."""


def build(config: LlamacConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: an actor for each agent, and the TripletCritic as the coordinator.

    Raises:
        ValueError: the topology has no coordinator or too few rounds, or there are no gates for this world.
    """
    world, topology = context.world, context.topology
    needs_leader("llamac", topology, config.external_retries)
    rounds = getattr(topology, "rounds", None)
    if config.confirmation and rounds is not None and rounds < config.external_retries:
        raise ValueError(
            f"external_retries: {config.external_retries} are more than the {rounds} answers that the topology gives "
            f"the coordinator: set topology.rounds={config.external_retries}"
        )
    gates = gates_of(world, config.rollout)
    prompts = RolePrompts(
        "llamac", LlamacRole, world, folder=config.prompts_folder, rules=config.rules, max_actions=config.max_actions
    )
    sources = tuple(role.value for role in CRITICS["both"])
    answers = _answers(tuple(world.vocabulary), config.max_actions, world.agents, sources)
    actors: list[Mind] = [
        Actor(Speaker(context.models(name), prompts, gates.codes), answers, gates, world, config)
        for name in world.agents
    ]
    speaker = Speaker(context.models(COORDINATOR), prompts, gates.codes)
    scrutiny = Scrutiny(world, gates, enabled=config.scrutiny)
    return [*actors, TripletCritic(speaker, answers, scrutiny, world, config)]


def gates_of(world: World, rollout: int = 0) -> Gates:
    """Give the gates of a world.

    Args:
        world: by its name.
        rollout: steps that joint plans are rolled out for; 0: they are not.

    Raises:
        ValueError: there are none, they do not know its vocabulary, or they cannot roll out.
    """
    if world.name == "cube":
        from quorum.agents.skills.cube.gates import CubeGates  # noqa: PLC0415
        from quorum.agents.skills.cube.routes import check_vocabulary  # noqa: PLC0415 (only the world in use is loaded)

        check_vocabulary(world)
        return CubeGates(rollout)
    if rollout:
        raise ValueError("rollout: joint plans are rolled out in the world 'cube' alone: set agents.rollout=0")
    if world.name == "crafter":
        from quorum.agents.skills.crafter.gates import CrafterGates  # noqa: PLC0415

        return CrafterGates()
    if world.name == "transport":
        from quorum.agents.skills.transport.gates import TransportGates  # noqa: PLC0415

        return TransportGates()
    if world.name == "squeeze":
        from quorum.agents.skills.squeeze.gates import SqueezeGates  # noqa: PLC0415

        return SqueezeGates()
    raise ValueError(f"agents=llamac has no gates for the world '{world.name}'; it has gates for: {', '.join(WORLDS)}")


@cache
def _answers(
    actions: tuple[type[SymbolicAction], ...], max_actions: int, names: tuple[str, ...], sources: tuple[str, ...]
) -> Answers:
    """Give the forms of the answers, made once for all teams of a process with the same vocabulary."""
    return Answers(Vocabulary(*actions), max_actions, names, sources)


component = Component(LlamacConfig, build, uses_models=True)

__all__ = ["LlamacConfig", "TripletCritic", "build", "component", "gates_of"]
