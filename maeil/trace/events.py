"""The typed events of a trace. One event is one line of `trace.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from maeil.acting import Primitive
from maeil.outcomes import Outcome

SCHEMA = 4
"""Version of the events below; it moves when they change. A trace of another version is refused."""

Number = int | float
"""A number as JSON has it: a whole one stays whole when it is read back."""

WALL_FIELDS = ("wall", "seconds")
"""Fields that hold wall time; everything else of a trace is reproducible byte for byte, but for the next."""

WALL_CALL_FIELDS = ("seconds", "attempts", "retries", "cache_hit", "fingerprint")
"""Fields of a call that tell how its answer was had, not what it was: they depend on network, cache and service."""

CUT_SHORT = "the episode ended before this thought could take effect"
"""What stands in `refused` of a thought that nothing was wrong with."""


EVENTS: dict[str, type[Event]] = {}
"""Every event by its name in the file; those of an extension from the import of its module on."""


class Event:
    """Base of every event. A subclass is a frozen dataclass, and registers itself under its `kind`."""

    __slots__ = ()
    kind: ClassVar[str]
    """Name of the event in the file."""
    opens_step: ClassVar[bool] = False
    """Whether it can come first in a step in which nobody thinks, after what the step before has brought about."""
    left_out: ClassVar[bytes] = b""
    """The last field as JSON, where it has its default: a file then leaves it out."""

    def __init_subclass__(cls) -> None:
        """Register the event.

        Raises:
            ValueError: the name is taken.
        """
        taken = EVENTS.setdefault(cls.kind, cls)
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"there is an event {cls.kind!r} already: take another name")
        EVENTS[cls.kind] = cls  # a dataclass with slots is made twice


@runtime_checkable
class ChangesWorld(Protocol):
    """An event that records a change of the world from outside, which a replay makes again."""

    def apply(self, world: Any) -> None:
        """Change a world in the same way."""


@dataclass(frozen=True, slots=True)
class EpisodeStart(Event):
    """The first event: all that is needed to read the others and to draw the board again.

    Attributes:
        branch: what it branches off, if it does: `run`, `t` and `t_hat` of the instant, `prefix`, the digest of what is
            as it was there, and `edits`. No other episode's file has the field.
    """

    kind: ClassVar[str] = "episode_start"
    left_out: ClassVar[bytes] = b',"branch":null'
    schema: int
    seed: int
    world: str
    topology: str
    agents: Sequence[str]
    coordinators: Sequence[str]
    clock: str
    board: Mapping[str, Any]
    branch: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ThoughtStart(Event):
    """A participant begins to think: the acts of its turn, and whether an earlier answer was refused."""

    kind: ClassVar[str] = "thought_start"
    agent: int
    acts: Sequence[str]
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class ThoughtEnd(Event):
    """A thought is over: what it cost on the cognitive clock, its calls, why it took no effect if it took none."""

    kind: ClassVar[str] = "thought_end"
    agent: int
    cost: Number
    calls: Sequence[Mapping[str, Any]]
    refused: Sequence[str]
    seconds: Number


@dataclass(frozen=True, slots=True)
class StageChange(Event):
    """An agent goes from one stage to another."""

    kind: ClassVar[str] = "stage"
    agent: int
    from_stage: str
    to_stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class MessageSent(Event):
    """A message leaves its sender, with the open `tasks` that are attached to it."""

    kind: ClassVar[str] = "message_sent"
    message: int
    sender: int
    recipients: Sequence[int]
    what: str
    content: str
    delivered_at: Number
    tasks: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class MessageRead(Event):
    """A participant reads a message, at the start of the thought that sees it."""

    kind: ClassVar[str] = "message_read"
    message: int
    agent: int


@dataclass(frozen=True, slots=True)
class PlanChange(Event):
    """A plan takes a status. The content (task, actions, rationale, flag) comes with `committed` alone."""

    kind: ClassVar[str] = "plan"
    plan: str
    agent: int
    status: str
    reason: str = ""
    task: Mapping[str, str] | None = None
    actions: Sequence[Mapping[str, Any]] | None = None
    rationale: str = ""
    flag: str = ""


@dataclass(frozen=True, slots=True)
class ActionChange(Event):
    """A symbolic action started (`status` is `started`) or ended."""

    kind: ClassVar[str] = "action"
    plan: str
    agent: int
    index: int
    action: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StepTaken(Event):
    """The environment stepped from `t` to `t + 1`.

    Attributes:
        joint: the primitive of each agent, by index; null for an agent that is off turn.
        reward: the mean of the agents' rewards.
        rewards: of each agent, by index; left out where all get `reward`.
    """

    kind: ClassVar[str] = "step"
    opens_step: ClassVar[bool] = True
    left_out: ClassVar[bytes] = b',"rewards":null'
    joint: Sequence[Primitive]
    reward: Number
    rewards: Sequence[Number] | None = None


@dataclass(frozen=True, slots=True)
class StepOutcome(Event):
    """What the step from `t` to `t + 1` did, in the world's own words, and how the attempts at tasks came off.

    An attempt: `task`, `agents`, `succeeded`, the constraints that a failed one was `missing`, its cause first, and
    `unmet`: whether it was in vain before any primitive, since the world refused it at `t` or nobody came by then.
    """

    kind: ClassVar[str] = "outcome"
    outcomes: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ConstraintChange(Event):
    """The constraints of a task, under the joint action of the coming step; with threshold 0 the task is over.

    `spatial`, `temporal`, `participation` and `joint` are numbers of agents, to be held against `threshold`. `literal`
    has threshold, spatial and dependency, as numbers of agents, by EmCoop's literal definition. Where agents count for
    different amounts, `weights` has that of each by index, and the numbers are sums of weights; else it is left out.
    """

    kind: ClassVar[str] = "constraint"
    opens_step: ClassVar[bool] = True
    left_out: ClassVar[bytes] = b',"weights":null'
    task: Mapping[str, str]
    threshold: Number
    spatial: Number
    temporal: Number
    participation: Number
    joint: Number
    dependency: bool
    literal: tuple[Number, Number, Number]
    weights: Sequence[Number] | None = None


@dataclass(frozen=True, slots=True)
class CapabilityChange(Event):
    """An agent has gained or lost a capability in the step from `t` to `t + 1`."""

    kind: ClassVar[str] = "capability"
    agent: int
    capability: str
    gained: bool


@dataclass(frozen=True, slots=True)
class ScoreChange(Event):
    """The team's progress, at the start and whenever it changes."""

    kind: ClassVar[str] = "score"
    reached: int
    goals: int
    score: Number


@dataclass(frozen=True, slots=True)
class ForcedReady(Event):
    """An agent used up its thoughts of this step and became ready with the plan it had, or with an idle one."""

    kind: ClassVar[str] = "forced_ready"
    agent: int


@dataclass(frozen=True, slots=True)
class EpisodeEnd(Event):
    """The last event.

    Attributes:
        outcome: how it ended.
        steps: environment steps taken.
        reason: more on the outcome, e.g. the error's class and message.
    """

    kind: ClassVar[str] = "episode_end"
    outcome: Outcome
    steps: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its place on both clocks.

    Attributes:
        seq: number of the event in its trace, from 0.
        t: environment step.
        t_hat: cognitive time.
        wall: seconds since the recording began; never reproducible.
        event: what happened.
    """

    seq: int
    t: int
    t_hat: Number
    wall: float
    event: Event
