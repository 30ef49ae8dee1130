"""The frame of every prompt: a system message shared by a whole sweep, then data, then the participant's identity.

The templates determine wording and order; information about the world and other agents comes only from blocks
(`quorum.agents.prompting.blocks`). Templates receive no wall time, cognitive time or anything else that differs between
equal runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Template, TemplateError

from maeil.mind import Act, Note, View
from maeil.world import World
from quorum.agents.llm.protocol import ChatMessage, ChatRole
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.marks import marks
from quorum.agents.prompting.pictures import Pictures
from quorum.agents.prompting.templates import PromptSet, Templates, place_of, reason_of
from quorum.agents.prompting.vocabulary import describe, tell
from quorum_base.names import fold_names
from quorum_base.user_errors import UserError


def always(_participant: str, _role: str) -> bool:
    """Default policy: ask every model for its reasoning."""
    return True


@dataclass(eq=False)
class Frame:
    """Fills in the templates of a team.

    Attributes:
        templates: its parts, including `system`, `turn` and `rules`.
        prompts: the prompt set that names them.
        world: provides the rules and the vocabulary.
        max_actions: maximum number of actions in a plan.
        tasks: whether plans name their task.
        thoughts: whether answers start with thoughts if the prompt set leaves that open, as in `TeamContext`.

    Raises:
        ValueError: a template cannot be read.
    """

    templates: Templates
    prompts: PromptSet
    world: World
    max_actions: int
    tasks: bool = True
    thoughts: Callable[[str, str], bool] = always

    def __post_init__(self) -> None:
        """Read the templates and the common parts of all prompts."""
        world = self.world
        self._parts = {part: self.templates.find(part) for part in self.templates.parts}
        self._pictures = Pictures(world)
        entries = describe(world.vocabulary, world.agents)
        self._common: dict[str, Any] = {
            "world": world.name,
            "facts": dict(world.prompt_facts()),
            "actions": entries,
            "calls": tell(entries),
            "action_names": world.vocabulary.names,
            "max_actions": self.max_actions,
            "tasks": self.tasks,
            "agents": len(world.agents),
        }
        self._systems: dict[tuple[str, str, int], str] = {}

    def room_for_thoughts(self, view: View, role: str = "") -> int:
        """Return the maximum length of an answer's thoughts in characters; 0: it has none.

        Args:
            view: the turn.
            role: the participant's role; empty: the role of the turn.
        """
        return self.prompts.room_for_thoughts(self.thoughts(view.name, role or view.turn.role))

    def write(
        self,
        view: View,
        turn: Mapping[str, object],
        data: Mapping[str, object],
        *,
        required: frozenset[str] = frozenset(),
        role: str = "",
        part: str = "turn",
        last: Sequence[Template] = (),
    ) -> tuple[ChatMessage, ...]:
        """Write the messages of a turn; equal arguments give equal messages.

        The notes of the turn come last, for every mind: the data of each as a block, in its own template.

        Args:
            view: the turn.
            turn: additional variables for the template of the turn's message.
            data: the data of the blocks, by name; empty blocks are omitted.
            required: names of blocks that are written even if they are empty.
            role: in a set of roles, the role that answers.
            part: the template part of the turn's message.
            last: templates that follow the turn's message and its notes.

        Raises:
            UserError: a template uses an undefined variable; the message names its place.
            ValueError: the template of a note cannot be read.
        """
        embodied, thoughts = view.agent < len(self.world.agents), self.room_for_thoughts(view, role)
        seen = self._pictures.see(view.agent if embodied else None)
        notes = {note.block: note.shown for note in view.notes if note.shown}
        blocks = {
            name: write_block(name, value) for name, value in {**data, **notes}.items() if value or name in required
        }
        if seen is not None:
            blocks = self._pictures.described(blocks, seen)
        who = {
            **self._common,
            "prompts": {**self.prompts.model_dump(), "role": self.prompts.for_role(role)},
            "role": role,
            "thoughts": thoughts,
            "name": view.name,
            "names": view.names,
            "embodied": embodied,
        }
        of_turn = {
            "asks": sorted(view.turn.asks),
            "may_speak": Act.SPEAK in view.turn.acts and bool(view.turn.recipients),
            "may_plan": Act.PLAN in view.turn.acts,
            "has_plan": view.may_resume,
        }
        try:
            asking = (view.name, role, thoughts)
            if asking not in self._systems:
                self._systems[asking] = self._parts["system"].render(who).strip()
            parts = (self._parts[part], *map(self._template_of, view.notes), *last)
            values = {**who, **of_turn, **turn, "blocks": blocks}
            asked = "\n\n".join(template.render(values).strip() for template in parts)
            system = ChatMessage(ChatRole.SYSTEM, self._systems[asking])
            pictures = () if seen is None else (self._pictures.painted(seen),)
            return system, ChatMessage(ChatRole.USER, asked, marks(asked), pictures)
        except TemplateError as error:
            names = (*who, *turn, *self._common["facts"], *blocks)
            reason = reason_of(error, names)
            raise UserError(f"prompts: a template cannot be filled in: {reason}{place_of(error)}") from error

    def _template_of(self, note: Note) -> Template:
        return self.templates.of_extension(note.template, self.prompts.folder).find(note.template.stem)


def turn_block(view: View, world: str, **more: object) -> dict[str, object]:
    """Return the block `turn` of a prompt: the agent of the turn and its time."""
    return {"world": world, "you": view.name, "team": fold_names(view.names), "step": view.t, **more}
