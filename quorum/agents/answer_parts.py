# ruff: noqa: ARG002 - methods that do nothing have no use for their arguments
"""The contract of answer parts: what a method adds to the answers of language models, and to the simulated one.

An extension that asks minds something (`Turn.asks`) brings a part of the answer, as it brings its notes. The minds
around language models ask for it, check it, and return it in `Thought.answers`; the simulated model answers it by the
same part. So no mind knows a method:

    class Mood(AnswerPart):
        name = "mood"
        keys = ("mood",)

        def types(self, view):
            return {"mood": Literal["calm", "hurried"]}

        def example(self, example, view):
            return {"mood": "calm"}

        def read(self, answer, view):
            return answer.mood

        def write(self, said, view):
            return {"mood": said}

        def says(self, asked):
            return asked.chooser.any_of(("calm", "hurried"))

    part = Mood()

The `components.json` in the folder of the method lists it: `{"answers": {"mood": "quorum.mood:part"}}`. An installed
package offers a part by the entry point `quorum.answers`, a module named by `--plugin` by `answer_parts.register`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maeil.actions import Vocabulary
from maeil.mind import Note, Thought, View
from maeil.world import World
from quorum.agents.prompting.examples import Example
from quorum.agents.skills import Chooser, Speaker, role_of
from quorum_base.registry import Registry


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn as the simulated model reads it from a prompt.

    Attributes:
        view: what the prompt shows; nothing else is known.
        blocks: the blocks of the prompt by name, as JSON.
        turn: the block `turn`.
        speaker: the rules of the world.
        informed: whether they are rules of this world, or know nothing of it.
        chooser: makes the choices of this answer.
    """

    view: View
    blocks: Mapping[str, str]
    turn: Mapping[str, Any]
    speaker: Speaker[Any]
    informed: bool
    chooser: Chooser

    def role(self, name: str, default: Any) -> Any:
        """Return a role of the world's skills, or a default where the rules lack it or know nothing of the world."""
        return role_of(self.turn["world"], name, "llm=simulated", default) if self.informed else default


class AnswerPart:
    """What a method adds to an answer. A part overrides what it needs; each method is pure."""

    name: str
    """The name of the extension, as in `Turn.asks` and `Thought.answers`."""
    keys: tuple[str, ...] = ()
    """Its keys in the JSON of an answer, in order."""
    first: bool = False
    """Whether its keys stand before what is said and decided, or between the two."""
    alone: bool = False
    """Whether its types follow from the view. The turns that ask for it ask for nothing else."""
    ending: str = ""
    """The name, without `.jinja`, of a template of the prompts that ends each prompt that asks for it; or none."""

    def wanted(self, view: View) -> bool:
        """Return whether a turn of a team that answers it asks for it."""
        return self.name in view.turn.asks

    def types(self, view: View) -> Mapping[str, Any]:
        """Return the type of each of its keys, as pydantic takes it."""
        return {}

    def narrowed(self, schema: Mapping[str, Any], view: View, world: World | None) -> Mapping[str, Any]:
        """Return the schema of an answer to one turn, with the names in it that this turn and the world allow.

        Args:
            schema: JSON schema of the answer, in which the types are definitions.
            view: the turn.
            world: it as it is now; None: narrow it to what the turn allows alone.
        """
        return schema

    def example(self, example: Example, view: View) -> Mapping[str, Any]:
        """Return an example of its keys, JSON-ready, made of what agents might answer on another board."""
        raise NotImplementedError

    def turn(self, view: View) -> Mapping[str, Any]:
        """Return what the block `turn` of a prompt shows when the turn asks for it."""
        return {}

    def read(self, answer: Any, view: View) -> Any:
        """Make the value for `Thought.answers` of a validated answer, whose attributes are the keys.

        Raises:
            maeil.errors.InvalidThought: this turn does not take it; the reasons say what to fix.
        """
        raise NotImplementedError

    def write(self, said: Any, view: View) -> Mapping[str, Any]:
        """Write a value as JSON-ready data by key: the inverse of `read`."""
        raise NotImplementedError

    def texts(self, said: Any) -> Sequence[str]:
        """Return the texts of a value to embed, where the topology wants embeddings (`Topology.embeds`)."""
        return ()

    def embedded(self, said: Any, vectors: Sequence[tuple[float, ...]]) -> Any:
        """Return a value with the embeddings of its texts; that of an empty text is empty."""
        return said

    def note(self, blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> Note | None:
        """Read the extension's note from the blocks of a prompt, for the simulated model; None without one.

        Args:
            blocks: by name, as JSON.
            index: of each participant, by its name.
            vocabulary: of plans.

        Raises:
            KeyError, ValueError: a block is not what the extension writes.
        """
        return None

    def asked(self, turn: Mapping[str, Any]) -> bool:
        """Return whether a prompt asks for it, by its block `turn`."""
        return self.name in turn["may"]

    def thinks(self, asked: Asked) -> Thought | None:
        """Return what the simulated model decides and says in place of what it would without the method, or None."""
        return None

    def says(self, asked: Asked) -> Any:
        """Return what the simulated model answers: a value as `read` returns it."""
        raise NotImplementedError


answer_parts: Registry[AnswerPart] = Registry(
    "answer part", "answer parts", "extension", "quorum.answers", lambda: AnswerPart
)
"""The answer parts by the names of their extensions."""


def parts_of(names: Collection[str]) -> list[AnswerPart]:
    """Return the parts of some extensions, in the order of their names; one that has none is left out."""
    if not names:
        return []
    return [answer_parts.get(name) for name in sorted(set(names).intersection(answer_parts.names()))]


def all_parts() -> list[AnswerPart]:
    """Return all parts, in the order of their names."""
    return parts_of(answer_parts.names())
