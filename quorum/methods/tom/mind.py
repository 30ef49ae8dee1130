"""The mind that has hypotheses about the others: observe, score, hypothesize, predict, and then plan.

Its prompts have the system message of all turns, then the data, and in the end the role.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from maeil.calls import Call
from maeil.mind import Act as TurnAct
from maeil.mind import Note, Thought, View
from maeil.world import World
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage
from quorum.agents.naive import NaiveMind
from quorum.agents.naive.prompts import write_messages
from quorum.agents.prompting.answers import task_value, with_thoughts
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.frame import Frame, always, turn_block, write_blocks
from quorum.agents.prompting.requests import Asker
from quorum.agents.prompting.schemas import foreseen_of, ground
from quorum.agents.prompting.templates import SHIPPED, PromptSet, Templates
from quorum.agents.skills import prompts_of, skills_of
from quorum.methods.predictions import Predictions
from quorum.methods.tom.answers import (
    FORMS,
    Partners,
    TomRole,
    example_of,
    ground_partners,
    read_acts,
    read_forecasts,
    read_hypotheses,
)
from quorum.methods.tom.hypotheses import Act, Partner

T = TypeVar("T")
EXPECTED = SHIPPED / "common" / "expected.jinja"
"""The template of what a mind expects of the others."""


def role_templates(prompts: PromptSet, world: str) -> Templates:
    """Read the templates of the roles: the same words for every set, behind the system message of the set.

    Args:
        prompts: the set of prompts.
        world: name of the world.

    Raises:
        ValueError: a template is not there, or nothing in the set's own folder is used.
    """
    parts = {"rules": prompts.rules, "system": prompts.system, "turn": prompts.turn, "expected": "expected.jinja"}
    parts |= {role.value: f"{role}.jinja" for role in TomRole}
    return Templates(world, prompts_of(world), parts, own=prompts.folder, kinds=("tom",))


class TomPrompts:
    """Writes the prompts of a team.

    Args:
        prompts: names of the templates.
        world: whose rules and vocabulary they tell.
        max_actions: actions of a plan, at most, which the system message states.
        thoughts: whether answers begin with thoughts where the set leaves that open, as in `TeamContext`.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """

    def __init__(
        self,
        prompts: PromptSet,
        world: World,
        max_actions: int,
        thoughts: Callable[[str, str], bool] = always,
    ) -> None:
        templates = role_templates(prompts, world.name)
        self._frame = Frame(templates, prompts, world, max_actions, thoughts=thoughts)
        self._world = world
        self._example = skills_of(world.name).example(world)
        self._in_words = prompts.form == "words"

    def wanted(self, role: TomRole, view: View, others: Mapping[str, object], partners: Partners) -> AnswerFormat:
        """Return the form of an answer about some partners.

        The observer may name any task: what somebody has taken up can be done by now.

        Args:
            role: who is to answer.
            view: the turn before which it is asked.
            others: what is shown of each of the others, by name.
            partners: what is known of them, by name.
        """

        def grounded() -> Mapping[str, Any]:
            tasks = foreseen_of(self._world, view, others) if role is not TomRole.OBSERVER else None
            return ground(ground_partners(role, partners), {}, (), tasks)

        form = replace(FORMS[role], in_words=self._in_words, grounded=grounded)
        return with_thoughts(form, self._frame.room_for_thoughts(view, role))

    def write(self, role: TomRole, view: View, others: Mapping[str, object]) -> tuple[ChatMessage, ...]:
        """Write the messages of a call: the same for equal arguments.

        Args:
            role: who is to answer.
            view: the turn before which it is asked; its problems are those of the answer before.
            others: what is shown of each of the others, by name.

        Raises:
            ValueError: a template asks for what there is not.
        """
        values = {
            "turn": turn_block(view, self._world.name, role=role),
            "observation": view.observation,
            "memory": write_messages(view.memory, view.names),
            "unread": write_messages(view.unread, view.names),
            "others": others,
            "problems": view.problems,
        }
        blocks = write_blocks(values, always=frozenset({"observation"}))
        example = example_of(role, self._example)
        if not self._frame.room_for_thoughts(view, role):
            del example["thoughts"]
        turn, shown = replace(view, notes=()), {"example": write_example(example)}
        return self._frame.write(turn, shown, blocks, role=role, part=role.value)


@dataclass(eq=False)
class TomMind:
    """The mind of one agent (Hypothetical Minds, arXiv 2407.07086): a zero-shot planner that knows what to expect.

    Before a turn in which its agent needs a plan, at its first try, it asks its model in three roles, each for all of
    the others at once, each only where there is something to ask:

    1. observer: what each has taken up since it was predicted. The hypotheses are scored by it.
    2. hypothesizer: another hypothesis about each of whom none is valid, with those before it that are worth something.
    3. predictor: what each does next, by its valid hypothesis, or by all that are kept where none is.

    Then the turn itself is asked, as of a zero-shot mind, with what is expected of each in its prompt. So a turn takes
    1 to 4 calls, whatever the size of the team, and each of them `repairs` more at most. Turns for talk, and those of
    one who could go on with its plan, take 1; the latter is shown what was expected last. A role that gives no valid
    answer leaves things as they are.

    Attributes:
        planner: asks the turns themselves.
        prompts: writes the prompts of the roles.
        asker: asks the model in the roles.
        partners: the others by name, as far as they are known; it is brought up to date.
    """

    planner: NaiveMind
    prompts: TomPrompts
    asker: Asker
    partners: Mapping[str, Partner]

    async def think(self, view: View) -> Thought:
        """Find out what the others do next, where the agent needs a plan, and answer the turn."""
        if TurnAct.PLAN not in view.turn.acts or not self.partners:
            return await self.planner.think(view)
        calls: list[Call] = []
        if not view.may_resume and not view.problems:
            await self._observe(view, calls)
            await self._hypothesize(view, calls)
            await self._predict(view, calls)
        expected = tuple(one.expected for one in self.partners.values() if one.expected is not None)
        shown = {view.names[one.agent]: task_value(one.task) for one in expected}
        note = Note("tom", expected, "expected", shown, EXPECTED)
        thought = await self.planner.think(replace(view, notes=(*view.notes, note)) if expected else view)
        said = () if view.may_resume else expected
        return replace(thought, answers={**thought.answers, Predictions.name: said}, calls=(*calls, *thought.calls))

    async def _observe(self, view: View, calls: list[Call]) -> None:
        awaited = {name: one for name, one in self.partners.items() if one.awaited}
        shown = {name: {"last": task_value(one.last)} for name, one in awaited.items()}
        acts = await self._ask(TomRole.OBSERVER, view, shown, read_acts, calls)
        for name, task in (acts or {}).items():
            awaited[name].observe(Act(view.t, task))

    async def _hypothesize(self, view: View, calls: list[Call]) -> None:
        wanting = {name: one for name, one in self.partners.items() if one.valid is None}
        shown = {
            name: {
                "acts": [[act.t, task_value(act.task)] for act in one.acts],
                "hypotheses": [{"hypothesis": h.text, "value": round(h.value, 3)} for h in one.shown],
            }
            for name, one in wanting.items()
        }
        texts = await self._ask(TomRole.HYPOTHESIZER, view, shown, read_hypotheses, calls)
        for name, text in (texts or {}).items():
            wanting[name].add(text)

    async def _predict(self, view: View, calls: list[Call]) -> None:
        known = {name: one for name, one in self.partners.items() if one.hypotheses}
        shown = {
            name: {"last": task_value(one.last), "hypotheses": {str(h.number): h.text for h in one.predicting}}
            for name, one in known.items()
        }
        forecasts = await self._ask(TomRole.PREDICTOR, view, shown, read_forecasts, calls)
        for name, tasks in (forecasts or {}).items():
            known[name].predict(tasks)

    async def _ask(
        self,
        role: TomRole,
        view: View,
        others: Mapping[str, object],
        read: Callable[[object, Mapping[str, Partner]], T],
        calls: list[Call],
    ) -> T | None:
        """Return what an answer in a role says; None where nobody is asked about, or there is no valid one.

        Args:
            role: who is to answer.
            view: the turn before which it is asked.
            others: what is shown of each of the others, by name.
            read: reads an answer about them, or raises `InvalidThought`.
            calls: where each call is added.
        """
        if not others:
            return None
        problems: list[str] = []
        partners = {name: self.partners[name] for name in others}

        def write(reasons: tuple[str, ...]) -> tuple[ChatMessage, ...]:
            problems.extend(reasons)
            return self.prompts.write(role, replace(view, problems=tuple(problems)), others)

        wanted = self.prompts.wanted(role, view, others, partners)
        found, _, made = await self.asker.ask(write, wanted, lambda value: read(value, partners), view, role=role)
        calls += made
        return found
