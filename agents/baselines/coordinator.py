"""The coordinator of the baselines: a joint plan for all who need one, and another when agents object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from maeil.calls import Call
from maeil.messages import MessageKind
from maeil.mind import Thought, View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.baselines.asking import Asker, BaselineRole
from quorum.agents.baselines.history import History
from quorum.agents.coordination.joint import NoJointPlan, look, named
from quorum.agents.coordination.memory import place, under_way
from quorum.agents.coordination.plan_messages import directive, read_directive, read_objections, show
from quorum.agents.coordination.speaker import note
from quorum.agents.skills import Briefing


class Source(Protocol):
    """Where joint plans come from."""

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], list[Call]]:
        """Make one, with the calls that it took.

        Raises:
            NoJointPlan: there is none.
        """


class OnePlanner:
    """Joint plans of one model, in one call each when all goes well.

    Args:
        asker: asks it.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], list[Call]]:
        """Ask for one."""
        outcome = await self._asker.joint(BaselineRole.CENTRE, view, asked, blocks)
        if outcome.answer.rejections:
            raise NoJointPlan(self._asker.retries, outcome.answer.rejections, outcome.calls)
        return outcome.answer.plans, outcome.calls


class Coordinator:
    """The mind of a coordinator (CMAS, HMAS-1, HMAS-2, debate). It keeps what it has decided, turn by turn.

    A turn that begins a conversation makes a joint plan for the agents that carry none out, and tells those who have a
    part in it. A turn in which agents have objected makes the joint plan anew. A turn without objections says nothing,
    which ends the conversation. What agents agree on among themselves afterwards it hears, and takes for the plan.

    Args:
        source: where its joint plans come from.
        world: what the state is read from.
        briefing: how the state is shown to it.
        history: what it remembers.
    """

    def __init__(self, source: Source, world: World, briefing: Briefing, history: History) -> None:
        self._source = source
        self._world = world
        self._history = history
        self._briefing = briefing
        self._key: object = None
        self._t = 0
        self._plans: dict[int, Plan] = {}
        self._suggested: dict[int, Plan] = {}
        self._asked: tuple[int, ...] = ()
        self._blocks: dict[str, object] = {}
        self._dialogue: list[dict[str, Any]] = []

    async def think(self, view: View) -> Thought:
        """Plan, or answer objections.

        Raises:
            NoJointPlan: no joint plan can be read and carried out after all retries.
        """
        for message in view.unread:
            if message.kind is MessageKind.DIRECTIVE:
                self._take(read_directive(message, self._world.vocabulary, view.names))
        key = (view.t, tuple(map(place, view.team)))
        if key != self._key:
            self._begin(view, key)
            return await self._plan(view, {}) if self._asked else Thought()
        objections = read_objections(view.unread, self._world.vocabulary)
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
            self._history.add(self._t, self._blocks["state"], named(self._plans, view.names))
        self._key, self._t, self._plans, self._dialogue = key, view.t, {}, []
        running = under_way(self._suggested, view.team)
        self._asked = tuple(agent for agent in range(len(view.team)) if agent not in running)
        self._blocks = {
            "asked": [view.names[agent] for agent in self._asked],
            "state": self._briefing.state(look(self._world, view.t)),
            "commitments": named(running, view.names),
            "history": self._history.pairs,
        }

    async def _plan(self, view: View, feedback: Mapping[str, object]) -> Thought:
        """Make a joint plan, and tell those whom it or the one before it has a part for."""
        before = self._plans
        plans, calls = await self._source.plan(view, self._asked, {**self._blocks, **feedback})
        if feedback:
            note(calls, on_feedback=True)
        self._take(plans)
        recipients = sorted({*before, *plans})
        messages = (directive(recipients, plans, view.names),) if recipients else ()
        return Thought(messages=messages, calls=tuple(calls))

    def _take(self, plans: dict[int, Plan]) -> None:
        self._plans = plans
        self._suggested |= plans
