"""Asks for an answer of the baselines, and again with the reasons while it cannot be read or carried out.

| answer | form |
|---|---|
| joint plan | `quorum.agents.coordination.asking` |
| talk | `{"thoughts": ..., "message": ..., "plans": null}`; or `plans` as in a joint plan, which states it |
| review | `{"thoughts": ..., "agrees": true, "reason": ..., "proposal": {...} or null}` |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, Protocol, TypeVar

from pydantic import Field

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.mind import View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.coordination.asking import JointAnswers, RoleSpeaker, SpeakerReply, form, read
from quorum.agents.coordination.joint import Proposal, Rejection, impossible, show_rejections
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import Thoughts, part, read_plan


class TalkAnswers(JointAnswers):
    """The answers of agents that talk; arguments as for a joint plan."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        self._talk = part(
            "TalkAnswer",
            "",
            thoughts=Thoughts,
            message=Annotated[str, Field(min_length=1, max_length=2000, description="what you say to the others")],
            plans=Annotated[list[self.entry] | None, Field(description="the joint plan; null to go on talking")],  # type: ignore[name-defined]
        )
        self.talk = form("talk", self._talk)
        """The form of what an agent says."""

    def read_talk(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan] | None]:
        """Read what an agent says, and the joint plan when it states one.

        Raises:
            Misread: it has not the form, or names agents that it may not name.
        """
        answer = read(self._talk, value)
        return answer.message, self.read_entries(answer.plans, asked) if answer.plans is not None else None


class ReviewAnswers(JointAnswers):
    """The answers of agents that agree or object; arguments as for a joint plan."""

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        super().__init__(vocabulary, max_actions, names, tasks)
        self._review = part(
            "ReviewAnswer",
            "",
            thoughts=Thoughts,
            agrees=bool,
            reason=Annotated[str, Field(max_length=1000, description="why you object; empty when you agree")],
            proposal=Annotated[
                self.plan | None, Field(description="the plan that you would have instead; null for none")
            ],
        )
        self.review = form("review", self._review)
        """The form of a review."""

    def read_review(self, value: object) -> tuple[bool, str, Plan | None]:
        """Read whether an agent agrees; if not, why, and what it would do.

        Raises:
            Misread: it has not the form.
        """
        answer = read(self._review, value)
        return answer.agrees, answer.reason, read_plan(answer.proposal) if answer.proposal is not None else None


class BaselineRole(StrEnum):
    """A role; the value is the name of its template in `prompts/baselines/`."""

    CENTRE = "centre"
    """Plans for the team."""
    DEBATER = "debater"
    """One of several who do so, and hear each other."""
    REVIEWER = "reviewer"
    """An agent that agrees or objects to the joint plan."""
    TALKER = "talker"
    """An agent that talks, or states the joint plan."""


class Judged(Protocol):
    """An answer that has been judged."""

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """What is wrong with it."""


T = TypeVar("T", bound=Judged)


@dataclass(frozen=True, slots=True)
class AskingResult(Generic[T]):
    """What came of asking.

    Attributes:
        answer: the last answer; without rejections unless all retries are used up.
        calls: all calls, in order.
    """

    answer: T
    calls: list[Call]


class Asker:
    """Asks the model of one participant for joint plans.

    Args:
        speaker: asks it once.
        answers: reads them.
        world: whose present state decides what can be carried out.
        retries: times that it asks again.
    """

    def __init__(self, speaker: RoleSpeaker, answers: JointAnswers, world: World, retries: int) -> None:
        self._speaker = speaker
        self._answers = answers
        self._world = world
        self.retries = retries

    async def joint(
        self, role: BaselineRole, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> AskingResult[Proposal]:
        """Ask for a joint plan.

        Args:
            role: who is to answer.
            view: the turn in which it is asked.
            asked: agents that it may have plans for.
            blocks: the data of the prompt.
        """

        def judge(answer: SpeakerReply) -> Proposal:
            return self._answers.proposal(answer, asked, lambda plans: impossible(self._world, plans))

        return await self.insist(role, self._answers.joint, judge, view, blocks, agents=len(asked))

    async def insist(
        self,
        role: BaselineRole,
        wanted: AnswerFormat,
        judge: Callable[[SpeakerReply], T],
        view: View,
        blocks: Mapping[str, object],
        *,
        agents: int,
    ) -> AskingResult[T]:
        """Ask until an answer has no rejections, or all retries are used up.

        Args:
            role: who is to answer.
            wanted: the form of the answer.
            judge: reads an answer and returns what is wrong with it.
            view: the turn in which it is asked.
            blocks: the data of the prompt; `refused` and `feedback` are added: the answer before, and what was wrong.
            agents: for how many agents the answer has a plan, at most.
        """
        calls: list[Call] = []
        refused: object = None
        feedback: list[dict[str, Any]] = []
        while True:
            given = {**blocks, "refused": refused, "feedback": feedback}
            asked = await self._speaker.ask(role, wanted, view, given, agents=agents)
            answer = judge(asked)
            calls.append(self._speaker.rejected(asked.call, answer.rejections))
            if not answer.rejections or len(calls) > self.retries:
                return AskingResult(answer, calls)
            refused, feedback = asked.value, show_rejections(role, answer.rejections, self._world.agents)
