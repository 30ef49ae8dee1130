"""Finds the skills of a world by its name: this project's, those of installed packages, those of plug-ins.

A package offers its own by the entry point `quorum.skills`, under the name of the world; a module named by `--plugin`
calls `skills.register("name", ...)`.
"""

from __future__ import annotations

from pathlib import Path

from maeil.registry import Registry
from maeil.world import World
from quorum.agents.coordination.prompts import Notation
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import SHIPPED
from quorum.agents.skills.contract import MissingSkill, WorldSkills

skills: Registry[WorldSkills] = Registry(
    "skills package",
    "worlds with skills",
    "env",
    "quorum.skills",
    {
        "cube": "quorum.agents.skills.cube:skills",
        "crafter": "quorum.agents.skills.crafter:skills",
        "transport": "quorum.agents.skills.transport:skills",
        "squeeze": "quorum.agents.skills.squeeze:skills",
    },
    lambda: WorldSkills,
)


def skills_of(world: str) -> WorldSkills:
    """Return the skills of a world by its name; of one that nobody has skills for, those without any role."""
    return skills.get(world) if world in skills.names() else WorldSkills(world)


def required(mind: str, missing: MissingSkill) -> ValueError:
    """Return the error of a mind that cannot do without a role: who needs it, and which worlds have it.

    Args:
        mind: as the configuration names it.
        missing: the role and the world.
    """
    lacking = f"agents={mind} needs the skill '{missing.role}', which the world '{missing.world}' does not have"
    return ValueError(f"{lacking}; {having(missing)}")


def having(missing: MissingSkill) -> str:
    """Say which worlds have a role that one does not have."""
    found = ", ".join(name for name in skills.names() if skills.get(name).has(missing.role)) or "none"
    return f"worlds that have it: {found}"


def check_form(mind: str, prompts: PromptSet, world: str) -> None:
    """Check that a world has a notation of its own where a set of prompts takes it.

    Args:
        mind: as the configuration names it.
        prompts: the set.
        world: name of the world.

    Raises:
        ValueError: it has none; the message says which worlds do.
    """
    if prompts.form == "text" and not skills_of(world).has("notation"):
        having = ", ".join(name for name in skills.names() if skills.get(name).has("notation"))
        raise ValueError(
            f"these prompts (prompts.form=text) are in the text format of a world, and '{world}' has none "
            f"(agents={mind}); worlds that have one: {having}. Set prompts=default"
        )


def check_typed(mind: str, prompts: PromptSet) -> None:
    """Check that a set of prompts asks for typed JSON.

    Args:
        mind: as the configuration names it.
        prompts: the set.

    Raises:
        ValueError: it asks for text.
    """
    if prompts.form == "text":
        raise ValueError(
            f"agents={mind} answers in typed JSON, and these prompts ask for text (prompts.form=text): they are for "
            "teams with roles, such as agents=llamac and agents=hmas2. Set prompts=default"
        )


def check_predictable(mind: str, world: str) -> None:
    """Check that what other agents do next can be predicted: by the tasks of their plans.

    Args:
        mind: as the configuration names it.
        world: name of the world.

    Raises:
        ValueError: there is only one task in it; the message says which worlds have several.
    """
    if not skills_of(world).tasks:
        having = ", ".join(name for name in skills.names() if skills.get(name).tasks)
        raise ValueError(
            f"{mind} predicts the tasks of the others' plans, and in the world '{world}' there is but one; "
            f"worlds with several: {having}"
        )


def notation_of(prompts: PromptSet, world: World) -> Notation | None:
    """Return the notation that a set of prompts takes; None where it takes typed JSON."""
    if prompts.form != "text":
        return None
    return skills_of(world.name).notation(world.global_observation)


def prompts_of(world: str) -> Path:
    """Return the folder of a world's prompt templates, whether or not there is one."""
    return skills_of(world).prompts or SHIPPED / world
