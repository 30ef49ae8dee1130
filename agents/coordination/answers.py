"""The joint plan as a typed answer: `{"thoughts": ..., "plans": [{"agent": ..., "plan": {...}}]}`.

The thoughts are those of the whole answer: a plan in it has a task and actions, and no reason of its own, so that the
answer for a large team stays short. An agent without an entry waits. Entries are a list, not an object by agent, so
that an agent that is named twice is seen and refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from pydantic import BaseModel

from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.names import fold_names
from maeil.plans import Plan
from quorum.agents.coordination.joint import DUPLICATE, FORM, NOT_ASKED, STRANGER, Proposal, Rejection, unreadable
from quorum.agents.coordination.speaker import SpeakerReply
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import Thoughts, checked, part, plan_model, read_plan, tidy


class Misread(Exception):
    """An answer that is no joint plan; `rejections` say why."""

    def __init__(self, rejections: Sequence[Rejection]) -> None:
        super().__init__("; ".join(rejection.text for rejection in rejections))
        self.rejections = tuple(rejections)


class JointAnswers:
    """The answers of those who plan for a team.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
        names: of the agents, by index.
        tasks: whether plans name what they are for.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        self.plan: Any = plan_model(vocabulary, max_actions, rationale=False, task=tasks)
        """The model of one agent's plan."""
        self.entry: Any = part("EntryAnswer", "", agent=str, plan=self.plan)
        """The model of one agent's part of a joint plan."""
        self._names = tuple(names)
        self._index = {name: index for index, name in enumerate(names)}
        self._joint = part("JointPlanAnswer", "", thoughts=Thoughts, plans=list[self.entry])  # type: ignore[name-defined]
        self.joint = form("joint_plan", self._joint)
        """The form of a joint plan."""

    def read_joint(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan]]:
        """Read the thoughts and the joint plan of an answer.

        Raises:
            Misread: it has not the form, or names agents that it may not name.
        """
        answer = read(self._joint, value)
        return answer.thoughts, self.read_entries(answer.plans, asked)

    def proposal(
        self, answer: SpeakerReply, asked: Collection[int], judge: Callable[[dict[int, Plan]], tuple[Rejection, ...]]
    ) -> Proposal:
        """Read a joint plan, and judge it; an answer that cannot be read is a proposal, too, with the reasons.

        Args:
            answer: what came of asking for it.
            asked: agents that it may have plans for.
            judge: tells what is wrong with plans that can be read.
        """
        if answer.value is None:
            return unreadable(answer.reasons)
        try:
            thoughts, plans = self.read_joint(answer.value, asked)
        except Misread as error:
            return Proposal({}, "", error.rejections, readable=False)
        return Proposal(plans, thoughts, judge(plans))

    def read_entries(self, entries: Sequence[Any], asked: Collection[int]) -> dict[int, Plan]:
        """Read the plans of validated entries.

        Raises:
            Misread: they name agents that they may not name.
        """
        indices = self.agents([entry.agent for entry in entries], asked)
        return {agent: read_plan(entry.plan) for agent, entry in zip(indices, entries, strict=True)}

    def agents(self, names: Sequence[str], asked: Collection[int]) -> list[int]:
        """Find the agents that entries name.

        Raises:
            Misread: one is not in the team, is named twice, or was not asked about.
        """
        allowed = ", ".join(fold_names([self._names[agent] for agent in sorted(asked)]))
        rejections = [
            Rejection(STRANGER, (), f"there is no agent {name!r}") for name in names if name not in self._index
        ]
        indices = [self._index[name] for name in names if name in self._index]
        rejections += [
            Rejection(DUPLICATE, (agent,), f"{self._names[agent]} has {count} entries; give one")
            for agent, count in sorted(Counter(indices).items())
            if count > 1
        ]
        rejections += [
            Rejection(
                NOT_ASKED,
                (agent,),
                f"{self._names[agent]} goes on with what it does; the agents asked about are {allowed}",
            )
            for agent in sorted(set(indices) - set(asked))
        ]
        if rejections:
            raise Misread(rejections)
        return indices


def form(name: str, model: type[BaseModel]) -> AnswerFormat:
    """Return the form of an answer."""
    return AnswerFormat(name, tidy(model.model_json_schema()))


def read(model: type[BaseModel], value: object) -> Any:
    """Validate an answer.

    Raises:
        Misread: it has not the form.
    """
    try:
        return checked(model, value)
    except InvalidThought as error:
        raise Misread([Rejection(FORM, (), reason) for reason in error.reasons]) from None
