"""Teams whose models are asked in roles: the values that all of them have, and their templates and prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from pydantic import PositiveInt

from maeil.component import ComponentConfig
from maeil.world import World
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import Templates
from quorum.agents.skills.lookup import notation_role, prompts_of, skills_of


class RoleTeamConfig(ComponentConfig):
    """Base of the configurations of teams that are asked in roles."""

    pause: PositiveInt
    """Steps that an agent waits for which there is no plan."""
    max_actions: PositiveInt
    """Actions of a plan, at most."""
    prompts: PromptSet
    """The set of prompts."""


def templates_of_roles(config: RoleTeamConfig, world: str, kind: str, roles: Iterable[str]) -> Templates:
    """Read the templates of some roles in a world.

    Args:
        config: values of the team.
        world: its name.
        kind: name of the folder of the set of roles.
        roles: the names of those that are asked.

    Raises:
        ValueError: a template is not there, nothing in the own folder is used, or the world lacks the text format.
    """
    notation_role(config.name, config.prompts, world)
    return role_templates(world, prompts_of(world), kind, roles, config.prompts)


def prompts_of_roles(
    config: RoleTeamConfig,
    world: World,
    kind: str,
    roles: Iterable[str],
    *,
    tasks: bool = True,
    checks: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType({}),
) -> RolePrompts:
    """Return what writes the prompts of some roles; further arguments as of `RolePrompts`.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """
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
    )
