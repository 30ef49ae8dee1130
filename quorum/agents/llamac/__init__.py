"""LLaMAC: three critics act as the coordinator, and actors check their parts and object (arXiv 2311.13884).

`critic.py` holds the TripletCritic and the repair of joint plans, `actor.py` the actors. The rules of the two gates are
skills of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.component import Compatibility, Component, TeamContext
from maeil.mind import COORDINATOR, Mind
from quorum.agents.coordination.asking import RoleSpeaker
from quorum.agents.coordination.follower import needs_leader
from quorum.agents.llamac.actor import Actor
from quorum.agents.llamac.critic import Scrutiny, TripletCritic
from quorum.agents.llamac.settings import CRITICS, Answers, LlamacConfig, LlamacRole
from quorum.agents.prompting.answers import answers_of
from quorum.agents.skills import Gates, role_of, skills_of
from quorum.agents.skills.lookup import prompts_of_roles, templates_of_roles


def build(config: LlamacConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: an actor for each agent, and the TripletCritic as the coordinator.

    Raises:
        ValueError: the topology has no coordinator or too few rounds, this world has no gates, or its gates cannot roll
            out joint plans.
    """
    world, topology = context.world, context.topology
    needs_leader("llamac", topology, config.external_retries)
    if config.confirmation and topology.rounds is not None and topology.rounds < config.external_retries:
        raise ValueError(
            f"external_retries: {config.external_retries} is more than the {topology.rounds} answers that the "
            f"topology allows the coordinator: set topology.rounds={config.external_retries}"
        )
    skills = skills_of(world.name)
    if config.rollout and not skills.rolls_out:
        raise ValueError(f"rollout: joint plans cannot be rolled out in the world '{world.name}': set agents.rollout=0")
    gates = role_of(world.name, "gates", "agents=llamac")(world.vocabulary, config.rollout)
    evidence = role_of(world.name, "evidence", "agents=llamac", default=lambda _world, view: view.observation)
    answers: Answers = answers_of(Answers, tuple(world.vocabulary), config.max_actions, world.agents, skills.tasks)
    rules = checks(config, gates)
    prompts = prompts_of_roles(config, context, "llamac", roles_of(config), forms=answers.forms, checks=rules)
    actors: list[Mind] = [
        Actor(RoleSpeaker(context.models(name), prompts, gates.rules), answers, gates, evidence, world, config)
        for name in world.agents
    ]
    speaker = RoleSpeaker(context.models(COORDINATOR), prompts, gates.rules)
    scrutiny = Scrutiny(world, gates, config.scrutiny)
    return [*actors, TripletCritic(speaker, answers, scrutiny, skills.briefing(), world, config)]


def checks(config: LlamacConfig, gates: Gates) -> dict[str, list[dict[str, str]]]:
    """Return the active rules by gate, as shown to the planners of joint plans."""
    found: dict[str, list[dict[str, str]]] = {"scrutiny": [], "confirmation": []}
    for code, rule in gates.rules.items():
        found[rule.fault.gate].append({"code": code, "meaning": rule.meaning})
    return {gate: rules for gate, rules in found.items() if getattr(config, gate)}


def inputs(config: LlamacConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the prompt templates of a world.

    Raises:
        ValueError: a template is missing, or none in the user's folder is used.
    """
    return templates_of_roles(config, world, "llamac", roles_of(config)).sources


def roles_of(config: LlamacConfig) -> Sequence[LlamacRole]:
    """Return the roles that models play."""
    return (*CRITICS[config.critics], LlamacRole.ASSESSOR, LlamacRole.ACTOR)


component = Component(
    LlamacConfig, build, uses_models=True, inputs=inputs, roles=roles_of, compatible=Compatibility.SAME_KIND
)

__all__ = ["LlamacConfig", "TripletCritic", "build", "component"]
