"""Asks for a joint plan, and again with the reasons while it cannot be read or carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from maeil.calls import Call
from maeil.mind import View
from maeil.world import World
from quorum.agents.coordination.answers import JointAnswers
from quorum.agents.coordination.joint import Proposal, Rejection, impossible, told
from quorum.agents.coordination.speaker import RoleSpeaker, SpeakerReply
from quorum.agents.llm.protocol import AnswerFormat


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
            judge: reads an answer and tells what is wrong with it.
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
            refused, feedback = asked.value, told(role, answer.rejections, self._world.agents)
