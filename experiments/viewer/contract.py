"""What the server sends to its scripts, as JSON: one type for each answer.

`static/contract.js` says the same to the scripts, in JSDoc. `tests/experiments/viewer/test_contract.py` holds the two
equal, and looks for a script that reads each field. An instant is the environment step `t` and the cognitive time
`t_hat`; events of the same `t` are in the order of the trace. What comes in large numbers is a tuple, whose places have
names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from maeil.drawing import Canvas

Record = Mapping[str, Any]
"""What worlds, minds and models write of their own; its keys are theirs."""

Span = tuple[Annotated[float, "begin"], Annotated[float, "end"], Annotated[int, "thoughts"]]
"""Of a `t`: the cognitive time when it began and when it ended, and how many thoughts ended in it."""
Action = tuple[
    Annotated[int, "agent"],
    Annotated[str, "plan"],
    Annotated[int, "index"],
    Annotated[str, "name"],
    Annotated[int, "t"],
    Annotated[float, "t_hat"],
    Annotated[int | None, "end_t"],
    Annotated[float | None, "end_t_hat"],
    Annotated[str | None, "status"],
    Annotated[str | None, "reason"],
]
"""A symbolic action; its end is null while it runs."""
PlanStatus = tuple[Annotated[int, "t"], Annotated[float, "t_hat"], Annotated[str, "status"], Annotated[str, "reason"]]
Outcome = tuple[Annotated[int, "t"], Annotated[Sequence[Record], "outcomes"], Annotated[Sequence[Record], "attempts"]]
"""What a step did, and how the attempts at tasks came off."""
TaskState = tuple[
    Annotated[int, "t"],
    Annotated[int, "threshold"],
    Annotated[int, "spatial"],
    Annotated[int, "temporal"],
    Annotated[int, "participation"],
    Annotated[int, "joint"],
    Annotated[int, "dependency"],
]
"""The constraints of a task: numbers of agents, to be held against the threshold; `dependency` is 0 or 1."""
CapabilityChange = tuple[
    Annotated[int, "t"], Annotated[int, "agent"], Annotated[str, "name"], Annotated[bool, "gained"]
]
Score = tuple[Annotated[int, "t"], Annotated[int, "reached"], Annotated[int, "goals"], Annotated[float, "score"]]
ForcedReady = tuple[Annotated[int, "t"], Annotated[float, "t_hat"], Annotated[int, "agent"]]
Interruption = tuple[
    Annotated[int, "t"],
    Annotated[float, "t_hat"],
    Annotated[str, "what"],
    Annotated[int, "agent"],
    Annotated[str, "reason"],
]
"""A failure or an interruption; the agent is -1 where it is nobody's."""
Spent = tuple[
    Annotated[float, "prompt"],
    Annotated[float, "completion"],
    Annotated[float, "reasoning"],
    Annotated[float, "usd"],
    Annotated[int, "untold"],
    Annotated[int, "simulated"],
]
"""Tokens and money of answered calls; how many do not tell them, and how many a simulated model answered."""
Usage = tuple[
    Annotated[int, "t"],
    Annotated[float, "t_hat"],
    Annotated[int, "agent"],
    Annotated[float, "prompt"],
    Annotated[float, "completion"],
    Annotated[float, "reasoning"],
    Annotated[float, "usd"],
    Annotated[int, "untold"],
    Annotated[int, "simulated"],
]
"""What a thought spent, at the instant of its end."""
Traffic = tuple[
    Annotated[int, "sender"],
    Annotated[int, "recipient"],
    Annotated[str, "what"],
    Annotated[int, "sent"],
    Annotated[int, "read"],
    Annotated[int, "passed_over"],
    Annotated[int, "read_late"],
]
"""The messages of a kind from one participant to another: a plan came before the reading of those passed over."""
Difference = tuple[Annotated[str, "key"], Annotated[str, "one"], Annotated[str, "other"]]
"""What parts two configurations: a key, with the value of each."""
ChangedMark = tuple[
    Annotated[int, "name"],
    Annotated[int, "kind"],
    Annotated[float, "x"],
    Annotated[float, "y"],
    Annotated[float, "width"],
    Annotated[float, "height"],
    Annotated[str, "label"],
    Annotated[str, "title"],
    Annotated[int, "agent"],
    Annotated[str, "turn"],
]
"""A mark that is new or changed; its name is an index into `names`, its agent -1 for none."""
ChangedWay = tuple[Annotated[int, "agent"], Annotated[Sequence[float], "points"], Annotated[Sequence[float], "target"]]
"""Where an agent's action leads: points `x, y, x, y, ...`, and a target `x, y, width, height`, empty for none.

Of the points of a way those are left out at which it goes straight on."""


class Thought(TypedDict):
    """A thought. What follows its `problems` is left out while it goes on."""

    agent: int
    t: int
    begins: float
    """Cognitive time."""
    acts: Sequence[str]
    problems: Sequence[str]
    ends: NotRequired[float]
    """Cognitive time."""
    refused: NotRequired[Sequence[str]]
    calls: NotRequired[Sequence[Record]]
    numbers: NotRequired[list[list[int]]]
    """Of the records of each call, as they are asked for: one for each answer, and one for a request without any."""


class Message(TypedDict):
    """A message."""

    t: int
    t_hat: float
    message: int
    """Its number."""
    sender: int
    recipients: Sequence[int]
    what: str
    content: str
    delivered_at: float
    """Cognitive time."""
    feedback: bool
    """Whether it carries the states of all constraints."""
    read: list[float]
    """`agent, t, t_hat`, for each participant that read it."""
    passed_over: list[int]
    """Recipients that committed a plan after it was delivered and before they read it, if they read it at all."""
    reactions: list[Any]
    """`agent, reaction`, for each recipient whose reaction is known (`maeil.dig.graph.Reaction`)."""


class Plan(TypedDict):
    """A plan."""

    id: str
    agent: int
    t: int
    t_hat: float
    task: Mapping[str, str] | None
    actions: Sequence[Record]
    rationale: str
    flag: str
    statuses: list[PlanStatus]


class Task(TypedDict):
    """What became of the constraints of a task."""

    name: str
    changes: list[TaskState]


class End(TypedDict):
    """The end of the episode."""

    t: int
    outcome: str
    steps: int
    finished: bool
    reason: str


class Branched(TypedDict):
    """What a run branches off."""

    run: str
    """Name of that run."""
    t: int
    t_hat: float | None
    """Cognitive time of the instant; None: the begin of the step."""
    change: str
    """What is another from then on; empty for nothing."""
    draw: int
    """Which of several samples of the same change it is."""


class Head(TypedDict):
    """What is known of an episode as a whole."""

    name: str
    off: Branched | None
    """None where it branches off nothing."""
    problems: list[str]
    """What is wrong with the run, a sentence each."""
    agents: list[str]
    coordinators: list[str]
    minds: Mapping[str, str]
    """The name of the mind of each participant, in a team that has several; else empty."""
    simulated: bool
    """Whether a simulated model answered in it."""
    facts: Record
    metrics: Mapping[str, float | None]
    configuration: Record


class Progress(TypedDict):
    """Answers `/api/run/NAME/progress`: while the run is read, and while it is under way."""

    read: float
    """The share of its trace that has been read, from 0 to 1."""
    under_way: bool
    """Whether it goes on just now."""
    size: int
    """Bytes of its trace."""


class Repair(TypedDict):
    """Plans that were judged together before they begin, and found to fail; with a mode, a repair of them."""

    t: int
    begins: float
    predictor: str
    verdict: str
    """`repair`; or why there was none: `cooldown`, `no_advice`."""
    violations: list[Record]
    mode: NotRequired[str]
    agents: NotRequired[list[int]]
    """Whose plans were repaired."""
    advice: NotRequired[Record | None]
    ends: NotRequired[float]
    """Missing while it is under way."""
    replaced: NotRequired[list[str]]
    """Ids of the plans that were given up."""


class Finding(TypedDict):
    """Where cooperation fails in the interaction graph (`maeil.dig.patterns`), and what a healer has said of it."""

    t: int
    t_hat: float
    pattern: str
    agents: list[int]
    """Those concerned."""
    messages: list[int]
    """Numbers of those that prove it."""
    subject: str
    """What it is about; empty where that is not one thing."""
    count: int
    needed: int
    """How many agents the task takes; 0 where that is no matter."""
    says: NotRequired[str]
    told: NotRequired[list[int]]
    """To whom the healer said it."""


class Page(TypedDict):
    """Answers `/api/run/NAME/page/T`: what happened in a run of steps, by sort.

    What began before it and goes on in it stands in it, too.
    """

    first: int
    """The step it begins with."""
    spans: list[Span]
    stages: list[list[Any]]
    """Of each participant: `t, t_hat, stage, reason, t, ...`."""
    thoughts: list[Thought]
    messages: list[Message]
    plans: list[Plan]
    actions: list[Action]
    joint: list[Sequence[int]]
    outcomes: list[Outcome]
    tasks: list[Task]
    capabilities: list[CapabilityChange]
    forced: list[ForcedReady]
    repairs: list[Repair]
    findings: list[Finding]
    interruptions: list[Interruption]
    spent: Spent
    """Before this page."""
    usage: list[Usage]
    end: End | None


class Proof(TypedDict):
    """An event that a failure follows from."""

    t: int
    words: str


class TeamFailure(TypedDict):
    """A failure of the team that the trace proves by rule."""

    kind: str
    mast: str
    """Its number in MAST."""
    agent: int
    """Whose failure it is."""
    t: int
    """When it shows: the step of its last proof."""
    task: str
    proofs: list[Proof]


class Decision(TypedDict):
    """A decision that made the team fail."""

    agent: int
    """Whose it was; -1 where it names nobody, or nobody of this run."""
    who: str
    """The same as it stands in the file."""
    t: int | None
    t_hat: float | None
    """Cognitive time at which the thought of it began."""
    kind: str


class Verdict(Decision):
    """What `quorum blame` has found; empty where it does not say."""

    method: str
    confidence: float | None
    reruns: int
    calls: int
    reason: str
    flips: list[Decision]
    """Other decisions whose correction alone makes a success of it."""


class Episode(Head):
    """Answers `/api/run/NAME/episode`."""

    steps: int
    """Steps of the environment that were taken."""
    pages: list[int]
    """The step that each page begins with; there is one unless the trace is very long."""
    breaks: list[int]
    """The steps with a failure or an interruption, ascending."""
    failures: list[TeamFailure] | None
    """None where the trace is too long to look for them here, or wrong."""
    verdict: Verdict | None
    """None where the folder has no `blame.json`."""
    scores: list[Score]
    traffic: list[Traffic]
    calls: int
    """Their number."""
    size: int
    """Bytes of its trace when it was read; while it goes on it grows."""
    under_way: bool
    """Whether it went on when it was read; then there is more to come."""


class Frame(TypedDict, total=False):
    """What differs in a picture from the one before it."""

    g: list[int]
    """Ground: `cell, kind, cell, kind, ...`."""
    p: list[float]
    """Positions, of marks that only moved: `name, x, y, name, ...`."""
    m: list[ChangedMark]
    d: list[int]
    """Deleted: names of marks that are gone."""
    c: str
    """The caption."""
    h: list[Any]
    """What agents hold: `agent, holding, agent, ...`."""


class Pictures(TypedDict):
    """The pictures of a page; the first one is whole."""

    first: int
    """The step of the first one."""
    canvas: Canvas
    ground: list[int]
    """The first one, in runs: `kind, cells, kind, cells, ...`."""
    names: list[str]
    """Of all marks; pictures name a mark by its index."""
    ways: bool
    """Whether the world tells where actions lead; then they can be asked for."""
    frames: list[Frame]
    """One for each `t`."""


class Film(TypedDict):
    """Answers `/api/run/NAME/film/T`: of the page of this step."""

    pictures: Pictures | None
    """None where the world cannot be drawn at all."""
    primitives: Mapping[str, str]
    """The name of each primitive that was used, by its number."""
    phrases: Mapping[str, str]
    """How the world says its symbolic actions, by their names (`SymbolicAction.phrase`)."""
    problems: list[str]
    """Why there are fewer pictures than steps."""


class WayFrame(TypedDict, total=False):
    """What differs in the ways of agents from those before."""

    s: list[float]
    """Agents that have gone on along their way, and where it now begins: `agent, x, y, agent, ...`."""
    w: list[ChangedWay]


class Ways(TypedDict):
    """Answers `/api/run/NAME/ways/T`: where actions lead, on the page of this step."""

    first: int
    """The step of the first frame."""
    frames: list[WayFrame]
    """One for each `t`; that of the first one is whole."""
    problems: list[str]
    """Why there are fewer frames than steps."""


class PromptMessage(TypedDict):
    """A message of a prompt."""

    role: str
    content: str
    pictures: NotRequired[list[str]]
    """What names each, for `/api/run/NAME/picture/HASH`."""


class Rejected(TypedDict):
    """An answer that was not of the wanted form."""

    text: str
    reasons: str


class Reply(TypedDict):
    """What a model answered."""

    text: str
    simulated: bool
    rejected: list[Rejected]


class Failure(TypedDict):
    """Why no answer came."""

    kind: str
    message: str


class Call(TypedDict):
    """Answers `/api/run/NAME/call/NUMBER`."""

    agent: str
    t: Any
    messages: list[PromptMessage]
    reply: NotRequired[Reply]
    failure: NotRequired[Failure]


class SharedMessage(TypedDict):
    """A message of a prompt in an exported page."""

    role: str
    content: int
    """Index of its text."""
    pictures: NotRequired[list[str]]
    """What names each; they are in the folder of the run alone."""


class SharedCalls(TypedDict):
    """The calls of an exported page: each text of a prompt is there once."""

    texts: list[str]
    calls: Sequence[Record]
    """As `Call`, with `SharedMessage` for its messages."""


class Exported(TypedDict):
    """The data of an exported page; each page of its lanes and pictures stands beside it."""

    episode: Episode
    calls: SharedCalls


class Parting(TypedDict):
    """The instant up to which two branches have one beginning."""

    t: int
    t_hat: float | None
    """Cognitive time; None: the begin of the step."""


class Pair(TypedDict):
    """Answers `/api/pair`, and `/api/pair/NAME/OTHER`: two runs of one board."""

    runs: list[str]
    """Their names, as addresses have them."""
    differences: Sequence[Difference]
    parting: Parting | None
    """None where neither branches off the other, nor both off a third."""


class RunLine(TypedDict):
    """A run in the table of a sweep, or in a tree of branches."""

    run: str
    outcome: str
    simulated: bool
    remark: str
    factors: list[str | int | float | bool | None]
    """As `SweepTable.factors` names them; none where the run has no results."""
    metrics: Mapping[str, float | None]
    off: NotRequired[Branched]
    """Missing where it branches off nothing."""


class Family(TypedDict):
    """Answers `/api/run/NAME/family`: the runs that lie beside it and have their beginning in common with it."""

    path: str
    """Its folder, for a command."""
    runs: list[RunLine]
    """All of them, itself among them."""
    left_out: int
    """How many more there are."""


class SweepTable(TypedDict):
    """Answers `/api/sweep`."""

    name: str
    problems: list[str]
    missing: int
    """Planned runs that are not there."""
    simulated: bool
    factors: list[str]
    implied: list[str]
    """The factors of which the arm of a run tells the value."""
    metrics: list[str]
    shown: list[str]
    """The metrics that are shown at first; the others can be chosen."""
    rows: list[RunLine]
