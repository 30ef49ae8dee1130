"""The typed events of a trace. One event is one line of `trace.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

SCHEMA = 2
"""Version of the events below; it moves when a reader of the older ones would misread a newer trace."""

SCHEMA_WITHOUT_REPAIR = 1
"""Version of a trace without the events that came with the next one, which readers of that version read as well."""

Number = int | float
"""A number as JSON has it: a whole one stays whole when it is read back."""

WALL_FIELDS = ("wall", "seconds")
"""Fields that hold wall time; everything else of a trace is reproducible byte for byte, but for the next."""

WALL_CALL_FIELDS = ("seconds", "attempts", "retries", "cache_hit")
"""Fields of a call that tell how its answer was had, not what it was: they depend on the network and on the cache."""

CUT_SHORT = "the episode ended before this thought could take effect"
"""What stands in `refused` of a thought that nothing was wrong with."""


@dataclass(frozen=True, slots=True)
class EpisodeStart:
    """The first event: all that is needed to read the others and to draw the board again.

    Attributes:
        branch: what it branches off, if it does: `run`, `t` and `t_hat` of the instant, `prefix`, the digest of what is
            as it was there, and `edits`. No other episode's file has the field.
    """

    kind: ClassVar[str] = "episode_start"
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
class ThoughtStart:
    """A participant begins to think: the acts of its turn, and whether an earlier answer was refused."""

    kind: ClassVar[str] = "thought_start"
    agent: int
    acts: Sequence[str]
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class ThoughtEnd:
    """A thought is over: what it cost on the cognitive clock, its calls, why it took no effect if it took none."""

    kind: ClassVar[str] = "thought_end"
    agent: int
    cost: Number
    calls: Sequence[Mapping[str, Any]]
    refused: Sequence[str]
    seconds: Number


@dataclass(frozen=True, slots=True)
class StageChange:
    """An agent goes from one stage to another."""

    kind: ClassVar[str] = "stage"
    agent: int
    from_stage: str
    to_stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class MessageSent:
    """A message leaves its sender; with `feedback` it carries the states of all tasks as the trace has them so far."""

    kind: ClassVar[str] = "message_sent"
    message: int
    sender: int
    recipients: Sequence[int]
    what: str
    content: str
    delivered_at: Number
    feedback: bool


@dataclass(frozen=True, slots=True)
class MessageRead:
    """A participant reads a message, at the start of the thought that sees it."""

    kind: ClassVar[str] = "message_read"
    message: int
    agent: int


@dataclass(frozen=True, slots=True)
class PlanChange:
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
class ActionChange:
    """A symbolic action started (`status` is `started`) or ended."""

    kind: ClassVar[str] = "action"
    plan: str
    agent: int
    index: int
    action: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StepTaken:
    """The environment stepped from `t` to `t + 1` with this primitive of each agent, and gave this mean reward."""

    kind: ClassVar[str] = "step"
    joint: Sequence[int]
    reward: Number


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What the step from `t` to `t + 1` did, in the world's own words, and how the attempts at tasks came off.

    An attempt: `task`, `agents`, `succeeded`, and, when it failed, the `missing` constraints. A second one at `t + 1`,
    without outcomes, has the attempts of those whose wait for others has ended in vain with the step.
    """

    kind: ClassVar[str] = "outcome"
    outcomes: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ConstraintChange:
    """The constraints of a task, under the joint action of the coming step; with threshold 0 the task is over.

    `spatial`, `temporal`, `participation` and `joint` are numbers of agents, to be held against `threshold`. `literal`
    has threshold, spatial and dependency by EmCoop's literal definition; None in traces of versions before 0.11.
    """

    kind: ClassVar[str] = "constraint"
    task: Mapping[str, str]
    threshold: int
    spatial: int
    temporal: int
    participation: int
    joint: int
    dependency: bool
    literal: tuple[int, int, bool] | None = None


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """An agent has gained or lost a capability in the step from `t` to `t + 1`."""

    kind: ClassVar[str] = "capability"
    agent: int
    capability: str
    gained: bool


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The team's progress, at the start and whenever it changes."""

    kind: ClassVar[str] = "score"
    reached: int
    goals: int
    score: Number


@dataclass(frozen=True, slots=True)
class ForcedReady:
    """An agent used up its thoughts of this step and became ready with the plan it had, or with an idle one."""

    kind: ClassVar[str] = "forced_ready"
    agent: int


@dataclass(frozen=True, slots=True)
class RepairChecked:
    """The committed plans were judged before anything of the new ones is carried out. Since schema 2.

    Attributes:
        predictor: `heuristic` or `exact`.
        plans: each judged plan: `plan`, `agent`, `task` (None where it serves no task of the world).
        violations: what they are expected to violate: `task`, `constraint`, `agents`, `expected`, `needed`.
        verdict: `passed`; `cooldown`: it is too early to repair these tasks again; `no_advice`: there is no plan to
            put in their place; or `repair`.
    """

    kind: ClassVar[str] = "repair_check"
    predictor: str
    plans: Sequence[Mapping[str, Any]]
    violations: Sequence[Mapping[str, Any]]
    verdict: str


@dataclass(frozen=True, slots=True)
class RepairStarted:
    """A repair begins: whose plans it is about, and what is advised. Since schema 2.

    Attributes:
        mode: `channel`, `notice` or `rules`.
        agents: those concerned, ascending.
        advice: `task`, and `plans` by the name of the agent; None where nothing is advised.
    """

    kind: ClassVar[str] = "repair_start"
    mode: str
    agents: Sequence[int]
    advice: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RepairEnded:
    """A repair is over, and all agents are ready again. Since schema 2.

    Attributes:
        replaced: ids of the plans that were given up.
    """

    kind: ClassVar[str] = "repair_end"
    replaced: Sequence[str]


@dataclass(frozen=True, slots=True)
class Described:
    """An agent has said what it offers and needs. Since schema 2.

    Attributes:
        offers: `text`, `tasks`, and whether the agent is `free`.
        needs: `text` and `tasks`.
    """

    kind: ClassVar[str] = "described"
    agent: int
    offers: Mapping[str, Any]
    needs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Routed:
    """Needs were held against offers, and it was settled who writes to whom. Since schema 2.

    Attributes:
        matcher: what they were held against each other by.
        agents: those who have described themselves since the last time, ascending.
        scores: a row for each of them, of how well each of them offers what it needs, to six decimals.
        edges: the index of a sender and that of a recipient each.
    """

    kind: ClassVar[str] = "routed"
    matcher: str
    agents: Sequence[int]
    scores: Sequence[Sequence[Number]]
    edges: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Predicted:
    """What an agent expects others to do, said in a thought that plans, before it takes effect. Since schema 2.

    Attributes:
        agent: whose thought it is.
        predictions: one for each of the others that it says something about: `agent`, and `task`, what the next plan
            is for that this one commits of its own accord after the thought has begun; None: it serves no task.
    """

    kind: ClassVar[str] = "prediction"
    agent: int
    predictions: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class HealerActed:
    """A healer tells agents something (`maeil.healing`). Since schema 2.

    Attributes:
        note: its number, from 0.
        healer: which, by the name of its pattern.
        action: `annotate`: it is put on messages that were sent; `create`: it is one of its own.
        recipients: whom it tells, ascending.
        content: the text.
        messages: ids of the messages that it is put on.
        subject: the target of the task that it is about; empty where there is none.
        handlers: who is to go on with it, or whom to listen to.
    """

    kind: ClassVar[str] = "heal"
    note: int
    healer: str
    action: str
    recipients: Sequence[int]
    content: str
    messages: Sequence[int]
    subject: str
    handlers: Sequence[int]


@dataclass(frozen=True, slots=True)
class HealerHeard:
    """An agent reads what a healer has said, at the start of the first thought that sees it. Since schema 2."""

    kind: ClassVar[str] = "heal_read"
    note: int
    agent: int


@dataclass(frozen=True, slots=True)
class WorldChange:
    """The world was changed from outside, at the begin of step `t`, before anybody thought in it. Since schema 2.

    Attributes:
        changes: what is another from then on, in the words of the world: see `maeil.world.Changeable`.
    """

    kind: ClassVar[str] = "world_change"
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeEnd:
    """The last event.

    Attributes:
        outcome: `completed`, `limit`, `budget` or `error`.
        steps: environment steps taken.
        finished: whether the task was finished.
        reason: more on the outcome, e.g. the error's class and message.
    """

    kind: ClassVar[str] = "episode_end"
    outcome: str
    steps: int
    finished: bool
    reason: str = ""


Event = (
    EpisodeStart
    | ThoughtStart
    | ThoughtEnd
    | StageChange
    | MessageSent
    | MessageRead
    | PlanChange
    | ActionChange
    | StepTaken
    | StepOutcome
    | ConstraintChange
    | CapabilityChange
    | ScoreChange
    | ForcedReady
    | RepairChecked
    | RepairStarted
    | RepairEnded
    | Described
    | Routed
    | Predicted
    | HealerActed
    | HealerHeard
    | WorldChange
    | EpisodeEnd
)

EVENTS: dict[str, type[Event]] = {event.kind: event for event in Event.__args__}
"""Every event by its name in the file."""


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
