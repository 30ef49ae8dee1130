"""Writes the prompts of the roles. They share the system message with all who act in a world; the role stands last.

A set of roles has a folder, `llamac` or `baselines`, with a template for each role; both share those of `roles`. The
rules of a world are those that `naive` tells. The data stand in the blocks of `quorum.agents.prompting.blocks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from maeil.drawing import Depicted
from maeil.mind import View
from maeil.names import fold_names
from maeil.world import World
from quorum.agents.coordination.examples import role_example
from quorum.agents.coordination.notation import Notation
from quorum.agents.coordination.shown_plans import show_plans
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.frame import Frame, write_blocks
from quorum.agents.prompting.grounding import ground, ids_of
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.prompting.templates import Templates

AS_THEY_ARE = ("state", "observation", "refused")
"""Blocks that are shown as they are: those of the world, and what the one who is asked has answered itself."""


def role_templates(world: str, world_folder: Path, kind: str, roles: Iterable[str], prompts: PromptSet) -> Templates:
    """Read the templates of some roles.

    Args:
        world: name of the world.
        world_folder: where the world's own templates are.
        kind: name of the folder of the set of roles.
        roles: the names of those that are asked.
        prompts: the set of prompts.

    Raises:
        ValueError: a template is not there, or nothing in the own folder is used.
    """
    parts = {"rules": prompts.rules, **{str(role): prompts.for_role(str(role)) for role in roles}}
    parts |= {"system": prompts.system, "turn": prompts.for_role("turn")}
    return Templates(world, world_folder, parts, own=prompts.folder, kinds=(kind, "roles"))


class RolePrompts:
    """Writes the prompts of a team.

    Args:
        templates: of its roles.
        world: whose rules and vocabulary they tell.
        prompts: the set of prompts.
        max_actions: actions of a plan, at most.
        example: of the world.
        tasks: whether plans name what they are for.
        notation: of the values in them; None: typed JSON.
        checks: the rules that joint plans are judged by, told to those who make them; by who judges.

    Raises:
        ValueError: a template cannot be read, or the world shows observations as pictures.
    """

    def __init__(
        self,
        templates: Templates,
        world: World,
        *,
        prompts: PromptSet,
        max_actions: int,
        example: Example,
        tasks: bool = True,
        notation: Notation | None = None,
        checks: Mapping[str, Sequence[Mapping[str, str]]] = MappingProxyType({}),
    ) -> None:
        if isinstance(world, Depicted) and world.observation.has_picture:
            raise ValueError(
                f"env.observation={world.observation}: teams with roles plan from what several see, which no picture "
                "shows: set env.observation=text, or agents=naive"
            )
        self._frame = Frame(templates, prompts, world, max_actions, tasks=tasks)
        self._live = world
        self._world = world.name
        self._example = example
        self.notation = notation
        """What the values in the prompts are written in, and answers; None: typed JSON."""
        self._checks = checks
        self._in_words = prompts.form == "words"

    def wanted(self, form: AnswerFormat) -> AnswerFormat | None:
        """Return the form of an answer as these prompts ask for it; None for a text in the notation.

        An answer may plan for any agent of the team.
        """
        if self.notation is not None:
            return None

        def grounded() -> Mapping[str, Any]:
            return ground(form.schema, ids_of(self._live, None), self._live.agents)

        return replace(form, in_words=self._in_words, grounded=grounded)

    def write(
        self, role: str, view: View, blocks: Mapping[str, object], schema: Mapping[str, Any]
    ) -> tuple[ChatMessage, ...]:
        """Write the messages of a call: the same for equal arguments.

        Args:
            role: who is to answer.
            view: the turn in which it is asked.
            blocks: the data by name, in order; empty ones are left out.
            schema: of the answer.

        Raises:
            ValueError: a template asks for what there is not.
        """
        turn = {"world": self._world, "role": role, "you": view.name, "team": fold_names(view.names), "step": view.t}
        asked = blocks.get("asked")
        agent = asked[0] if isinstance(asked, list) else view.name
        shown: dict[str, Any] = {"checks": self._checks}
        if self.notation is not None:
            turn = {**turn, "text": True}
            blocks = {name: self.notation.write(value) for name, value in blocks.items()}
            turn = self.notation.write(turn)
            shown |= {"example": self.notation.example(role, agent), "name": turn["you"]}
        else:
            shown["example"] = write_example(role_example(schema, self._example, agent))
            blocks = {name: value if name in AS_THEY_ARE else show_plans(value) for name, value in blocks.items()}
            if isinstance(asked, list):
                blocks["asked"] = fold_names(asked)
        return self._frame.write(view, shown, write_blocks({"turn": turn, **blocks}), role=role)
