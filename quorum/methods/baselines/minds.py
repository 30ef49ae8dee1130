"""The minds of the baselines that ask a model: coordinators, reviewers (HMAS-2), and talkers (DMAS, HMAS-1).

The source of all but the debate is arXiv 2309.15943.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from maeil.calls import Call
from maeil.messages import Draft, Message, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.coordination.asking import Misread, RoleSpeaker, note
from quorum.agents.coordination.follower import Follower, carry_out
from quorum.agents.coordination.joint import (
    NoJointPlan,
    Objection,
    directive,
    feedback,
    look,
    named,
    occasion,
    read_directive,
    read_objections,
    show,
    to_plan_for,
    under_way,
)
from quorum.agents.prompting.blocks import write_json
from quorum.agents.skills import Briefing
from quorum.methods.baselines.asking import BaselineAnswers, BaselineRole, Planner, Source, check_possible

CHARACTERS_PER_TOKEN = 4


class History:
    """State-action pairs, as many of the newest as fit (HMAS-2: "only state-action pairs history").

    Args:
        tokens: that all of them may have, four characters each; 0 keeps nothing.
    """

    def __init__(self, tokens: int) -> None:
        self._room = tokens * CHARACTERS_PER_TOKEN
        self._pairs: deque[tuple[Mapping[str, Any], int]] = deque()
        self._characters = 0

    def add(self, step: int, state: object, plans: Mapping[str, Any]) -> None:
        """Note what was done in a state.

        Args:
            step: environment step.
            state: as the planner was shown it.
            plans: the joint plan by agent, JSON-ready.
        """
        if not self._room:
            return
        pair = {"step": step, "state": state, "plans": plans}
        self._pairs.append((pair, len(write_json(pair))))
        self._characters += self._pairs[-1][1]
        while self._characters > self._room:
            self._characters -= self._pairs.popleft()[1]

    @property
    def pairs(self) -> list[Mapping[str, Any]]:
        """The pairs that fit, oldest first, JSON-ready."""
        return [pair for pair, _ in self._pairs]


@dataclass(eq=False)
class Coordinator:
    """The mind of a coordinator (CMAS, HMAS-1, HMAS-2, debate). It keeps what it has decided, turn by turn.

    A turn that begins a conversation makes a joint plan for the agents that carry none out, and sends it to those who
    have a part in it. A turn in which agents have objected makes the joint plan again. A turn without objections says
    nothing, which ends the conversation. What agents agree on among themselves afterwards it hears, and takes for the
    plan.

    Attributes:
        source: where its joint plans come from.
        world: what the state is read from.
        briefing: how the state is shown to it.
        history: what it remembers.
    """

    source: Source
    world: World
    briefing: Briefing
    history: History
    _key: object = None
    _t: int = 0
    _plans: dict[int, Plan] = field(default_factory=dict)
    _suggested: dict[int, Plan] = field(default_factory=dict)
    _asked: tuple[int, ...] = ()
    _blocks: dict[str, object] = field(default_factory=dict)
    _dialogue: list[dict[str, Any]] = field(default_factory=list)

    async def think(self, view: View) -> Thought:
        """Plan, or answer objections.

        Raises:
            NoJointPlan: no joint plan can be read and carried out after all retries.
        """
        for message in view.unread:
            if message.kind is MessageKind.DIRECTIVE:
                self._take(read_directive(message, self.world.vocabulary, view.names))
        key = occasion(view)
        if key != self._key:
            self._begin(view, key)
            return await self._plan(view, {}) if self._asked else Thought()
        objections = read_objections(view.unread, self.world.vocabulary)
        if not objections:
            return Thought()
        exchange = {
            "suggestion": named(self._plans, view.names),
            "objections": [show(objection, view.names) for objection in objections],
        }
        earlier = list(self._dialogue)
        self._dialogue.append(exchange)
        return await self._plan(view, {**exchange, "dialogue": earlier})

    def _begin(self, view: View, key: object) -> None:
        """See who needs a plan, and in what state."""
        if self._key is not None and self._asked:
            self.history.add(self._t, self._blocks["state"], named(self._plans, view.names))
        self._key, self._t, self._plans, self._dialogue = key, view.t, {}, []
        running = under_way(self._suggested, view)
        self._asked = to_plan_for(running, view)
        self._blocks = {
            "asked": [view.names[agent] for agent in self._asked],
            "state": self.briefing.state(look(self.world, view.t)),
            "commitments": named(running, view.names),
            "history": self.history.pairs,
        }

    async def _plan(self, view: View, exchange: Mapping[str, object]) -> Thought:
        """Make a joint plan, and tell those whom it or the one before it has a part for."""
        before = self._plans
        plans, calls = await self.source.plan(view, self._asked, {**self._blocks, **exchange})
        if exchange:
            calls = tuple(note(calls, on_feedback=True))
        self._take(plans)
        recipients = sorted({*before, *plans} & {*view.turn.recipients})
        messages = (directive(recipients, plans, view.names),) if recipients else ()
        return Thought(messages=messages, calls=calls)

    def _take(self, plans: dict[int, Plan]) -> None:
        self._plans = plans
        self._suggested |= plans


AGREED = "I agree."


@dataclass(eq=False)
class Reviewer(Follower):
    """An agent that asks its model whether it agrees with each joint plan in which it has a part.

    An answer that cannot be read is no objection.

    Attributes:
        speaker: asks its model.
        answers: the form of its answer.
    """

    speaker: RoleSpeaker
    answers: BaselineAnswers

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
        asked = await self.speaker.ask(BaselineRole.REVIEWER, self.answers.review, view, blocks)
        try:
            agrees, reason, proposal = asked.read(self.answers.read_review)
        except Misread as error:
            misread = error.rejections if asked.value is not None else ()
            return Thought(calls=(self.speaker.rejected(asked.call, misread),))
        if agrees:
            draft = Draft(view.turn.recipients, AGREED, MessageKind.ACK, asks=())
        else:
            draft = feedback(view.turn.recipients, Objection(view.agent, issue=reason, proposal=proposal))
        return Thought(messages=(draft,), calls=(asked.call,))


ALONE = "alone"
"""The role of an agent that has nobody to talk to (`topologies/dialogue.py`)."""


@dataclass(eq=False)
class Talker:
    """The mind of an agent in a dialogue (`topologies/dialogue.py`).

    In its turn it says something to the others, or states the joint plan for all who talk, which ends the dialogue.
    When nobody has stated one, the plan of the coordinator who has opened the dialogue stands; without a coordinator
    there is none, and all are idle for a step. An agent with nobody to talk to makes a plan for itself alone.

    Attributes:
        planner: how its model is asked.
        briefing: how the state is shown to it.
        history: what it remembers.
        pause: steps that it waits without a part.
        turns: how often it may speak in a dialogue.
    """

    planner: Planner
    briefing: Briefing
    history: History
    pause: int
    turns: int
    _known: dict[int, Plan] = field(default_factory=dict)
    _spoken: int = 0
    _opening: dict[int, Plan] | None = None
    _stated: dict[int, Plan] | None = None
    _dialogue: list[dict[str, str]] = field(default_factory=list)

    async def think(self, view: View) -> Thought:
        """Say something, or do one's part.

        Raises:
            NoJointPlan: it gives no answer that can be read and carried out after all retries.
        """
        for message in view.unread:
            self._hear(message, view.names)
        if Act.SPEAK in view.turn.acts:
            self._spoken += 1
            (text, stated), calls = await self._speak(view)
            if stated is not None:
                self._stated = stated
                draft = directive(view.turn.recipients, stated, view.names)
            else:
                self._dialogue.append({"author": view.name, "message": text})
                draft = Draft(view.turn.recipients, text)
            return Thought(messages=(draft,), calls=calls)
        calls = ()
        if view.turn.role == ALONE or (view.notes and self._stated is None and self._opening is None):
            (_, self._stated), calls = await self._speak(view)
        return Thought(self._decide(view), calls=calls)

    async def _speak(self, view: View) -> tuple[tuple[str, dict[int, Plan] | None], tuple[Call, ...]]:
        """Ask the model what to say: a text, or the joint plan."""
        planner, names = self.planner, view.names
        asked = sorted({view.agent, *(other for other in view.turn.recipients if other < len(planner.world.agents))})
        blocks = {
            "asked": [names[agent] for agent in asked],
            "state": self._state(view),
            "commitments": named({a: plan for a, plan in self._known.items() if a not in asked}, names),
            "history": self.history.pairs,
            "proposal": named(self._opening or {}, names),
            "dialogue": self._dialogue,
            "turns_left": self.turns - self._spoken if view.turn.recipients else 0,
        }

        def reader(value: object) -> tuple[str, dict[int, Plan] | None]:
            text, plans = planner.answers.read_talk(value, asked)
            check_possible(planner.world, plans or {})
            return text, plans

        outcome = await planner.speaker.insist(
            BaselineRole.TALKER, planner.answers.talk, reader, view, blocks, retries=planner.retries, agents=len(asked)
        )
        if outcome.answer is None:
            raise NoJointPlan(planner.retries, outcome.rejections, outcome.calls)
        return outcome.answer, outcome.calls

    def _hear(self, message: Message, names: Sequence[str]) -> None:
        """Take in what another has said."""
        if message.kind is not MessageKind.DIRECTIVE:
            self._dialogue.append({"author": names[message.sender], "message": message.content})
            return
        plans = read_directive(message, self.planner.world.vocabulary, names)
        if message.sender < len(self.planner.world.agents):
            self._stated = plans
        else:
            self._opening = plans

    def _decide(self, view: View) -> Plan | Resume:
        """Do one's part of what has been agreed on, and be ready for another dialogue."""
        agreed = self._stated if self._stated is not None else self._opening
        if agreed is not None:
            self.history.add(view.t, self._state(view), named(agreed, view.names))
            self._known |= agreed
        pause = 1 if self._spoken and agreed is None else self.pause
        decision = carry_out(view, (agreed or {}).get(view.agent), self.planner.world, pause)
        self._spoken, self._opening, self._stated, self._dialogue = 0, None, None, []
        return decision

    def _state(self, view: View) -> object:
        return self.briefing.state(look(self.planner.world, view.t))
