"""The mind with hypotheses about others: it observes, scores, hypothesizes, predicts, and then plans.

Its prompts start with the system message common to all turns, then the data, and end with the role.
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
from quorum.agents.prompting.frame import Frame, always, turn_block
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
"""The template that shows predictions about others."""


def role_templates(prompts: PromptSet, world: str) -> Templates:
    """Read the templates of the roles, the same for every set, to follow the set's system message.

    Args:
        prompts: the prompt set.
        world: name of the world.

    Raises:
        ValueError: a template is missing, or the set's own folder contains nothing that is used.
    """
    parts = {"rules": prompts.rules, "system": prompts.system, "turn": prompts.turn, "expected": "expected.jinja"}
    parts |= {role.value: f"{role}.jinja" for role in TomRole}
    return Templates(world, prompts_of(world), parts, own=prompts.folder, kinds=("tom",))


class TomPrompts:
    """Writes the prompts of a team.

    Args:
        prompts: names of the templates.
        world: the world whose rules and vocabulary the prompts explain.
        max_actions: maximum number of actions in a plan, stated in the system message.
        thoughts: whether answers begin with thoughts if the set leaves that open, as in `TeamContext`.

    Raises:
        ValueError: a template is missing or cannot be read.
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
        """Return the answer schema for a role and some partners.

        The observer may name any task, because a task that another agent started may already be finished.

        Args:
            role: the answering role.
            view: the turn that follows the call.
            others: the data shown about each other agent, by name.
            partners: the partners, by name.
        """

        def grounded() -> Mapping[str, Any]:
            tasks = foreseen_of(self._world, view, others) if role is not TomRole.OBSERVER else None
            return ground(ground_partners(role, partners), {}, (), tasks)

        form = replace(FORMS[role], in_words=self._in_words, grounded=grounded)
        return with_thoughts(form, self._frame.room_for_thoughts(view, role))

    def write(self, role: TomRole, view: View, others: Mapping[str, object]) -> tuple[ChatMessage, ...]:
        """Write the messages of a call. Equal arguments give equal messages.

        Args:
            role: the answering role.
            view: the turn that follows the call; its problems are those of the previous answer.
            others: the data shown about each other agent, by name.

        Raises:
            ValueError: a template uses an undefined variable.
        """
        data = {
            "turn": turn_block(view, self._world.name, role=role),
            "observation": view.observation,
            "memory": write_messages(view.memory, view.names),
            "unread": write_messages(view.unread, view.names),
            "others": others,
            "problems": view.problems,
        }
        example = example_of(role, self._example)
        if not self._frame.room_for_thoughts(view, role):
            del example["thoughts"]
        turn, shown = replace(view, notes=()), {"example": write_example(example)}
        seen = frozenset({"observation"})
        return self._frame.write(turn, shown, data, required=seen, role=role, part=role.value)


@dataclass(eq=False)
class TomMind:
    """The mind of one agent (Hypothetical Minds, arXiv 2407.07086): a zero-shot planner with predictions about others.

    On the first attempt at a turn in which its agent needs a plan, it prompts its model in up to three roles. One call
    covers all other agents, and a role with nothing to ask is skipped:

    1. observer: names the task each agent has started since its prediction, which scores the hypotheses.
    2. hypothesizer: proposes a hypothesis for each agent without a valid one, given earlier ones of positive value.
    3. predictor: predicts each agent's next task from its valid hypothesis, or from all kept ones if none is valid.

    The zero-shot mind then answers the turn, with the predictions in its prompt. So a turn takes 1 to 4 calls, whatever
    the team size, and each call at most `repairs` retries. Turns to talk, and turns of an agent that may resume its
    plan, take 1 call; the latter show the latest predictions. A role without a valid answer changes nothing.

    Attributes:
        planner: answers the turns themselves.
        prompts: writes the prompts of the roles.
        asker: prompts the model in the roles.
        partners: knowledge of the other agents, by name, updated in place.
    """

    planner: NaiveMind
    prompts: TomPrompts
    asker: Asker
    partners: Mapping[str, Partner]

    async def think(self, view: View) -> Thought:
        """Predict the others' next tasks if the agent needs a plan, then answer the turn."""
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
        """Return the parsed answer of a role; None if `others` is empty or no answer is valid.

        Args:
            role: the answering role.
            view: the turn that follows the call.
            others: the data shown about each other agent, by name.
            read: parses an answer, or raises `InvalidThought`.
            calls: the list to which each call is added.
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
