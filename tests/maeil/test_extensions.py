"""The loop has extension points and no parameters for methods: what keeps it so, and what the hooks can do."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import maeil
from maeil import Component, Extension, Note, Plan, Thought, Turn, View, run_episode
from quorum.methods.predictions import Predictions
from quorum_base.components import shipped
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play, walk

ROOT = Path(maeil.__file__).parent
LOOP = (
    "component", "conversation", "extension", "mind", "plan_execution", "review", "scheduler", "settings", "stages",
    "team", "thinking", "topology",
)  # fmt: skip


def names(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


def test_a_method_adds_no_field_to_what_minds_see_and_say() -> None:
    """A method of the literature is an extension: it shows notes, and takes answers under its own name.

    So a new one touches its own folder and works with every mind. If this test fails, do not add the field here: give
    the extension a note (`View.notes`), a question (`Turn.asks`, `Thought.answers`) or a value with its own schema.
    """
    assert names(View) == {
        "agent", "name", "names", "turn", "t", "t_hat", "observation", "unread", "memory", "plan", "outcomes",
        "constraints", "problems", "team", "notes", "arrays",
    }  # fmt: skip
    assert names(Turn) == {
        "agent", "acts", "recipients", "limit", "role", "feedback", "task", "partners", "asks",
    }  # fmt: skip
    assert names(Thought) == {"decision", "messages", "calls", "failure", "answers"}
    assert names(Component) == {
        "config", "build", "uses_models", "talks", "inputs", "roles", "requires", "remembers", "compatible",
        "handover", "draws", "modules",
    }  # fmt: skip
    assert len(inspect.signature(run_episode).parameters) <= 8


def test_nothing_of_the_loop_knows_an_extension() -> None:
    code = "\n".join((ROOT / f"{name}.py").read_text(encoding="utf-8") for name in LOOP)
    found = re.findall(
        rf"\b({'|'.join({'heal', 'repair', 'predictions', 'describes', *shipped('extensions')} - DOES)})\b", code
    )
    assert not [name for name in found if name not in WORDS]


DOES = {"change", "branch", "describe"}
"""Names that are usual words, too."""
WORDS = {"repair"}
"""Named as an example by the docstring of `ExtensionContext.skill`."""


def test_scheduler_and_conversation_stay_small() -> None:
    assert sum(len((ROOT / f"{name}.py").read_text().splitlines()) for name in ("scheduler", "conversation")) <= 550


class Chatty(Extension):
    """Notes each hook; interrupts agent 0 after the second step; refuses walks of 2."""

    name = "chatty"

    def __init__(self) -> None:
        self.called: list[str] = []

    def conversation_begins(self, topology):
        self.called.append("conversation_begins")

    def before_thought(self, participant, turn):
        self.called.append("before_thought")
        return [Note("chatty", participant.index, "chat", [], Path("chat.jinja"))]

    def review(self, thought, view, author):
        self.called.append("review")
        walks = thought.decision.actions if isinstance(thought.decision, Plan) else ()
        return ["two is unlucky"] if any(isinstance(one, Walk) and one.steps == 2 for one in walks) else []

    def answered(self, view, answer):
        self.called.append(f"answered {answer}")

    async def conversation_rests(self, topology, conversation):
        self.called.append("conversation_rests")

    async def plans_committed(self):
        self.called.append("plans_committed")

    def after_step(self):
        self.called.append("after_step")
        if self.episode.team.now.t == 2:
            self.episode.interrupt(0, self.name)


def test_the_hooks_are_called_in_their_order_and_can_refuse_and_interrupt() -> None:
    chatty = Chatty()
    mind = Scripted(walk(2), lambda view: Thought(walk(3).decision, answers={"chatty": view.noted("chatty")}), walk(1))
    found = play([mind], Corridor(1, length=4), extensions=[chatty])
    assert chatty.called[:10] == [
        "conversation_begins", "conversation_rests", "before_thought", "review", "before_thought", "review",
        "answered [0]", "conversation_rests", "plans_committed", "after_step",
    ]  # fmt: skip
    assert [view.problems for view in mind.views] == [(), ("two is unlucky",), (), ()]
    assert "t=2 t^=2: agent 0 X->I chatty" in lines(found, "stage")


def test_several_extensions_take_their_turns_in_the_order_in_which_they_are_given() -> None:
    mind = Scripted(walk(3))
    play([mind], Corridor(1, length=3), extensions=[Predictions(), Chatty(), Predictions()])
    assert [note.source for note in mind.views[0].notes] == ["chatty"]
