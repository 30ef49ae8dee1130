"""Writes the prompts of the roles: one system message a role, and one message of blocks a call.

A set of roles has a folder, `llamac` or `baselines`, with a template for each role. A template is looked for in the
folder of this name in the user's folder and in `prompts/`, then in the user's folder, in `prompts/<world>/` and in
`prompts/common/`; so the rules of a world are those that `naive` tells. The data stand in the blocks of
`quorum.agents.naive.blocks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from jinja2 import TemplateError

from maeil.mind import View
from maeil.world import World
from quorum.agents.llm.protocol import ChatMessage, ChatRole
from quorum.agents.naive.blocks import write_block
from quorum.agents.naive.prompts import SHIPPED, find_template, template_environment
from quorum.agents.naive.vocabulary import describe


class RolePrompts:
    """Writes the prompts of a team.

    Args:
        kind: the set of roles: the name of its folder.
        roles: the names of the templates of the roles.
        world: whose rules and vocabulary they tell.
        folder: a folder of templates that come before the shipped ones; None: none.
        rules: template of the rules of the world.
        max_actions: actions of a plan, at most.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """

    def __init__(
        self, kind: str, roles: Iterable[str], world: World, *, folder: str | None, rules: str, max_actions: int
    ) -> None:
        own = [Path(folder)] if folder is not None else []
        places = [
            *(place / kind for place in own),
            SHIPPED / kind,
            *own,
            SHIPPED / world.name,
            SHIPPED / "common",
        ]
        environment = template_environment(tuple(place.absolute() for place in places))
        for name in (rules, *(f"{role}.jinja" for role in roles)):
            find_template(environment, name.removesuffix(".jinja"), name, world.name, places)
        self._system = find_template(environment, "system", "system.jinja", world.name, places)
        self._turn = find_template(environment, "turn", "turn.jinja", world.name, places)
        self._common: dict[str, object] = {
            "world": world.name,
            "actions": describe(world.vocabulary),
            "action_names": world.vocabulary.names,
            "max_actions": max_actions,
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
        who = {**self._common, "role": role, "name": view.name}
        try:
            return (
                ChatMessage(ChatRole.SYSTEM, self._system.render(who).strip()),
                ChatMessage(ChatRole.USER, self._turn.render({**who, "blocks": written}).strip()),
            )
        except TemplateError as error:
            raise ValueError(f"prompts: a template cannot be filled in: {error}") from error
