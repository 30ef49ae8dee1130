"""The contract of a mind: the view that it gets in a turn, and the thought that it returns."""

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
    """What a participant may do in a turn."""

    SPEAK = "speak"
    ACKNOWLEDGE = "acknowledge"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn in the conversation, given by the topology.

    Attributes:
        agent: index of the participant that has the turn.
        acts: what it may do.
        recipients: participants that it may write to in this turn, ascending.
        limit: maximum number of messages in this turn; None for no limit.
        role: the participant's role in the topology ("leader", "follower"); empty if all are equal.
        feedback: whether the participant sees the open tasks and what they lack. If it has a role, its messages carry
            these tasks, and any other task that they name; without roles, each participant sees the tasks itself.
        task: the task that the team assigned to the participant before it plans; None if it assigned none.
        partners: the other participants with the same assignment, ascending.
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
        """The names of `acts` and `asks`, as written in traces and prompts."""
        return sorted((*self.acts, *self.asks))


@dataclass(frozen=True, slots=True)
class Note:
    """A note from an extension to a participant in a turn.

    A prompt contains `shown` as a block, and ends with `template`. A mind that knows the extension reads `content`.

    Attributes:
        source: name of the extension.
        content: the content, in the extension's own type.
        block: name of the prompt block that contains `shown`.
        shown: the content as JSON-ready data; empty for a note without data.
        template: the Jinja file that explains the block.
        agents: agents with plans that the note is about, ascending.
        replan: whether these agents must commit a new plan instead of resuming the current one.
        words: the prompt's description of how the team talks in this turn; empty for that of the topology.
        wanted: by index of another agent, the names of what it needs help with or news of.
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
    """A plan as its own agent sees it: the current plan with its progress, or an earlier plan with its end.

    Attributes:
        id: name of the plan.
        task: the task that it serves.
        actions: its actions as text, in order.
        done: number of actions that have succeeded.
        status: status of the plan.
        reason: why it ended; empty while it is live.
    """

    id: str
    task: Task | None
    actions: tuple[str, ...]
    done: int
    status: PlanStatus
    reason: str = ""


class Observation(Protocol):
    """The symbolic observation of one agent: a JSON-ready record of the world's own type, also available as text.

    It may have a method `shown()`, which returns a shorter, JSON-ready form for prompts. This form may omit details
    that no plan needs.
    """

    def text(self) -> str:
        """Return the observation as plain text."""


class Arrays(NamedTuple):
    """An agent's observation in the format of the world's environment for learners (`maeil.world.GivesArrays`)."""

    observation: npt.NDArray[np.float32]
    """An array of any shape, the same in all episodes of a world."""
    mask: npt.NDArray[np.int8]
    """(actions,): 1 for each action that can have an effect now, at least one."""


@dataclass(frozen=True, slots=True)
class MemberView:
    """A coordinator's view of an agent.

    Attributes:
        plan: the live plan with its progress; None if the agent needs a plan.
        outcomes: the last plans that ended, oldest first.
    """

    plan: PlanView | None
    outcomes: tuple[PlanView, ...]


@dataclass(frozen=True, slots=True)
class View:
    """The complete input of a mind for one thought.

    Attributes:
        agent: own index.
        name: own name in the world.
        names: names of all participants by index.
        turn: the turn, which says what the topology allows now.
        t: environment step.
        t_hat: cognitive time at the start of the thought.
        observation: the agent's observation; for a coordinator, which has no body, the whole world.
        unread: messages that have arrived since the last thought, in order of arrival.
        memory: earlier messages, sent and read, oldest first, at most `memory.messages` of them.
        plan: the current plan with its progress, or None.
        outcomes: the last plans that ended, oldest first.
        constraints: the open tasks and what they lack: those attached to the latest message in this conversation that
            has any; otherwise, in a turn with feedback, the current ones.
        problems: why this agent's previous answer was refused; empty on the first attempt.
        team: the plans of all agents by index, for a coordinator; empty for an agent.
        notes: notes from extensions for this turn, in the order of the extensions.
        arrays: returns the observation and the action mask as arrays. They are computed on call, so call it only during
            the thought. None for a coordinator, and in a world that does not implement `maeil.world.GivesArrays`.
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
        """Whether the agent has a plan that it may resume."""
        return self.plan is not None and not any(note.replan for note in self.notes)

    @property
    def reconsidered(self) -> frozenset[int]:
        """The agents with plans that a note is about; their planner should reconsider these plans."""
        return frozenset(agent for note in self.notes for agent in note.agents)

    @property
    def wanted(self) -> Mapping[int, tuple[str, ...]]:
        """What others need help with or news of, by agent index, from all notes."""
        return {agent: names for note in self.notes for agent, names in note.wanted.items()}

    def noted(self, source: str) -> list[Any]:
        """Return the contents of the notes of an extension, in order."""
        return [note.content for note in self.notes if note.source == source]


class Resume(StrEnum):
    """The decision of an interrupted agent to continue its current plan."""

    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Thought:
    """A mind's answer to a turn.

    Attributes:
        decision: a plan to commit, `Resume.RESUME`, or None for neither.
        messages: messages to send.
        calls: its language model calls; empty for those in the ledger.
        failure: why the mind could not get an answer (from its model, for example). It is then not asked again in this
            turn, and its agent keeps its plan, or idles for a step.
        answers: answers to extensions, by name, each in the extension's own type.
    """

    decision: Plan | Resume | None = None
    messages: tuple[Draft, ...] = ()
    calls: tuple[Call, ...] = ()
    failure: str = ""
    answers: Mapping[str, Any] = field(default_factory=dict)


COORDINATOR = "coordinator"
"""The name of a topology's participant without a body."""


@runtime_checkable
class Mind(Protocol):
    """Decides for one participant.

    An embodied agent's mind commits plans. A coordinator is a mind without a body: it acts on the cognitive clock only,
    sees the whole world, commits no plans, and is ready when it has nothing to say.
    """

    async def think(self, view: View) -> Thought:
        """Answer a turn. The world is paused meanwhile; other minds may think at the same time."""
