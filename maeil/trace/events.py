"""The typed events of a trace. One event is one line of `trace.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import orjson

from maeil.acting import Primitive
from maeil.outcomes import Outcome

SCHEMA = 6
"""Version of the events below; increase it when they change. The reader refuses traces of other versions."""

Number = int | float
"""A JSON number; integers stay integers when they are read back."""

Agent = Annotated[int, "index"]
"""A participant: its index in `agents`, followed by `coordinators`, of the first event."""
Agents = Annotated[Number, "agents"]
"""A number of agents, or the sum of their weights."""
Steps = Annotated[int, "steps"]
"""A number of environment steps."""
Time = Annotated[Number, "cognitive time"]
"""An instant or a duration on the cognitive clock, in the unit that `clock` of the first event names."""
Seconds = Annotated[Number, "seconds"]
"""Wall time."""

WALL_FIELDS = ("wall", "seconds")
"""Fields with wall time. All other fields, except `WALL_CALL_FIELDS`, are reproducible byte for byte."""

WALL_CALL_FIELDS = ("seconds", "attempts", "retries", "cache_hit", "fingerprint")
"""Fields of a call that depend on the network, the cache and the service, rather than on the answer."""

CUT_SHORT = "the episode ended before this thought could take effect"
"""The entry in `refused` of a thought that was not at fault."""


EVENTS: dict[str, type[Event]] = {}
"""All events by their names in the file; an extension's events are added when its module is imported."""


class Event:
    """Base of every event. A subclass is a dataclass, and registers itself under its `kind`.

    Events are never changed. The loop's events are not frozen, though, and have slots only if fields can be left out
    (msgspec does not set such a field on an object without slots): a thought creates ten events, and a plain dataclass
    takes a quarter of the time to create and to write as JSON.
    """

    __slots__ = ()
    kind: ClassVar[str]
    """Name of the event in the file."""
    opens_step: ClassVar[bool] = False
    """Whether it can be the first event of a step without thoughts, after the effects of the previous step."""
    changes_world: ClassVar[bool] = False
    """Whether it records an external change of the world, which a replay repeats with `apply`."""
    _name: ClassVar[bytes]
    left_out: ClassVar[bytes] = b""
    """The last fields as JSON with their default values; the file leaves them out if they have these values."""

    def line(self, seq: int, t: int, t_hat: Number, wall: float) -> bytes:
        """Return the event as a line of the file.

        Args:
            seq: number of the event in its trace.
            t: environment step.
            t_hat: cognitive time.
            wall: seconds since the recording started.
        """
        fields = orjson.dumps(self)[1:-1]
        if self.left_out:
            fields = fields.removesuffix(self.left_out)
        return b'{"seq":%d,"t":%d,"t_hat":%b,"event":"%b",%b,"wall":%.6f}\n' % (
            seq, t, b"%d" % t_hat if type(t_hat) is int else orjson.dumps(t_hat), self._name, fields, wall,
        )  # fmt: skip

    def apply(self, world: Any) -> None:
        """Apply the event's change to a world. Most events change nothing."""

    def __init_subclass__(cls) -> None:
        """Register the event.

        Raises:
            ValueError: the name is taken.
        """
        taken = EVENTS.setdefault(cls.kind, cls)
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"an event {cls.kind!r} already exists: choose another name")
        EVENTS[cls.kind] = cls  # a dataclass with slots creates its class twice
        cls._name = cls.kind.encode()


@dataclass(slots=True)
class EpisodeStart(Event):
    """The first event of every trace. A reader needs it to read the others and to draw the board.

    Attributes:
        schema: version of the events; this page describes one version, and a reader refuses the others.
        seed: names the board, and all other randomness of the episode.
        world: name of the world.
        topology: name of the topology.
        agents: names of the agents, by index.
        coordinators: names of participants without a body; their indices follow those of the agents.
        clock: unit of cognitive time, `tokens`, `fixed` or `seconds`.
        board: the initial state in the terms of the world.
        branch: the branch point and the changes of a branch; missing in other runs.

    The keys of `branch`:
        run (string): name of the folder of the run.
        t (integer; steps): step of the branch point.
        t_hat (number or null; cognitive time): cognitive time of the branch point; null for the start of the step.
        prefix (string): SHA-256 digest of the events that both have in common.
        edits (list of string): the changes, as `KEY=VALUE`.
        told (list of string; optional): the other changes, as options of `quorum branch`.
        draw (integer; optional): number of the sample.
        copied (list of string; optional): agents that the edits name.
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

    @property
    def environment(self) -> str:
        """Name of the environment from the board, such as one of another library; by default, name of the world."""
        named = self.board.get("environment")
        return named if isinstance(named, str) else self.world


@dataclass
class ThoughtStart(Event):
    """A participant starts to think.

    Attributes:
        agent: who thinks.
        acts: what its turn allows and asks for: `speak`, `plan`, `acknowledge`, or what an extension asks.
        problems: why its previous answer in this turn was refused; empty for a first try.
    """

    kind: ClassVar[str] = "thought_start"
    agent: Agent
    acts: Sequence[str]
    problems: Sequence[str]


@dataclass
class ThoughtEnd(Event):
    """A thought ends, at the cognitive time at which it takes effect.

    Attributes:
        agent: who thought.
        cost: how long it took on the cognitive clock.
        calls: the calls of language models that it made, in order; empty for a mind of rules.
        refused: why it has no effect; empty if it has one.
        seconds: how long it took.

    The keys of each record in `calls` (minds can add more):
        model (string): name of the model that answered.
        prompt_tokens (integer; tokens): tokens read, cached ones included.
        completion_tokens (integer; tokens): tokens written, thoughts included.
        cached_tokens (integer; tokens): tokens read from the provider's prompt cache.
        usd (number or null; US dollars): price; null if it is unknown.
        seconds (number; seconds): time until the answer, without retries of other calls.
        attempts (integer): requests sent.
        retries (integer): requests sent again after a failure of the network or the service.
        repairs (integer): requests sent again because the answer was malformed.
        finish (string): why the model stopped: `stop`, `length` or `refusal`.
        cache_hit (boolean): whether the local cache answered, at no cost.
        simulated (boolean): whether a simulated model answered.
        usage_estimated (boolean; optional): the provider gave no token counts, so these are estimates.
        reasoning_tokens (integer; optional, tokens): tokens of `completion_tokens` that are thoughts.
        reasoning_estimated (boolean; optional): that count is an estimate.
        cache_written_tokens (integer; optional, tokens): tokens of `prompt_tokens` written to the provider's cache.
        answers (integer; optional): answers received, if more than one.
        widened (integer; optional): requests sent again with more room because the answer was empty.
        tier (string; optional): tier of service, if it is not the usual one.
        fallback (string; optional): name of the fallback that answered in place of the model.
        fingerprint (string; optional): build of the model, as the service names it.
        not_sent (list of string; optional): sampling parameters that the model does not take.
        asked_otherwise (list of string; optional): what was left out of the request because the service refused it.
        unusable (integer; optional): replies without an answer that were paid for; the totals include them.
        parse_failure (boolean; optional): the answer was malformed to the end.
        empty_answer (string; optional): why there was no answer.
        unanswered (string; optional): the last request got no answer: `cancelled` or `failed`.
        role (string; optional): the part of the mind that asked, such as `critic`.
        rejections (list of object; optional): what the rules of the world found wrong: `code`, `constraint`, `agents`.
        on_feedback (boolean; optional): the call answers feedback of other agents.
        repaired (list of integer; optional, index): agents whose plan was replaced after a rejection.
    """

    kind: ClassVar[str] = "thought_end"
    agent: Agent
    cost: Time
    calls: Sequence[Mapping[str, Any]]
    refused: Sequence[str]
    seconds: Seconds


@dataclass
class StageChange(Event):
    """An agent goes from one stage to another: R reasons, W waits, X executes, I is interrupted.

    Attributes:
        agent: whose stage changes.
        from_stage: `R`, `W`, `X` or `I`.
        to_stage: the same.
        reason: `plan_committed`, `all_ready`, `message`, `plan_ended`, `resumed`, `replaced`, or the name of an
            extension.
    """

    kind: ClassVar[str] = "stage"
    agent: Agent
    from_stage: str
    to_stage: str
    reason: str


@dataclass(slots=True)
class MessageSent(Event):
    """A message leaves its sender.

    Attributes:
        message: number of the message in this episode, from 0.
        sender: who sends it.
        recipients: who receives it, ascending.
        what: its purpose: `inform`, `propose`, `directive`, `ack`, `request` or `feedback`.
        content: its text.
        delivered_at: when it arrives in the mailboxes.
        tasks: open tasks that the topology attaches to it.
        task: `kind` and `target` of the task that its sender says it does itself; null for none.
        asks: requests to others; null if only the text states them. Left out with `task` if both are null.

    The keys of each record in `tasks`:
        task (object): `kind` and `target` of the task.
        needs (integer; agents): how many agents it takes at the same time.
        more (integer; agents): how many more able agents have to come.
        in_place (list of integer; optional, index): who is in place.
        able (list of integer; optional, index): who is able to take part; missing if all agents are.
        planned (list of integer; optional, index): who has a live plan for it.
        missing (object; optional): what the agents lack: name to amount.
        before (list of string; optional): what must be done first.

    The keys of each record in `asks`:
        agent (integer; index): who is asked.
        task (object): `kind` and `target` of the task.
    """

    kind: ClassVar[str] = "message_sent"
    left_out: ClassVar[bytes] = b',"task":null,"asks":null'
    message: int
    sender: Agent
    recipients: Sequence[Agent]
    what: str
    content: str
    delivered_at: Time
    tasks: Sequence[Mapping[str, Any]] = ()
    task: Mapping[str, str] | None = None
    asks: Sequence[Mapping[str, Any]] | None = None


@dataclass
class MessagesRead(Event):
    """A participant reads its unread messages, at the start of the first thought that sees them.

    Attributes:
        agent: who reads them.
        messages: their numbers, in the order of their arrival.
    """

    kind: ClassVar[str] = "messages_read"
    agent: Agent
    messages: Sequence[int]


@dataclass
class PlanChange(Event):
    """A plan is committed, starts to run, or ends.

    The last four fields come with `committed`; otherwise they are null or empty.

    Attributes:
        plan: id of the plan, `P<agent>.<k>`, the k-th plan of its agent, from 1.
        agent: whose plan it is.
        status: `committed`, `running`, or how it ends: `succeeded`, `failed`, `timed_out`, `interrupted` (given up
            while it ran), `replaced` (given up before it ran) or `cancelled` (by the end of the episode).
        reason: why it ends.
        task: `kind` and `target` of the task that it serves; null for none.
        actions: its symbolic actions, each with its name in `action` and its arguments.
        rationale: why the mind made it.
        flag: why the loop committed it in place of the mind: `invalid_plan`, `parse_failure`, `empty_answer` or
            `forced_ready`; empty for a plan of the mind.
    """

    kind: ClassVar[str] = "plan"
    plan: str
    agent: Agent
    status: str
    reason: str = ""
    task: Mapping[str, str] | None = None
    actions: Sequence[Mapping[str, Any]] | None = None
    rationale: str = ""
    flag: str = ""


@dataclass
class ActionChange(Event):
    """A symbolic action starts or ends.

    Attributes:
        plan: id of its plan.
        agent: who acts.
        index: its place in the plan, from 0.
        action: its name.
        status: `started`, or how it ends: `success`, `failed`, `timeout` or `cancelled`.
        reason: why it failed or was cancelled.
    """

    kind: ClassVar[str] = "action"
    plan: str
    agent: Agent
    index: int
    action: str
    status: str
    reason: str = ""


@dataclass(slots=True)
class StepTaken(Event):
    """The environment steps from `t` to `t + 1`.

    Attributes:
        joint: the primitive of each agent, by index: a number of the world, or any JSON; null for an agent off turn.
        reward: mean reward over the agents.
        rewards: reward of each agent, by index; left out if all get `reward`.
    """

    kind: ClassVar[str] = "step"
    opens_step: ClassVar[bool] = True
    left_out: ClassVar[bytes] = b',"rewards":null'
    joint: Sequence[Primitive]
    reward: Number
    rewards: Sequence[Number] | None = None


@dataclass
class StepOutcome(Event):
    """The effects of the step from `t` to `t + 1`. A step without effects has no such event.

    Attributes:
        outcomes: changes of the world in its own terms; `what` names the kind of each.
        attempts: attempts at cooperative tasks.

    The keys of each record in `attempts`:
        task (object): `kind` and `target` of the task.
        agents (list of integer; index): who took part, ascending.
        succeeded (boolean): whether it succeeded.
        missing (list of string): constraints that a failed attempt lacked, the cause first.
        unmet (boolean): whether it failed before any primitive, because the world refused it or others did not come.
    """

    kind: ClassVar[str] = "outcome"
    outcomes: Sequence[Mapping[str, Any]]
    attempts: Sequence[Mapping[str, Any]]


@dataclass(slots=True)
class ConstraintChange(Event):
    """The constraints of a cooperative task change, under the joint action of the coming step.

    Attributes:
        task: `kind` and `target` of the task.
        threshold: how many agents the task takes; 0 if the task is over. If agents have different weights, this and the
            next four fields are sums of `weights`.
        spatial: how many are in place.
        temporal: how many work on it in this step.
        participation: how many have a plan for it, or act on it.
        joint: how many are in place, act on it and are able to.
        dependency: whether everything else that it needs holds.
        literal: threshold, spatial and dependency, by EmCoop's literal definition.
        weights: weight of each agent, by index; left out if each counts as 1.
    """

    kind: ClassVar[str] = "constraint"
    opens_step: ClassVar[bool] = True
    left_out: ClassVar[bytes] = b',"weights":null'
    task: Mapping[str, str]
    threshold: Agents
    spatial: Agents
    temporal: Agents
    participation: Agents
    joint: Agents
    dependency: bool
    literal: tuple[Agents, Agents, Agents]
    weights: Sequence[Number] | None = None


@dataclass
class CapabilityChange(Event):
    """An agent gains or loses a capability in the step from `t` to `t + 1`.

    Attributes:
        agent: which agent.
        capability: name of the capability, such as a tool.
        gained: whether it gains it.
    """

    kind: ClassVar[str] = "capability"
    agent: Agent
    capability: str
    gained: bool


@dataclass
class ScoreChange(Event):
    """The team's progress, at the start and whenever it changes.

    Attributes:
        reached: goals reached.
        goals: goals of the episode; 0 in a world without a list of goals.
        score: the score of the world.
    """

    kind: ClassVar[str] = "score"
    reached: int
    goals: int
    score: Number


@dataclass
class ForcedReady(Event):
    """An agent has used up its thoughts of this step. It continues its current plan, or idles.

    Attributes:
        agent: which agent.
    """

    kind: ClassVar[str] = "forced_ready"
    agent: Agent


@dataclass
class EpisodeEnd(Event):
    """The last event. The trace of a killed run has none.

    Attributes:
        outcome: `success`, `failure`, `ended`, `truncated`, `budget` or `error`.
        steps: environment steps taken.
        reason: details, such as the class and the message of an error.
    """

    kind: ClassVar[str] = "episode_end"
    outcome: Outcome
    steps: Steps
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its place on both clocks.

    Attributes:
        seq: number of the event in its trace, from 0.
        t: step of the environment at which it happens, from 0.
        t_hat: when it happens on the cognitive clock, which runs while the environment is paused.
        wall: time since the recording started; not reproducible.
        event: what happened.
    """

    seq: int
    t: Steps
    t_hat: Time
    wall: Seconds
    event: Event

    def to_json(self) -> dict[str, Any]:
        """Return the event as data, with the fields of its line in the file."""
        found: dict[str, Any] = orjson.loads(self.event.line(self.seq, self.t, self.t_hat, self.wall))
        return {**found, "wall": self.wall}
