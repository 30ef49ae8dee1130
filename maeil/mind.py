"""The contract of a mind: what it sees when it has a turn, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from maeil.calls import Call
from maeil.messages import Draft, Message
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import OpenTask

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Act(StrEnum):
    """What a turn lets its holder do."""

    SPEAK = "speak"
    ACKNOWLEDGE = "acknowledge"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn in the conversation, given by the topology.

    Attributes:
        agent: index of the participant whose turn it is.
        acts: what it may do.
        recipients: whom it may write to in this turn, ascending.
        limit: how many messages it may send in this turn; None for any number.
        role: its part in the topology ("leader", "follower"), empty where all are equal.
        feedback: whether it sees the tasks that matter with what each is missing. Where its holder has a role, its
            messages carry them, and those that they name; of equals each sees them itself.
        task: what the team has allotted to its holder before it plans; None where it has allotted nothing.
        partners: the others to whom it has allotted the same now, ascending.
        asks: names of the extensions that want an answer in this turn (`Thought.answers`).
    """

    agent: int
    acts: frozenset[Act]
    recipients: tuple[int, ...] = ()
    limit: int | None = None
    role: str = ""
    feedback: bool = False
    task: Task | None = None
    partners: tuple[int, ...] = ()
    asks: frozenset[str] = frozenset()

    @property
    def words(self) -> list[str]:
        """What it allows and asks for, as traces and prompts write it."""
        return sorted((*self.acts, *self.asks))


@dataclass(frozen=True, slots=True)
class Note:
    """What an extension shows a participant in a turn.

    A prompt holds `shown` as a block, and ends with `template`. A mind that knows the extension reads `content`.

    Attributes:
        source: name of the extension.
        content: what it says, in the extension's own type.
        block: name of the block of a prompt that holds `shown`.
        shown: the same as JSON-ready data; empty for a note without data.
        template: the Jinja file that explains the block.
        agents: those whose plans the note is about, ascending.
        replan: whether they must commit a new plan: they cannot resume the one that they have.
        words: what a prompt says about how the team talks in this turn; empty: what the topology says.
        wanted: the names of what others need help with or news of, by their indices.
    """

    source: str
    content: Any
    block: str
    shown: Any
    template: Path
    agents: tuple[int, ...] = ()
    replan: bool = False
    words: str = ""
    wanted: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


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
    """The symbolic observation of one agent: a typed record of the world's own, JSON-ready, that reads as text.

    A prompt shows what its method `shown()` returns, if it has one: less than minds without a language model see, or in
    a shorter form, JSON-ready. No plan needs what it leaves out.
    """

    def text(self) -> str:
        """Return the observation as plain text."""


class Arrays(NamedTuple):
    """What an agent sees as a learner's environment gives it (`maeil.world.GivesArrays`)."""

    observation: npt.NDArray[np.float32]
    """Of any shape, the same in all episodes of a world."""
    mask: npt.NDArray[np.int8]
    """(actions,): 1 for an action that can matter now, at least one."""


@dataclass(frozen=True, slots=True)
class MemberView:
    """What a coordinator sees of an agent.

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
        constraints: the tasks that matter, each with what it is missing: those that the last message of this
            conversation with tasks has brought; else, in a turn with feedback, as they are now.
        problems: why this agent's previous answer was refused; empty at a first try.
        team: the plans of all agents by index, for a coordinator; empty for an agent.
        notes: what extensions show in this turn, in the order of the extensions.
        arrays: returns the observation and the mask of actions as arrays, while the mind thinks; they are not computed
            unless it is called. None for a coordinator, and in a world that is no `maeil.world.GivesArrays`.
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
    notes: tuple[Note, ...] = ()
    arrays: Callable[[], Arrays] | None = field(default=None, repr=False, compare=False)

    @property
    def may_resume(self) -> bool:
        """Whether it has a plan that it may resume."""
        return self.plan is not None and not any(note.replan for note in self.notes)

    @property
    def reconsidered(self) -> frozenset[int]:
        """The agents whose plans some note is about: whoever plans for them should look at these plans again."""
        return frozenset(agent for note in self.notes for agent in note.agents)

    @property
    def wanted(self) -> Mapping[int, tuple[str, ...]]:
        """The names of what others need help with or news of, by their indices, as notes say."""
        return {agent: names for note in self.notes for agent, names in note.wanted.items()}

    def noted(self, source: str) -> list[Any]:
        """Return the contents of the notes of an extension, in order."""
        return [note.content for note in self.notes if note.source == source]


class Resume(StrEnum):
    """The decision of an interrupted agent to go on with the plan that it has."""

    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Thought:
    """What a mind answers.

    Attributes:
        decision: a plan to commit, `Resume.RESUME`, or None for neither.
        messages: what it wants to send.
        calls: the language-model calls it made on the way; empty: those that its models have entered in the ledger.
        failure: why there is no answer, for a mind that has tried in vain to get one: it is not asked again, and its
            agent keeps its plan, or idles for a step.
        answers: what it answers to extensions, by their names, each in the extension's own type.
    """

    decision: Plan | Resume | None = None
    messages: tuple[Draft, ...] = ()
    calls: tuple[Call, ...] = ()
    failure: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)


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
