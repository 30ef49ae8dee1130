"""Writes the prompts of the roles: one system message a role, and one message of blocks a call.

A set of roles has a folder, `llamac` or `baselines`, with a template for each role; both share those of `roles`. The
rules of a world are those that `naive` tells. The data stand in the blocks of `quorum.agents.prompting.blocks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import TemplateError

from maeil.mind import View
from maeil.world import World
from quorum.agents.llm.protocol import ChatMessage, ChatRole
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.templates import Templates
from quorum.agents.prompting.vocabulary import describe


def role_templates(
    world: str, world_folder: Path, kind: str, roles: Iterable[str], *, rules: str, own: str | None
) -> Templates:
    """Read the templates of some roles.

    Args:
        world: name of the world.
        world_folder: where the world's own templates are.
        kind: name of the folder of the set of roles.
        roles: the names of the templates of those that are asked.
        rules: template of the rules of the world.
        own: a folder of templates that come before the shipped ones; None: none.

    Raises:
        ValueError: a template is not there, or nothing in the own folder is used.
    """
    parts = {"rules": rules, **{str(role): f"{role}.jinja" for role in roles}}
    parts |= {"system": "system.jinja", "turn": "turn.jinja"}
    return Templates(world, world_folder, parts, own=own, kinds=(kind, "roles"))


class RolePrompts:
    """Writes the prompts of a team.

    Args:
        templates: of its roles.
        world: whose rules and vocabulary they tell.
        rules: template of the rules of the world.
        max_actions: actions of a plan, at most.
        tasks: whether plans name what they are for.

    Raises:
        ValueError: a template cannot be read.
    """

    def __init__(self, templates: Templates, world: World, *, rules: str, max_actions: int, tasks: bool = True) -> None:
        for part in templates.parts:
            templates.find(part)
        self._system, self._turn = templates.find("system"), templates.find("turn")
        self._agents = len(world.agents)
        self._common: dict[str, object] = {
            "world": world.name,
            "actions": describe(world.vocabulary),
            "action_names": world.vocabulary.names,
            "max_actions": max_actions,
            "tasks": tasks,
            "agents": len(world.agents),
            "prompts": {"rules": rules},
        }

    def write(self, role: str, view: View, blocks: Mapping[str, object]) -> tuple[ChatMessage, ...]:
        """Write the messages of a call: the same for equal arguments.

        Args:
            role: who is to answer.
            view: the turn in which it is asked.
            blocks: the data by name, in order; empty ones are left out.

        Raises:
            ValueError: a template asks for what there is not.
        """
        turn = {
            "world": self._common["world"],
            "vocabulary": self._common["action_names"],
            "role": role,
            "you": view.name,
            "team": view.names,
            "step": view.t,
        }
        written = {name: write_block(name, value) for name, value in {"turn": turn, **blocks}.items() if value}
        who = {**self._common, "role": role, "name": view.name, "embodied": view.agent < self._agents}
        try:
            return (
                ChatMessage(ChatRole.SYSTEM, self._system.render(who).strip()),
                ChatMessage(ChatRole.USER, self._turn.render({**who, "blocks": written}).strip()),
            )
        except TemplateError as error:
            raise ValueError(f"prompts: a template cannot be filled in: {error}") from error
