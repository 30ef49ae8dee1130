"""Sort the events of an episode into lanes, page by page, in one pass; also failures, interruptions and repairs."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from maeil.dig.patterns import PatternFinder
from maeil.outcomes import Outcome
from maeil.plans import PlanStatus
from maeil.stages import Stage
from maeil.trace import Stamped
from maeil.trace import events as e
from quorum.episode.call_ledger import records_of
from quorum.view.viewer.calls import NOTHING_SPENT, Calls, Spent, add, spent_by
from quorum.view.viewer.messages import Traffic
from quorum.view.viewer.pages import FULL, Json, Open, Pages, code_of

_FINAL = frozenset(status.value for status in PlanStatus if status.final)
_STAGE = 4
"""Number of values of a stage change in its lane."""


@dataclass(slots=True)
class _Item:
    """An item that can change later, and its pages and places; the last one is the page in progress."""

    value: Any
    places: list[tuple[int, int]]


class LaneBuilder:
    """Takes the events of an episode, and packs each page when it is complete.

    Args:
        calls: calls of the run, for the thoughts that made them.
        page_size: bytes of lines after which the next step starts a page.
    """

    def __init__(self, calls: Calls, page_size: int) -> None:
        self.pages = Pages()
        self.scores: list[tuple[Any, ...]] = []
        self.traffic = Traffic()
        self.breaks: set[int] = set()
        """The steps with a failure or an interruption."""
        self.used: list[set[int | str]] = []
        """The primitives of each page."""
        self.simulated = False
        """Whether a simulated model answered."""
        self.steps = 0
        """Number of environment steps taken."""
        self.ended = False
        """Whether the episode reached its end."""
        self.left_out = 0
        """Number of events that did not fit in the page of their step."""
        self._calls = calls.by_thinker()
        self._page_size = page_size
        self._names: list[str] = []
        self._spent = NOTHING_SPENT
        self._page = _empty(0, 0, self._spent)
        self._size = 0
        self._t = 0
        self._before: float | None = None
        """Cognitive time at the end of the previous page."""
        self._patterns: PatternFinder | None = None
        """Follows the graph of the episode from its start."""
        self._thinking: dict[int, _Item] = {}
        self._messages: dict[int, _Item] = {}
        self._unread: dict[int, tuple[int, int]] = {}
        """Page and place of messages of packed pages that may still be read or acted on."""
        self._plans: dict[str, _Item] = {}
        self._latest: dict[int, str] = {}
        """The last plan of each participant."""
        self._actions: defaultdict[str, list[_Item]] = defaultdict(list)
        """By plan."""
        self._running: dict[tuple[str, int], _Item] = {}
        self._tasks: dict[tuple[str, str], Json] = {}

    def take(self, stamped: Stamped, size: int) -> None:
        """Take the next event; the first is the start.

        Args:
            stamped: the event.
            size: bytes of its line.
        """
        full = self._size >= FULL
        if self._size >= self._page_size and self._page["joint"] and (full or stamped.t > self._t):
            self._turn()
        elif full and not isinstance(stamped.event, e.StepTaken):
            self.left_out += 1
            return
        self._size += size
        self._t = stamped.t
        self._span(stamped)
        self._sort(stamped)
        assert self._patterns is not None
        self._page["findings"] += self._patterns.take(stamped)
        for message, agent in self._patterns.settled:
            self._note_reader(message.id, "reactions", (agent, message.reactions[agent].value))
        if type(stamped.event) in _TELLING:
            for what, agent, reason in interruptions(stamped.event):
                self._page["interruptions"].append((stamped.t, stamped.t_hat, what, agent, reason))
                self.breaks.add(stamped.t)

    def finish(self) -> None:
        """Pack the last page."""
        self.used.append({code for joint in self._page["joint"] for code in joint})
        self.pages.add(self._page)

    def _turn(self) -> None:
        """Pack the page and start the next one, with the items that continue in it."""
        self.finish()
        old, number = self._page, len(self.pages)
        self._page = _empty(self.steps, len(self._names), self._spent)
        self._size = 0
        self._before = old["spans"][-1][1]
        self._page["stages"] = [lane[-_STAGE:] for lane in old["stages"]]
        for message, item in self._messages.items():
            if len(item.value["reactions"]) < 2 * len(item.value["recipients"]):
                self._unread[message] = item.places[0]
        self._messages.clear()
        going_on = {*self._latest.values()}
        going_on.update(name for name, plan in self._plans.items() if plan.value["statuses"][-1][2] not in _FINAL)
        self._plans = {name: plan for name, plan in self._plans.items() if name in going_on}
        self._carry("plans", self._plans.values(), number)
        running = {name for name, _ in self._running}
        kept = {name: items for name, items in self._actions.items() if name in going_on or name in running}
        self._actions = defaultdict(list, kept)
        self._carry("actions", (item for items in kept.values() for item in items), number)
        for key, task in list(self._tasks.items()):
            last = task["changes"][-1]
            del self._tasks[key]
            if last[1]:  # with threshold 0 the task is over
                self._change(key, last)

    def _carry(self, lane: Open, items: Iterable[_Item], number: int) -> None:
        for item in items:
            item.places.append((number, len(self._page[lane])))
            self._page[lane].append(item.value)

    def _add(self, lane: Open, value: Any) -> _Item:
        item = _Item(value, [(len(self.pages), len(self._page[lane]))])
        self._page[lane].append(value)
        return item

    def _amend(self, lane: Open, places: Iterable[tuple[int, int]], addition: Any) -> None:
        """Update an item in the pages that are already packed."""
        for number, index in places:
            if number < len(self.pages):
                self.pages.amend(number, lane, index, addition)

    def _span(self, stamped: Stamped) -> None:
        spans, t = self._page["spans"], max(0, stamped.t - self._page["first"])
        if t >= len(spans):
            t = min(t, len(self._page["joint"]))
            while t >= len(spans):
                before = stamped.t_hat if self._before is None else self._before
                begin = spans[-1][1] if spans else before
                spans.append((begin, begin, 0))
        begin, end, thoughts = spans[t]
        spans[t] = (begin, max(end, stamped.t_hat), thoughts + (type(stamped.event) is e.ThoughtEnd))

    def _sort(self, stamped: Stamped) -> None:
        t, t_hat, page = stamped.t, stamped.t_hat, self._page
        event: Any = stamped.event
        match event:
            case e.EpisodeStart():
                self._names = [*event.agents, *event.coordinators]
                page["stages"] = [[] for _ in self._names]
                self._patterns = PatternFinder(event)
            case e.StageChange():
                page["stages"][event.agent] += (t, t_hat, event.to_stage, event.reason)
            case e.MessagesRead():
                self.traffic.read(event)
                for message in event.messages:
                    self._note_reader(message, "read", (event.agent, t, t_hat))
            case e.Event(kind="control_read"):  # an extension's event: what a participant reads instead of a message
                instead: Any = event
                self._note_reader(instead.message, "instead", (instead.agent, instead.content))
            case e.ThoughtStart():
                thought = {"t": t, "begins": t_hat, **asdict(event)}
                self._thinking[event.agent] = self._add("thoughts", thought)
            case e.ThoughtEnd():
                self._end_thought(stamped, event)
            case e.MessageSent():
                self.traffic.sent(event)
                came: Json = {"read": [], "instead": [], "passed_over": [], "reactions": []}
                value = {"t": t, "t_hat": t_hat, **asdict(event), **came}
                self._messages[event.message] = self._add("messages", value)
            case e.PlanChange():
                self._change_plan(stamped, event)
            case e.ActionChange():
                self._change_action(stamped, event)
            case e.StepTaken():
                page["joint"].append([code_of(primitive) for primitive in event.joint])
                self.steps += 1
            case e.StepOutcome():
                page["outcomes"].append((t, event.outcomes, event.attempts))
            case e.ConstraintChange():
                key = (str(event.task.get("kind", "")), str(event.task.get("target", "")))
                numbers = (event.threshold, event.spatial, event.temporal, event.participation, event.joint)
                self._change(key, (t, *numbers, int(event.dependency)))
            case e.CapabilityChange():
                page["capabilities"].append((t, event.agent, event.capability, event.gained))
            case e.ScoreChange():
                self.scores.append((t, event.reached, event.goals, event.score))
            case e.ForcedReady():
                page["forced"].append((t, t_hat, event.agent))
            case e.Event(kind="repair_check" | "repair_start" | "repair_end"):
                note_repair(page["repairs"], stamped)
            case e.EpisodeEnd():
                self.ended = True
                page["end"] = {"t": t, **asdict(event)}

    def _end_thought(self, stamped: Stamped, event: e.ThoughtEnd) -> None:
        self.simulated = self.simulated or any(call.get("simulated") is True for call in event.calls)
        if spent := spent_by(event.calls):
            self._page["usage"].append((stamped.t, stamped.t_hat, event.agent, *spent))
            self._spent = add(self._spent, spent)
        item = self._thinking.pop(event.agent, None)
        if item is None:
            return
        name = self._names[event.agent]
        waiting = self._calls.get((name, stamped.t), deque())
        numbers = [[waiting.popleft() for _ in range(min(records_of(call), len(waiting)))] for call in event.calls]
        end = {"ends": stamped.t_hat, "refused": event.refused, "calls": event.calls, "numbers": numbers}
        item.value.update(end)
        self._amend("thoughts", item.places, end)

    def _note_reader(
        self,
        message: int,
        key: Literal["read", "passed_over", "reactions", "instead"],
        addition: tuple[float | str | None, ...],
    ) -> None:
        """Record what a recipient did with a message, which may be on an earlier page."""
        if message in self._messages:
            self._messages[message].value[key] += addition
        elif message in self._unread:
            self._amend("messages", [self._unread[message]], {key: addition})

    def _change_plan(self, stamped: Stamped, event: e.PlanChange) -> None:
        item = self._plans.get(event.plan)
        if item is None:
            plan: Json = {
                "id": event.plan, "agent": event.agent, "t": stamped.t, "t_hat": stamped.t_hat, "task": event.task,
                "actions": event.actions or [], "rationale": event.rationale, "flag": event.flag, "statuses": [],
            }  # fmt: skip
            item = self._plans[event.plan] = self._add("plans", plan)
            self._latest[event.agent] = event.plan
            for message in self.traffic.plan_committed(event.agent, stamped.t_hat):
                self._note_reader(message, "passed_over", (event.agent,))
        status = [(stamped.t, stamped.t_hat, event.status, event.reason)]
        item.value["statuses"] += status
        self._amend("plans", item.places, {"statuses": status})

    def _change_action(self, stamped: Stamped, event: e.ActionChange) -> None:
        key = (event.plan, event.index)
        if event.status == "started":
            started = (event.agent, event.plan, event.index, event.action, stamped.t, stamped.t_hat)
            item = self._running[key] = self._add("actions", [*started, None, None, None, None])
            self._actions[event.plan].append(item)
        elif key in self._running:
            item = self._running.pop(key)
            end = (stamped.t, stamped.t_hat, event.status, event.reason)
            item.value[-len(end) :] = end
            self._amend("actions", item.places, end)

    def _change(self, key: tuple[str, str], change: tuple[Any, ...]) -> None:
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = {"name": ":".join(key), "changes": []}
            self._page["tasks"].append(task)
        task["changes"].append(change)


_LISTS = (
    "usage", "spans", "thoughts", "messages", "plans", "actions", "joint", "outcomes", "tasks", "capabilities",
    "forced", "repairs", "findings", "interruptions",
)  # fmt: skip


def _empty(first: int, participants: int, spent: Spent) -> Json:
    lists: Json = {name: [] for name in _LISTS}
    return {"first": first, "spent": spent, "stages": [[] for _ in range(participants)], **lists, "end": None}


_TELLING = {e.PlanChange, e.StageChange, e.ThoughtEnd, e.ForcedReady, e.StepOutcome, e.EpisodeEnd}
_BROKEN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


def interruptions(event: Any) -> Iterator[tuple[str, int, str]]:
    """Yield the failures and interruptions in an event: a description, the agent or -1, and the reason."""
    match event:
        case e.PlanChange(status=status) if status in _BROKEN:
            yield f"plan {status}", event.agent, f"{event.plan}: {event.reason}"
        case e.PlanChange(status=PlanStatus.COMMITTED, flag=flag) if flag:
            yield flag.replace("_", " "), event.agent, f"{event.plan} was committed instead of the mind's plan"
        case e.StageChange(to_stage=Stage.INTERRUPTED):
            yield "interruption", event.agent, event.reason
        case e.ThoughtEnd(refused=refused) if refused:
            yield "refused thought", event.agent, "; ".join(refused)
        case e.ForcedReady():
            yield "forced ready", event.agent, "it used up its thoughts for this step"
        case e.StepOutcome():
            for attempt in event.attempts:
                if not attempt.get("succeeded", True):
                    yield "failed attempt", _first(attempt.get("agents")), _attempt(attempt)
        case e.EpisodeEnd(outcome=Outcome.FAILURE | Outcome.ERROR | Outcome.BUDGET):
            yield f"the episode ends: {event.outcome}", -1, event.reason


def _first(agents: object) -> int:
    return agents[0] if isinstance(agents, list) and agents and type(agents[0]) is int else -1


def _attempt(attempt: Mapping[str, Any]) -> str:
    task, missing = attempt.get("task"), attempt.get("missing")
    name = f"{task.get('kind', '')}:{task.get('target', '')}" if isinstance(task, dict) else "a task"
    lacking = ", ".join(map(str, missing)) if isinstance(missing, list) else ""
    return f"{name}, missing: {lacking}" if lacking else name


def note_repair(repairs: list[Json], stamped: Stamped) -> None:
    """Add an event of the gate to the repairs of a page; judgements that find nothing are skipped.

    Args:
        repairs: repairs of the page, in order; the last one is in progress until its end is recorded.
        stamped: the event.
    """
    event: Any = stamped.event  # by its kind: the viewer imports no method
    match event.kind:
        case "repair_check" if event.verdict != "passed":
            judgement: Json = {"predictor": event.predictor, "verdict": event.verdict}
            judgement["violations"] = list(event.violations)
            repairs.append({"t": stamped.t, "begins": stamped.t_hat, **judgement})
        case "repair_start" if repairs:
            repairs[-1] |= {"mode": event.mode, "agents": list(event.agents), "advice": event.advice}
        case "repair_end" if repairs:
            repairs[-1] |= {"ends": stamped.t_hat, "replaced": list(event.replaced)}
