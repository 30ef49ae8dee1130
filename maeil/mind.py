"""The contract of a mind: what it sees when it has a turn, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from maeil.calls import Call
from maeil.descriptors import Descriptor, Need
from maeil.messages import Draft, Message
from maeil.notices import HealerNote, Notice
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import OpenTask


class Act(StrEnum):
    """What a turn lets its holder do."""

    SPEAK = "speak"
    ACKNOWLEDGE = "acknowledge"
    PLAN = "plan"
    DESCRIBE = "describe"
    """Say what one offers and needs. That goes to nobody: it settles who writes to whom."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn in the conversation, given by the topology.

    Attributes:
        agent: index of the participant whose turn it is.
        acts: what it may do.
        recipients: whom it may write to in this turn, ascending.
        limit: how many messages it may send in this turn; None for any number.
        role: its part in the topology ("leader", "follower"), empty where all are equal.
        feedback: whether it sees the tasks that matter with what each is missing, and its messages carry that.
        notice: what a turn of a repair tells its holder; None in all others.
        task: what the team has allotted to its holder before it plans; None where it has allotted nothing.
        partners: the others to whom it has allotted the same now, ascending.
    """

    agent: int
    acts: frozenset[Act]
    recipients: tuple[int, ...] = ()
    limit: int | None = None
    role: str = ""
    feedback: bool = False
    notice: Notice | None = None
    task: Task | None = None
    partners: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as its own agent sees it: the current one with its progress, or an earlier one with its end.

    Attributes:
        id: name of the plan.
        task: what it is for.
        actions: its actions as text, in order.
        done: how many of them have succeeded.
        status: where it stands.
        reason: why it ended, empty while it lives.
    """

    id: str
    task: Task | None
    actions: tuple[str, ...]
    done: int
    status: PlanStatus
    reason: str = ""


class Observation(Protocol):
    """The symbolic observation of one agent: a typed record of the world's own, JSON-ready, that reads as text."""

    def text(self) -> str:
        """Return the observation as plain text."""


@runtime_checkable
class Shown(Protocol):
    """An observation of which a prompt shows less than minds without a language model see, or in a shorter form."""

    def shown(self) -> object:
        """Return what a prompt shows, JSON-ready; what it leaves out, no plan needs."""


@dataclass(frozen=True, slots=True)
class MemberView:
    """What a coordinator is told of an agent.

    Attributes:
        plan: its live plan with its progress, or None: it needs one.
        outcomes: its last plans that ended, oldest first.
    """

    plan: PlanView | None
    outcomes: tuple[PlanView, ...]


@dataclass(frozen=True, slots=True)
class View:
    """All that a mind sees when it thinks.

    Attributes:
        agent: own index.
        name: own name, as the world calls it.
        names: names of all participants by index.
        turn: what the topology allows now.
        t: environment step.
        t_hat: cognitive time at which the thought begins.
        observation: the world as this agent sees it; the whole of it for a coordinator, which has no body.
        unread: messages that have arrived since the last thought, in order of arrival.
        memory: earlier messages, sent and read, oldest first, at most `memory.messages` of them.
        plan: the current plan with its progress, or None.
        outcomes: the last plans that ended, oldest first.
        constraints: the tasks that matter, as they are now, each with what it is missing, in a turn with feedback.
        problems: why this agent's previous answer was refused; empty at a first try.
        team: the plans of all agents by index, for a coordinator; empty for an agent.
        needs: what those need to whom it writes, by their indices, where the topology joins agents by what they need.
        notes: what healers have told this agent since its last decision, oldest first.
    """

    agent: int
    name: str
    names: tuple[str, ...]
    turn: Turn
    t: int
    t_hat: float
    observation: Observation
    unread: tuple[Message, ...] = ()
    memory: tuple[Message, ...] = ()
    plan: PlanView | None = None
    outcomes: tuple[PlanView, ...] = ()
    constraints: tuple[OpenTask, ...] = ()
    problems: tuple[str, ...] = ()
    team: tuple[MemberView, ...] = ()
    needs: tuple[tuple[int, Need], ...] = ()
    notes: tuple[HealerNote, ...] = ()

    @property
    def may_resume(self) -> bool:
        """Whether it has a plan to go on with, and the turn lets it."""
        return self.plan is not None and not (self.turn.notice is not None and self.turn.notice.replan)


class Resume(StrEnum):
    """The decision of an interrupted agent to go on with the plan that it has."""

    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a mind expects of another agent.

    Attributes:
        agent: index of the other.
        task: what the next plan that it commits of its own accord is for; None: it serves no task.
    """

    agent: int
    task: Task | None


@dataclass(frozen=True, slots=True)
class Thought:
    """What a mind answers.

    Attributes:
        decision: a plan to commit, `Resume.RESUME`, or None for neither.
        messages: what it wants to send.
        calls: the language-model calls it made on the way; empty: those that its models have entered in the ledger.
        failure: why there is no answer, for a mind that has tried in vain to get one: it is not asked again, and its
            agent keeps its plan, or idles for a step.
        descriptor: what it offers and needs, in a turn that asks for that.
        predictions: what it expects of others, one each at most, in a turn that plans; only of a `Predicting` mind.
    """

    decision: Plan | Resume | None = None
    messages: tuple[Draft, ...] = ()
    calls: tuple[Call, ...] = ()
    failure: str = ""
    descriptor: Descriptor | None = None
    predictions: tuple[Prediction, ...] = ()


COORDINATOR = "coordinator"
"""The name of the participant without a body, where a topology has one."""


@runtime_checkable
class Mind(Protocol):
    """Decides for one participant.

    An embodied agent's mind commits plans. A coordinator is a mind without a body: it lives on the cognitive clock
    alone, sees the whole world, commits no plan, and is ready when it has nothing to say.
    """

    async def think(self, view: View) -> Thought:
        """Answer a turn. The world stands still meanwhile; other minds may be thinking at the same time."""


@runtime_checkable
class Predicting(Protocol):
    """A mind that says whether its thoughts have predictions. Those that do not say so have none."""

    predicts: bool
