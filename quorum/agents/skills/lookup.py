"""Finds a world's skills by name, and the templates and prompts that role teams need from them.

Skills come from this project, from installed packages and from plug-ins. A package offers its own with the entry point
`quorum.skills`, under the name of the world; a module given by `--plugin` calls `skills.register("name", ...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

from pydantic import PositiveInt

from maeil.component import TeamContext
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.llm.conversation import AskingConfig
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.templates import PromptSet, Templates, shipped_templates
from quorum.agents.skills.contract import WorldSkills
from quorum_base.registry import Registry

skills: Registry[WorldSkills] = Registry(
    "skills package",
    "worlds with skills",
    "env",
    "quorum.skills",
    lambda: WorldSkills,
)
roles: Registry[Callable[..., Any]] = Registry(
    "role of a world", "roles of worlds", "env", "quorum.roles", lambda: FunctionType
)
"""Roles that methods add to worlds' skills, by `WORLD.ROLE`."""


def skills_of(world: str) -> WorldSkills:
    """Return a world's skills by name; skills without any role if none are registered."""
    return skills.get(world) if world in skills.names() else WorldSkills(world)


def _find(world: str, role: str) -> Any:
    """Return a role of a world, from its skills or from a method that adds it; None if there is none."""
    found = skills_of(world)
    if found.has(role):
        return getattr(found, role)
    added = f"{world}.{role}"
    return roles.get(added) if added in roles.names() else None


def role_of(world: str, role: str, needed_by: str, default: Any = None) -> Any:
    """Return a role of a world's skills by name: the method, ready to call.

    Args:
        world: name of the world.
        role: name of the role.
        needed_by: the user of the role, as the configuration names it: `agents=planner`.
        default: replaces a missing role; None: the role is required.

    Raises:
        ValueError: the skills lack a required role; the message lists worlds that have it.
    """
    if (found := _find(world, role)) is not None:
        return found
    if default is not None:
        return default
    others = ", ".join(name for name in skills.names() if _find(name, role) is not None) or "none"
    raise ValueError(
        f"{needed_by} needs the skill '{role}', which the world '{world}' does not have; worlds that have it: {others}"
    )


def check_typed(mind: str, prompts: PromptSet) -> None:
    """Check that a prompt set uses typed JSON.

    Args:
        mind: the mind's name in the configuration.
        prompts: the prompt set.

    Raises:
        ValueError: it uses text.
    """
    if prompts.form == "text":
        raise ValueError(
            f"agents={mind} answers in typed JSON, but these prompts ask for text (prompts.form=text): they are for "
            "teams with roles, such as agents=llamac and agents=hmas2. Set prompts=default"
        )


def check_predictable(mind: str, world: str) -> None:
    """Check that the next tasks of other agents can be predicted in a world.

    Args:
        mind: the mind's name in the configuration.
        world: name of the world.

    Raises:
        ValueError: the world has only one task; the message lists worlds with several.
    """
    if not skills_of(world).tasks:
        others = ", ".join(name for name in skills.names() if skills.get(name).tasks)
        raise ValueError(
            f"{mind} predicts the tasks of other agents' plans, but the world '{world}' has only one task; "
            f"worlds with several: {others}"
        )


def notation_role(mind: str, prompts: PromptSet, world: str) -> Any:
    """Return the role `notation` of a world if a prompt set uses the world's text format; else None.

    Args:
        mind: the mind's name in the configuration.
        prompts: the prompt set.
        world: name of the world.

    Raises:
        ValueError: the set needs a text format but the world has none; the message lists worlds that do.
    """
    if prompts.form != "text":
        return None
    try:
        return role_of(world, "notation", f"agents={mind} with the text format of a world (prompts.form=text)")
    except ValueError as missing:
        raise ValueError(f"{missing}. Set prompts=default") from None


def prompts_of(world: str) -> Path:
    """Return the folder of a world's prompt templates, even if it does not exist."""
    return skills_of(world).prompts or shipped_templates(world)


class RoleTeamConfig(AskingConfig):
    """Base of the configurations of teams with roles."""

    pause: PositiveInt
    """Steps that an agent waits if there is no plan for it."""
    max_actions: PositiveInt
    """Maximum number of actions in a plan."""
    prompts: PromptSet
    """The prompt set."""


def templates_of_roles(config: RoleTeamConfig, world: str, kind: str, roles: Iterable[str]) -> Templates:
    """Read the templates of some roles in a world.

    Args:
        config: configuration of the team.
        world: name of the world.
        kind: folder name of the set of roles.
        roles: names of the roles.

    Raises:
        ValueError: a template is missing, none in the user's folder is used, or the world lacks the text format.
    """
    notation_role(config.name, config.prompts, world)
    return role_templates(world, prompts_of(world), kind, roles, config.prompts)


def prompts_of_roles(
    config: RoleTeamConfig,
    context: TeamContext,
    kind: str,
    roles: Iterable[str],
    *,
    forms: Sequence[AnswerFormat],
    tasks: bool = True,
    checks: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType({}),
) -> RolePrompts:
    """Return what writes the prompts of some roles; further arguments as of `RolePrompts`.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """
    world = context.world
    skills = skills_of(world.name)
    notation = notation_role(config.name, config.prompts, world.name)
    return RolePrompts(
        templates_of_roles(config, world.name, kind, roles),
        world,
        prompts=config.prompts,
        max_actions=config.max_actions,
        example=skills.example(world),
        tasks=tasks and skills.tasks,
        notation=notation(world.global_observation) if notation is not None else None,
        checks=checks,
        thoughts=context.thoughts,
        forms=forms,
    )
