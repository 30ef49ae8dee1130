"""The coordinators of the baselines: where joint plans come from, one planner or a debate, and what they remember."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from maeil.calls import Call
from maeil.messages import MessageKind
from maeil.mind import Thought, View
from maeil.plans import Plan
from maeil.together import together
from maeil.world import World
from quorum.agents.baselines.asking import Asker, BaselineRole
from quorum.agents.coordination.asking import note
from quorum.agents.coordination.joint import (
    NoJointPlan,
    Proposal,
    Rejection,
    directive,
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

    A turn that begins a conversation makes a joint plan for the agents that carry none out, and sends it to those who
    have a part in it. A turn in which agents have objected makes the joint plan again. A turn without objections says
    nothing, which ends the conversation. What agents agree on among themselves afterwards it hears, and takes for the
    plan.

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
        key = occasion(view)
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
        running = under_way(self._suggested, view)
        self._asked = to_plan_for(running, view)
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
        recipients = sorted({*before, *plans} & {*view.turn.recipients})
        messages = (directive(recipients, plans, view.names),) if recipients else ()
        return Thought(messages=messages, calls=tuple(calls))

    def _take(self, plans: dict[int, Plan]) -> None:
        self._plans = plans
        self._suggested |= plans


def majority(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Return for each agent the plan that most debaters have for it; of equally many that of the lowest debater.

    Plans are equal when task and actions are. To have none for an agent is a vote that it waits.

    Args:
        proposals: one joint plan a debater, in order.
        asked: the agents that they are for.
    """
    merged = {}
    for agent in asked:
        votes = [proposal.get(agent) for proposal in proposals]
        keys = [(plan.task, plan.actions) if plan is not None else None for plan in votes]
        winner = votes[keys.index(max(keys, key=keys.count))]
        if winner is not None:
            merged[agent] = winner
    return merged


class Panel:
    """Joint plans of several debaters: `debaters` times `rounds` calls when all goes well.

    A debater whose answer cannot be read or carried out after all retries stays with its last proposal; one that has
    none is silent.

    Args:
        asker: asks the model that all debaters think with.
        debaters: how many there are.
        rounds: how often each proposes.
        merge: makes one joint plan of the last proposals: `majority`, or what the role `merge` of the world returns.
        personas: who the debaters are, given to them in turn; none for debaters that are alike.
        in_turn: whether they speak one after the other, each having heard those before (ChatEval, "one-by-one"); else
            all at once.
    """

    def __init__(
        self,
        asker: Asker,
        debaters: int,
        rounds: int,
        merge: Callable[[Sequence[Mapping[int, Plan]], Sequence[int]], dict[int, Plan]],
        *,
        personas: Sequence[str] = (),
        in_turn: bool = False,
    ) -> None:
        self._asker = asker
        self._debaters = debaters
        self._rounds = rounds
        self._merge = merge
        self._personas = personas
        self._in_turn = in_turn

    async def plan(
        self, view: View, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> tuple[dict[int, Plan], list[Call]]:
        """Hold the debate.

        Raises:
            NoJointPlan: all debaters are silent.
        """
        last: dict[int, Proposal] = {}
        rejections: Sequence[Rejection] = ()
        calls: list[Call] = []
        everybody = tuple(range(self._debaters))
        for speaking in ([(debater,) for debater in everybody] if self._in_turn else [everybody]) * self._rounds:
            shown = {k: {"thoughts": p.thoughts, "plans": named(p.plans, view.names)} for k, p in last.items()}
            outcomes = await together(
                partial(self._asker.joint, BaselineRole.DEBATER, view, asked, {**blocks, **self._debate(k, shown)})
                for k in speaking
            )
            for k, outcome in zip(speaking, outcomes, strict=True):
                calls += outcome.calls
                if not outcome.answer.rejections:
                    last[k] = outcome.answer
                rejections = rejections or outcome.answer.rejections
        if not last:
            raise NoJointPlan(self._asker.retries, rejections, calls)
        return self._merge([proposal.plans for _, proposal in sorted(last.items())], asked), calls

    def _debate(self, debater: int, shown: Mapping[int, object]) -> dict[str, object]:
        """What a debater is shown of the debate: who it is, and the last proposals, its own and the others'."""
        others = {f"debater_{k}": proposal for k, proposal in shown.items() if k != debater}
        persona = self._personas[debater % len(self._personas)] if self._personas else None
        return {"debater": f"debater_{debater}", "persona": persona, "own": shown.get(debater), "others": others}
