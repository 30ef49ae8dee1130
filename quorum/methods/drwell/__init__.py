"""DR. WELL: agents negotiate tasks, plan independently, and share a world model (arXiv 2511.04646).

Run it with `topology=negotiation`. `world_model.py` holds the graph of attempted plans and their results; `mind.py`
prompts each agent's model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.component import Compatibility, Component, TeamContext
from maeil.mind import Mind
from maeil.world import World
from quorum.agents.coordination.asking import RoleSpeaker
from quorum.agents.prompting.answers import answers_of
from quorum.agents.skills import check_typed, skills_of
from quorum.agents.skills.lookup import prompts_of_roles, templates_of_roles
from quorum.methods.drwell.mind import MEMORY, Answers, DrwellConfig, DrwellMind, DrwellRole
from quorum.methods.drwell.world_model import DrwellTeam, WorldModel


def build(config: DrwellConfig, context: TeamContext) -> Sequence[Mind]:
    """Build the minds of a team around one shared world model: the previous episode's, or an empty one.

    Raises:
        ValueError: the topology has no negotiation, the world has no tasks to choose from, a template is missing, or
            the memory is not a DR. WELL memory.
    """
    world = context.world
    if not context.topology.negotiates:
        raise ValueError(
            f"agents=drwell agrees on tasks in a negotiation, but topology={context.topology.name} has none: "
            "set topology=negotiation"
        )
    if type(world).open_tasks is World.open_tasks or not skills_of(world.name).tasks:
        raise ValueError(
            f"agents=drwell chooses among tasks, but the world '{world.name}' reports none: "
            "set env=cube, or agents=naive"
        )
    check_typed("drwell", config.prompts)
    answers: Answers = answers_of(Answers, tuple(world.vocabulary), config.max_actions)
    forms = tuple(answers.forms.values())
    prompts = prompts_of_roles(config, context, "drwell", DrwellRole, forms=forms, tasks=False)
    kept = context.memories.get(MEMORY)
    team = DrwellTeam(world, WorldModel.load(kept) if kept is not None else WorldModel())
    return [
        DrwellMind(RoleSpeaker(context.models(name), prompts), answers, team, world, config) for name in world.agents
    ]


def inputs(config: DrwellConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the prompt templates for a world, given its name.

    Raises:
        ValueError: a template is missing, or the custom template folder contains nothing that is used.
    """
    check_typed("drwell", config.prompts)
    return templates_of_roles(config, world, "drwell", DrwellRole).sources


component = Component(
    DrwellConfig,
    build,
    uses_models=True,
    inputs=inputs,
    roles=lambda _: tuple(DrwellRole),
    remembers=True,
    compatible=Compatibility.SAME_VALUES,  # the agents share one world model
)

__all__ = ["DrwellConfig", "DrwellMind", "WorldModel", "build", "component"]
