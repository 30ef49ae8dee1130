"""The agents of the baselines that ask a model: reviewers (HMAS-2), and talkers (DMAS, HMAS-1; arXiv 2309.15943)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maeil.calls import Call
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.baselines.asking import Asker, BaselineRole, ReviewAnswers, TalkAnswers
from quorum.agents.baselines.coordinator import History
from quorum.agents.coordination.asking import Misread, RoleSpeaker, SpeakerReply
from quorum.agents.coordination.follower import Follower, carry_out
from quorum.agents.coordination.joint import (
    NoJointPlan,
    Objection,
    Rejection,
    directive,
    feedback,
    impossible,
    look,
    named,
    read_directive,
    unreadable,
)
from quorum.agents.skills import Briefing

AGREED = "I agree."


class Reviewer(Follower):
    """An agent that asks its model whether it agrees with each joint plan in which it has a part.

    An answer that cannot be read is no objection.

    Args:
        speaker: asks its model.
        answers: the form of its answer.
        world: whose actions it takes.
        pause: steps that it waits without a part.
    """

    def __init__(self, speaker: RoleSpeaker, answers: ReviewAnswers, world: World, pause: int) -> None:
        super().__init__(world, pause)
        self._speaker = speaker
        self._answers = answers

    async def answer(self, view: View) -> Thought:
        """Agree or object."""
        if Act.ACKNOWLEDGE not in view.turn.acts:
            return Thought()
        own = {view.agent: self._joint[view.agent]}
        others = {agent: plan for agent, plan in self._joint.items() if agent != view.agent}
        blocks = {
            "observation": view.observation,
            "suggestion": named(own, view.names)[view.name],
            "others": named(others, view.names),
        }
        asked = await self._speaker.ask(BaselineRole.REVIEWER, self._answers.review, view, blocks)
        if asked.value is None:
            return Thought(calls=(asked.call,))
        try:
            agrees, reason, proposal = self._answers.read_review(asked.value)
        except Misread as error:
            return Thought(calls=(self._speaker.rejected(asked.call, error.rejections),))
        if agrees:
            draft = Draft(view.turn.recipients, AGREED, MessageKind.ACK)
        else:
            draft = feedback(view.turn.recipients, Objection(view.agent, issue=reason, proposal=proposal))
        return Thought(messages=(draft,), calls=(asked.call,))


ALONE = "alone"
"""The role of an agent that has nobody to talk to (`topologies/dialogue.py`)."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """What an agent has to say.

    Attributes:
        text: to the others.
        plans: the joint plan, when it states one.
        rejections: what is wrong with that.
    """

    text: str
    plans: dict[int, Plan] | None
    rejections: tuple[Rejection, ...] = ()


class Talker:
    """The mind of an agent in a dialogue (`topologies/dialogue.py`).

    In its turn it says something to the others, or states the joint plan for all who talk, which ends the dialogue.
    When nobody has stated one, the plan of the coordinator who has opened the dialogue stands; without a coordinator
    there is none, and all are idle for a step. An agent with nobody to talk to makes a plan for itself alone.

    Args:
        asker: asks its model.
        answers: the form of its answers.
        world: what the state is read from.
        briefing: how the state is shown to it.
        history: what it remembers.
        pause: steps that it waits without a part.
        turns: how often it may speak in a dialogue.
    """

    def __init__(
        self,
        asker: Asker,
        answers: TalkAnswers,
        world: World,
        briefing: Briefing,
        history: History,
        *,
        pause: int,
        turns: int,
    ) -> None:
        self._asker = asker
        self._answers = answers
        self._world = world
        self._history = history
        self._briefing = briefing
        self._pause = pause
        self._turns = turns
        self._known: dict[int, Plan] = {}
        self._clear()

    def _clear(self) -> None:
        """Begin another dialogue."""
        self._spoken = 0
        self._opening: dict[int, Plan] | None = None
        self._stated: dict[int, Plan] | None = None
        self._dialogue: list[dict[str, str]] = []

    async def think(self, view: View) -> Thought:
        """Say something, or do one's part.

        Raises:
            NoJointPlan: it gives no answer that can be read and carried out after all retries.
        """
        for message in view.unread:
            self._hear(message, view.names)
        if Act.SPEAK in view.turn.acts:
            self._spoken += 1
            utterance, calls = await self._speak(view)
            if utterance.plans is not None:
                self._stated = utterance.plans
                draft = directive(view.turn.recipients, utterance.plans, view.names)
            else:
                self._dialogue.append({"from": view.name, "text": utterance.text})
                draft = Draft(view.turn.recipients, utterance.text)
            return Thought(messages=(draft,), calls=tuple(calls))
        calls = []
        if view.turn.role == ALONE or (view.notes and self._stated is None and self._opening is None):
            utterance, calls = await self._speak(view)
            self._stated = utterance.plans
        return Thought(self._decide(view), calls=tuple(calls))

    async def _speak(self, view: View) -> tuple[Utterance, list[Call]]:
        """Ask the model what to say."""
        asked = sorted({view.agent, *(other for other in view.turn.recipients if other < len(self._world.agents))})
        names = view.names
        blocks = {
            "asked": [names[agent] for agent in asked],
            "state": self._state(view),
            "commitments": named({a: plan for a, plan in self._known.items() if a not in asked}, names),
            "history": self._history.pairs,
            "proposal": named(self._opening or {}, names),
            "dialogue": self._dialogue,
            "turns_left": self._turns - self._spoken if view.turn.recipients else 0,
        }
        outcome = await self._asker.insist(
            BaselineRole.TALKER,
            self._answers.talk,
            lambda answer: self._utterance(answer, asked),
            view,
            blocks,
            agents=len(asked),
        )
        if outcome.answer.rejections:
            raise NoJointPlan(self._asker.retries, outcome.answer.rejections, outcome.calls)
        return outcome.answer, outcome.calls

    def _utterance(self, answer: SpeakerReply, asked: Sequence[int]) -> Utterance:
        """Read an answer, and judge the joint plan in it."""
        if answer.value is None:
            return Utterance("", None, unreadable(answer.reasons).rejections)
        try:
            text, plans = self._answers.read_talk(answer.value, asked)
        except Misread as error:
            return Utterance("", None, error.rejections)
        return Utterance(text, plans, impossible(self._world, plans or {}))

    def _hear(self, message: Message, names: Sequence[str]) -> None:
        """Take in what another has said."""
        if message.kind is not MessageKind.DIRECTIVE:
            self._dialogue.append({"from": names[message.sender], "text": message.content})
            return
        plans = read_directive(message, self._world.vocabulary, names)
        if message.sender < len(self._world.agents):
            self._stated = plans
        else:
            self._opening = plans

    def _decide(self, view: View) -> Plan | Resume:
        """Do one's part of what has been agreed on, and be ready for another dialogue."""
        agreed = self._stated if self._stated is not None else self._opening
        if agreed is not None:
            self._history.add(view.t, self._state(view), named(agreed, view.names))
            self._known |= agreed
        pause = 1 if self._spoken and agreed is None else self._pause
        decision = carry_out(view, (agreed or {}).get(view.agent), self._world, pause)
        self._clear()
        return decision

    def _state(self, view: View) -> object:
        return self._briefing.state(look(self._world, view.t))
