"""The decisions of a run, each with the reference's decision and their difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson

from maeil import Mind, TeamContext
from maeil.calls import Ledger, entered_in
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from maeil.trace import Instant
from maeil.trace.story import Story
from quorum.agents.llm.errors import BudgetReached
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.team import Team
from quorum.process.event_loop import run_coroutine
from quorum.what_if.blame.reference import Reference
from quorum.what_if.blame.reruns import Correction
from quorum.what_if.branch.branch_minds import ScriptedAnswer
from quorum.what_if.branch.shadows import replay_with
from quorum.what_if.failures import Failure


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision of a mind in a turn.

    Attributes:
        actions: actions of the committed plan, in the format of the trace; None: no plan was committed.
        task: kind and target of the plan; None: it states none.
        resumes: whether the mind continues its current plan.
        says: texts of its messages.
        failure: why there is no answer; empty if there is one.
    """

    actions: tuple[Mapping[str, Any], ...] | None
    task: Mapping[str, str] | None
    resumes: bool
    says: tuple[str, ...]
    failure: str = ""

    @classmethod
    def of(cls, thought: Thought) -> Choice:
        """Return the decision of a thought."""
        plan = thought.decision
        says = tuple(draft.content for draft in thought.messages)
        if not isinstance(plan, Plan):
            return cls(None, None, plan is Resume.RESUME, says, thought.failure)
        actions = tuple(action.model_dump(mode="json") for action in plan.actions)
        return cls(actions, asdict(plan.task) if plan.task is not None else None, False, says, thought.failure)


@dataclass(frozen=True, slots=True)
class Decision:
    """A turn of a run, with the decisions of its mind and of the reference.

    Attributes:
        agent: name of the participant.
        t: environment step.
        t_hat: cognitive time at which its thought started.
        acts: what the turn allows.
        own: the decision of the participant.
        other: the decision of the reference.
        heard: whether the reference talks, so that its messages count.
        sent: ids of the messages of the participant.
    """

    agent: str
    t: int
    t_hat: int | float
    acts: frozenset[Act]
    own: Choice
    other: Choice
    heard: bool
    sent: tuple[int, ...] = ()

    @property
    def plan_differs(self) -> bool:
        """Whether the reference would have planned something else."""
        same = (self.own.actions, self.own.resumes) == (self.other.actions, self.other.resumes)
        return Act.PLAN in self.acts and not self.other.failure and not (same and not self.own.failure)

    @property
    def message_differs(self) -> bool:
        """Whether the reference would have said something else."""
        return self.heard and not self.other.failure and self.own.says != self.other.says

    @property
    def differs(self) -> bool:
        """Whether the reference would have decided differently; else the decision is no mistake."""
        return self.plan_differs or self.message_differs

    @property
    def instant(self) -> Instant:
        """The start of the turn."""
        return Instant(self.t, self.t_hat)

    def correction(self) -> Correction | None:
        """Return the change that replaces this decision with that of the reference; None if it cannot be scripted."""
        return self.scripted(self.other)

    def scripted(self, choice: Choice) -> Correction | None:
        """Return the change that makes another choice in this turn; None if it cannot be scripted.

        Scripts can replace a plan, replace or add a message, and drop messages. They cannot continue a plan.
        """
        words: list[ScriptedAnswer] = []
        drops: tuple[int, ...] = ()
        if self.plan_differs:
            if choice.actions is None:
                return None
            words.append(ScriptedAnswer(self.agent, actions=orjson.dumps(choice.actions).decode()))
        if self.message_differs:
            if not choice.says and self.sent:
                drops = self.sent
            elif len(choice.says) == 1:
                words.append(ScriptedAnswer(self.agent, text=choice.says[0]))
            else:
                return None
        return Correction(self.instant, words=tuple(words), drops=drops)


@dataclass(frozen=True, slots=True)
class Decisions:
    """All decisions of a run.

    Attributes:
        every: all decisions, in the order of time.
        asked: whether the reference decided in all of these turns; a budget may have stopped it.
    """

    every: tuple[Decision, ...]
    asked: bool = True

    @property
    def candidates(self) -> tuple[Decision, ...]:
        """The decisions that the reference would have made differently."""
        return tuple(decision for decision in self.every if decision.differs)


@dataclass(slots=True)
class _Shadow:
    """The record of a shadow run.

    Attributes:
        heard: whether the reference talks.
        books: ledgers of its calls.
    """

    heard: bool
    books: CallLedger
    found: list[Decision] = field(default_factory=list)
    asked: bool = True


class _ShadowedMind:
    """A mind that decides, with the reference as a shadow whose answers are recorded and then discarded.

    Args:
        mind: the mind that decides.
        reference: the shadow.
        shadow: records the decisions of both.
    """

    def __init__(self, mind: Mind, reference: Mind, shadow: _Shadow) -> None:
        self._mind = mind
        self._reference = reference
        self._shadow = shadow

    async def think(self, view: View) -> Thought:
        """Let both minds think."""
        shadow = self._shadow
        thought = await self._mind.think(view)
        try:
            with entered_in(Ledger()):  # keep the shadow's calls out of those of the thought
                other = await self._reference.think(view)
        except BudgetReached:
            shadow.asked = False
            return thought
        own, would = Choice.of(thought), Choice.of(other)
        shadow.found.append(Decision(view.name, view.t, view.t_hat, view.turn.acts, own, would, shadow.heard))
        return thought


def decisions_of(reference: Reference, books: CallLedger | None = None) -> Decisions:
    """Replay a run, with the reference deciding at every turn as a shadow.

    The models of the run answer as recorded, so nothing is sent to them.

    Args:
        reference: the shadow.
        books: ledgers of its calls, with its budget; None: do not count them.

    Raises:
        UserError: the run cannot be replayed.
    """
    parent = reference.parent
    if not parent.episode.story.thoughts:
        return Decisions(())
    shadow = _Shadow(reference.talks, books or CallLedger(reference.within(), None))
    run_coroutine(_play(reference, shadow))
    order = {name: index for index, name in enumerate(reference.participants)}
    sent = _sent(parent.episode.story)
    found = [replace(one, sent=tuple(sent.get((order[one.agent], one.t, one.t_hat), ()))) for one in shadow.found]
    found.sort(key=lambda one: (one.t, one.t_hat, order[one.agent]))
    return Decisions(tuple(found), asked=shadow.asked)


def _sent(story: Story) -> Mapping[tuple[int, int, int | float], Sequence[int]]:
    """Return the ids of messages by their sender and the start of the thought that sent them."""
    found: dict[tuple[int, int, int | float], list[int]] = {}
    for life in story.messages:
        if life.thought is not None:
            key = life.message.sender, life.thought.t, life.thought.t_hat
            found.setdefault(key, []).append(life.message.message)
    return found


async def _play(reference: Reference, shadow: _Shadow) -> None:
    pool = ModelPool()

    def shadowed(team: Team, context: TeamContext) -> Team:
        others = reference.team(context, pool, shadow.books)
        seats = [
            _ShadowedMind(mind, others[name], shadow) if name in others else mind
            for name, mind in zip(reference.participants, team.minds, strict=True)
        ]
        return replace(team, minds=seats)

    async with pool:
        await replay_with(reference.parent, pool, shadowed)


WORDS = {
    "no_answer": "gave no valid answer",
    "gave_up": "gave up a plan that it should have continued",
    "went_on": "continued a plan that it should have given up",
    "idle": "did nothing",
    "other_task": "took on another task",
    "other_actions": "took other actions for the same task",
    "silent": "said nothing",
    "needless_message": "said something needless",
    "other_message": "said something else",
    "repetition": "repeated a failed action",
    "termination": "planned for a finished task",
    "silence": "asked nobody for help",
    "withholding": "withheld what it knew",
    "ignored_input": "ignored an order that it had read",
    "mismatch": "planned something other than it said",
}
"""The kinds of mistakes, as phrases about the agent. The last six are kinds of failures (docs/failures.md)."""
SUSPICION = (*list(WORDS)[-6:], *WORDS)
"""The kinds in the order in which decisions are tried: those that the trace proves come first."""


def kind_of(decision: Decision, failures: Sequence[Failure], agents: Sequence[str], idle: str) -> str:
    """Name what was wrong with a decision: a kind of failure that the trace proves, else the kind of difference.

    Args:
        decision: one that the reference would have made differently.
        failures: the failures that the trace of the run proves.
        agents: names of the participants by index.
        idle: name of the idle action.
    """
    index = list(agents).index(decision.agent)
    shown = (one for one in failures if one.agent == index and one.t == decision.t)
    if (failure := next(shown, None)) is not None:
        return str(failure.kind)
    return difference(decision, idle)


def difference(decision: Decision, idle: str) -> str:
    """Name how the decision of the reference differs; empty if it does not.

    Args:
        decision: the decisions of both.
        idle: name of the idle action.
    """
    if decision.plan_differs:
        return _plans(decision.own, decision.other, idle)
    if not decision.message_differs:
        return ""
    if not decision.own.says:
        return "silent"
    return "other_message" if decision.other.says else "needless_message"


def _plans(own: Choice, other: Choice, idle: str) -> str:
    if own.failure or (own.actions is None and not own.resumes):
        return "no_answer"
    if other.resumes:
        return "gave_up"
    if own.resumes:
        return "went_on"
    if all(action.get("action") == idle for action in own.actions or ()):
        return "idle"
    return "other_actions" if own.task == other.task else "other_task"
