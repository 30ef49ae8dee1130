"""The baseline minds that prompt a model: coordinators, reviewers (HMAS-2), and talkers (DMAS, HMAS-1).

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
    """State-action pairs: as many of the newest as fit (HMAS-2: "only state-action pairs history").

    Args:
        tokens: total budget, in tokens of four characters each; 0 keeps nothing.
    """

    def __init__(self, tokens: int) -> None:
        self._room = tokens * CHARACTERS_PER_TOKEN
        self._pairs: deque[tuple[Mapping[str, Any], int]] = deque()
        self._characters = 0

    def add(self, step: int, state: object, plans: Mapping[str, Any]) -> None:
        """Record the joint plan made in a state.

        Args:
            step: environment step.
            state: the state as shown to the planner.
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
    """The mind of a coordinator (CMAS, HMAS-1, HMAS-2, debate). It remembers its decisions from turn to turn.

    In the first turn of a conversation, it makes a joint plan for the agents that have none under way and sends it to
    those with a part in it. If agents object, it makes the joint plan again. If nobody objects, it stays silent, which
    ends the conversation. If the agents later agree on another plan among themselves, it adopts that plan.

    Attributes:
        source: the source of its joint plans.
        world: the world whose state it reads.
        briefing: formats the state for prompts.
        history: its record of past states and joint plans.
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
            NoJointPlan: no joint plan can be parsed and carried out after all retries.
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
        """Determine the state and the agents that need a plan."""
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
        """Make a joint plan and send it to all agents with a part in it or in the previous one."""
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

    An answer that cannot be parsed does not count as an objection.

    Attributes:
        speaker: prompts its model.
        answers: the answer schemas.
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
"""The role of an agent without conversation partners (`topologies/dialogue.py`)."""


@dataclass(eq=False)
class Talker:
    """The mind of an agent in a dialogue (`topologies/dialogue.py`).

    In its turn, it either sends a message to the others or states the joint plan for all members of the dialogue, which
    ends the dialogue. If no agent states one, the plan of the coordinator that opened the dialogue stands; without a
    coordinator there is no plan, and all agents idle for a step. An agent without partners plans for itself.

    Attributes:
        planner: prompts its model.
        briefing: formats the state for prompts.
        history: its record of past states and joint plans.
        pause: steps to wait if it has no part in the plan.
        turns: number of turns to speak per dialogue.
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
        """Speak, or decide on its part of the plan.

        Raises:
            NoJointPlan: no answer can be parsed and carried out after all retries.
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
        """Prompt the model for a message or the joint plan."""
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

        outcome = await planner.speaker.ask_until_usable(
            BaselineRole.TALKER, planner.answers.talk, reader, view, blocks, retries=planner.retries, agents=len(asked)
        )
        if outcome.answer is None:
            raise NoJointPlan(planner.retries, outcome.rejections, outcome.calls)
        return outcome.answer, outcome.calls

    def _hear(self, message: Message, names: Sequence[str]) -> None:
        """Record another participant's message."""
        if message.kind is not MessageKind.DIRECTIVE:
            self._dialogue.append({"author": names[message.sender], "message": message.content})
            return
        plans = read_directive(message, self.planner.world.vocabulary, names)
        if message.sender < len(self.planner.world.agents):
            self._stated = plans
        else:
            self._opening = plans

    def _decide(self, view: View) -> Plan | Resume:
        """Return the agent's part of the agreed plan, and reset for the next dialogue."""
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
