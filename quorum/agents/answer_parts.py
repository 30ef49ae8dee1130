# ruff: noqa: ARG002 - default methods ignore their arguments
"""The contract of answer parts: keys that a method adds to the answers of language models.

An extension that asks agents for something (`Turn.asks`) brings an answer part, as it brings its notes. Minds based on
language models ask for the part, check it, and return it in `Thought.answers`; the simulated model uses the same part
to answer. So minds need no code for individual methods:

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

The `components.json` in the method's folder lists the part: `{"answers": {"mood": "quorum.mood:part"}}`. Installed
packages offer a part with the entry point `quorum.answers`, and modules given by `--plugin` call
`answer_parts.register`.
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
        view: what the prompt shows, and nothing more.
        blocks: the blocks of the prompt by name, as JSON.
        turn: the block `turn`.
        speaker: the rules of the world.
        informed: whether these are rules of this world; otherwise they know nothing of it.
        chooser: makes the choices of this answer.
    """

    view: View
    blocks: Mapping[str, str]
    turn: Mapping[str, Any]
    speaker: Speaker[Any]
    informed: bool
    chooser: Chooser

    def role(self, name: str, default: Any) -> Any:
        """Return a role of the world's skills, or a default if the rules lack it or know nothing of the world."""
        return role_of(self.turn["world"], name, "llm=simulated", default) if self.informed else default


class AnswerPart:
    """Keys that a method adds to an answer. Subclasses override what they need; every method is pure."""

    name: str
    """Name of the extension, as in `Turn.asks` and `Thought.answers`."""
    keys: tuple[str, ...] = ()
    """Its keys in the JSON of an answer, in order."""
    first: bool = False
    """Whether its keys come before the messages and decisions of an answer, or between the two."""
    alone: bool = False
    """Whether its types depend on the view. Turns that ask for such a part ask for nothing else."""
    ending: str = ""
    """Name, without `.jinja`, of the template that ends each prompt that asks for this part; may be empty."""

    def wanted(self, view: View) -> bool:
        """Return whether a turn asks for this part, in a team that answers it."""
        return self.name in view.turn.asks

    def types(self, view: View) -> Mapping[str, Any]:
        """Return the type of each key, as a pydantic annotation."""
        return {}

    def narrowed(self, schema: Mapping[str, Any], view: View, world: World | None) -> Mapping[str, Any]:
        """Return the answer schema of one turn, narrowed to the names that this turn and the world allow.

        Args:
            schema: JSON schema of the answer, with the types as definitions.
            view: the turn.
            world: its current state; None narrows only to what the turn allows.
        """
        return schema

    def example(self, example: Example, view: View) -> Mapping[str, Any]:
        """Return an example of its keys, JSON-ready: an answer that agents might give on another board."""
        raise NotImplementedError

    def turn(self, view: View) -> Mapping[str, Any]:
        """Return the data added to the block `turn` of a prompt when the turn asks for this part."""
        return {}

    def read(self, answer: Any, view: View) -> Any:
        """Convert a validated answer, with the keys as attributes, to the value for `Thought.answers`.

        Raises:
            maeil.errors.InvalidThought: this turn does not accept it; the reasons say what to fix.
        """
        raise NotImplementedError

    def write(self, said: Any, view: View) -> Mapping[str, Any]:
        """Write a value as JSON-ready data by key: the inverse of `read`."""
        raise NotImplementedError

    def texts(self, said: Any) -> Sequence[str]:
        """Return the texts of a value to embed, for topologies that want embeddings (`Topology.embeds`)."""
        return ()

    def embedded(self, said: Any, vectors: Sequence[tuple[float, ...]]) -> Any:
        """Return a value with the embeddings of its texts; an empty text has an empty embedding."""
        return said

    def note(self, blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> Note | None:
        """Read the extension's note from the blocks of a prompt, for the simulated model; None if it has none.

        Args:
            blocks: the blocks by name, as JSON.
            index: index of each participant by name.
            vocabulary: the vocabulary of plans.

        Raises:
            KeyError, ValueError: the extension did not write this block.
        """
        return None

    def asked(self, turn: Mapping[str, Any]) -> bool:
        """Return whether a prompt asks for this part, given its block `turn`."""
        return self.name in turn["may"]

    def thinks(self, asked: Asked) -> Thought | None:
        """Return the simulated model's thought if the method changes it, else None."""
        return None

    def says(self, asked: Asked) -> Any:
        """Return the simulated model's answer: a value as returned by `read`."""
        raise NotImplementedError


answer_parts: Registry[AnswerPart] = Registry(
    "answer part", "answer parts", "extension", "quorum.answers", lambda: AnswerPart
)
"""The answer parts by extension name."""


def parts_of(names: Collection[str]) -> list[AnswerPart]:
    """Return the parts of the named extensions that have one, in the order of the names."""
    if not names:
        return []
    return [answer_parts.get(name) for name in sorted(set(names).intersection(answer_parts.names()))]


def all_parts() -> list[AnswerPart]:
    """Return all parts, ordered by name."""
    return parts_of(answer_parts.names())
