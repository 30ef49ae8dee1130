"""Writes the prompts of the roles: the system message of all turns, then the data, and in the end the role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from maeil.mind import View
from maeil.names import fold_names
from maeil.world import World
from quorum.agents.llm.protocol import ChatMessage
from quorum.agents.naive.prompts import write_messages
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.frame import Frame, write_blocks
from quorum.agents.prompting.pictures import Pictures
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import Templates
from quorum.agents.skills import prompts_of, skills_of
from quorum.agents.tom.answers import example_of
from quorum.agents.tom.settings import TomRole


def role_templates(prompts: PromptSet, world: str, world_folder: Path) -> Templates:
    """Read the templates of the roles: the same words for every set, behind the system message of the set.

    Args:
        prompts: the set of prompts.
        world: name of the world.
        world_folder: where the world's own templates are.

    Raises:
        ValueError: a template is not there, or nothing in the set's own folder is used.
    """
    parts = {"rules": prompts.rules, "system": prompts.system, "turn": prompts.turn, "expected": "expected.jinja"}
    parts |= {role.value: f"{role}.jinja" for role in TomRole}
    return Templates(world, world_folder, parts, own=prompts.folder, kinds=("tom",))


class TomPrompts:
    """Writes the prompts of a team.

    Args:
        prompts: names of the templates.
        world: whose rules and vocabulary they tell.
        max_actions: actions of a plan, at most, which the system message states.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """

    def __init__(self, prompts: PromptSet, world: World, max_actions: int) -> None:
        templates = role_templates(prompts, world.name, prompts_of(world.name))
        self._frames = {role: Frame(templates, prompts, world, max_actions, turn=role.value) for role in TomRole}
        self._world = world.name
        self._task = skills_of(world.name).example(world).plan.task
        self._pictures = Pictures(world)

    def write(self, role: TomRole, view: View, others: Mapping[str, object]) -> tuple[ChatMessage, ...]:
        """Write the messages of a call: the same for equal arguments.

        Args:
            role: who is to answer.
            view: the turn before which it is asked; its problems are those of the answer before.
            others: what is shown of each of the others, by name.

        Raises:
            ValueError: a template asks for what there is not.
        """
        turn = {"world": self._world, "role": role, "you": view.name, "team": fold_names(view.names), "step": view.t}
        values = {
            "turn": turn,
            "observation": view.observation,
            "memory": write_messages(view.memory, view.names),
            "unread": write_messages(view.unread, view.names),
            "others": others,
            "problems": view.problems,
        }
        seen = self._pictures.see(view.agent)
        blocks = self._pictures.described(write_blocks(values, always=frozenset({"observation"})), "observation", seen)
        shown = {"example": write_example(example_of(role, next(iter(others)), self._task))}
        return self._pictures.attached(
            self._frames[role].write(replace(view, notes=()), shown, blocks, role=role), seen
        )
