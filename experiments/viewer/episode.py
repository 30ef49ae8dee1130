"""An episode as the page shows it: lanes, messages, plans and interruptions, made of its folder alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from maeil.trace import Stamped
from maeil.trace import events as e
from quorum.experiments.results.rows import Damaged
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.viewer import contract
from quorum.experiments.viewer.calls import CallQueue, Calls, records_of
from quorum.experiments.viewer.film import film
from quorum.experiments.viewer.interruptions import interruptions
from quorum.experiments.viewer.lenient_reader import LenientTrace, read_leniently


@dataclass(frozen=True)
class Episode:
    """An episode, read.

    Attributes:
        folder: of the run.
        trace: what there is of its trace.
        head: what is known of it as a whole.
        lanes: what happened.
        calls: its calls of language models.
    """

    folder: RunFolder
    trace: LenientTrace
    head: contract.Head
    lanes: contract.Lanes
    calls: Calls

    @cached_property
    def film(self) -> contract.Film:
        """Its pictures; to replay an episode takes longer than to read it."""
        return film(self.trace, self.folder)

    def data(self) -> contract.Episode:
        """Return all of it but pictures and calls."""
        return {**self.head, **self.lanes, "calls": len(self.calls.places)}


def read_episode(path: Path) -> Episode:
    """Read the folder of a run, whatever state it is in; what is wrong with it stands in `head["problems"]`."""
    folder = RunFolder(path)
    trace = read_leniently(folder)
    calls = Calls(folder)
    problems = [*trace.problems, *calls.problems]
    lanes = _LaneBuilder(trace, calls).build()
    if trace.start is not None and lanes["end"] is None:
        problems.append("The trace has no end: the run was stopped, or is still under way.")
    return Episode(folder, trace, _head(folder, trace, problems), lanes, calls)


def _head(folder: RunFolder, trace: LenientTrace, problems: list[str]) -> contract.Head:
    start = trace.start
    head: contract.Head = {
        "name": folder.path.name,
        "problems": problems,
        "agents": list(start.agents) if start else [],
        "coordinators": list(start.coordinators) if start else [],
        "facts": {},
        "simulated": any(
            call.get("simulated") is True
            for s in trace.events
            if isinstance(s.event, e.ThoughtEnd)
            for call in s.event.calls
        ),
        "metrics": {},
        "configuration": {},
    }
    facts: dict[str, Any] = {}
    if start is not None:
        facts.update(world=start.world, topology=start.topology, seed=start.seed, clock=start.clock)
    row = folder.row()
    if isinstance(row, Damaged):
        problems.append(f"What is known of the run as a whole cannot be read: {row.reason}")
        return {**head, "facts": facts}
    facts.update(outcome=row.outcome, reason=row.reason, error=row.error, version=row.version, start=row.start)
    facts["models"] = ", ".join(row.models)
    return {
        **head,
        "simulated": head["simulated"] or row.simulated,
        "facts": {key: value for key, value in facts.items() if value not in ("", None)},
        "metrics": row.metrics,
        "configuration": row.factors,
    }


class _LaneBuilder:
    """Goes through the events once and sorts them into lanes."""

    def __init__(self, trace: LenientTrace, calls: Calls) -> None:
        self._names = [*trace.start.agents, *trace.start.coordinators] if trace.start is not None else []
        self._events = trace.events
        self._lanes: contract.Lanes = {
            "spans": [],
            "stages": [[] for _ in self._names],
            "thoughts": [],
            "messages": [],
            "plans": [],
            "actions": [],
            "joint": [],
            "outcomes": [],
            "tasks": [],
            "capabilities": [],
            "scores": [],
            "forced": [],
            "interruptions": [],
            "end": None,
        }
        self._queue = CallQueue(calls)
        self._thinking: dict[int, contract.Thought] = {}
        self._messages: dict[int, contract.Message] = {}
        self._plans: dict[str, contract.Plan] = {}
        self._running: dict[tuple[str, int], int] = {}
        """The places of the actions that have not ended."""
        self._tasks: dict[tuple[str, str], contract.Task] = {}

    def build(self) -> contract.Lanes:
        """Return the lanes."""
        for stamped in self._events:
            self._span(stamped)
            self._sort(stamped)
            for what, agent, reason in interruptions(stamped.event):
                self._lanes["interruptions"].append((stamped.t, stamped.t_hat, what, agent, reason))
        return self._lanes

    def _span(self, stamped: Stamped) -> None:
        spans, t = self._lanes["spans"], stamped.t
        if t >= len(spans):
            t = min(t, len(self._lanes["joint"]))
            while t >= len(spans):
                begin = spans[-1][1] if spans else stamped.t_hat
                spans.append((begin, begin, 0))
        begin, end, thoughts = spans[t]
        spans[t] = (begin, max(end, stamped.t_hat), thoughts + (type(stamped.event) is e.ThoughtEnd))

    def _sort(self, stamped: Stamped) -> None:
        t, t_hat, lanes = stamped.t, stamped.t_hat, self._lanes
        event: Any = stamped.event
        match event:
            case e.StageChange():
                lanes["stages"][event.agent] += (t, t_hat, event.to_stage, event.reason)
            case e.MessageRead():
                if event.message in self._messages:
                    self._messages[event.message]["read"] += (event.agent, t, t_hat)
            case e.ThoughtStart():
                self._begin_thought(stamped, event)
            case e.ThoughtEnd():
                self._end_thought(stamped, event)
            case e.MessageSent():
                self._add_message(stamped, event)
            case e.PlanChange():
                self._change_plan(stamped, event)
            case e.ActionChange():
                self._change_action(stamped, event)
            case e.StepTaken():
                lanes["joint"].append(event.joint)
            case e.StepOutcome():
                lanes["outcomes"].append((t, event.outcomes, event.attempts))
            case e.ConstraintChange():
                self._change_task(t, event)
            case e.CapabilityChange():
                lanes["capabilities"].append((t, event.agent, event.capability, event.gained))
            case e.ScoreChange():
                lanes["scores"].append((t, event.reached, event.goals, event.score))
            case e.ForcedReady():
                lanes["forced"].append((t, t_hat, event.agent))
            case e.EpisodeEnd():
                lanes["end"] = {"t": t, **asdict(event)}  # type: ignore[typeddict-item] # its fields, as they are

    def _begin_thought(self, stamped: Stamped, event: e.ThoughtStart) -> None:
        thought: contract.Thought = {
            "agent": event.agent,
            "t": stamped.t,
            "begins": stamped.t_hat,
            "acts": event.acts,
            "problems": event.problems,
        }
        self._thinking[event.agent] = thought
        self._lanes["thoughts"].append(thought)

    def _end_thought(self, stamped: Stamped, event: e.ThoughtEnd) -> None:
        thought = self._thinking.pop(event.agent, None)
        if thought is None:
            return
        name = self._names[event.agent]
        numbers = [self._queue.take(name, stamped.t, records_of(call)) for call in event.calls]
        thought.update({"ends": stamped.t_hat, "refused": event.refused, "calls": event.calls, "numbers": numbers})

    def _add_message(self, stamped: Stamped, event: e.MessageSent) -> None:
        message: contract.Message = {"t": stamped.t, "t_hat": stamped.t_hat, **asdict(event), "read": []}  # type: ignore[typeddict-item] # its fields, as they are
        self._messages[event.message] = message
        self._lanes["messages"].append(message)

    def _change_plan(self, stamped: Stamped, event: e.PlanChange) -> None:
        plan = self._plans.get(event.plan)
        if plan is None:
            plan = {
                "id": event.plan, "agent": event.agent, "t": stamped.t, "t_hat": stamped.t_hat, "task": event.task,
                "actions": event.actions or [], "rationale": event.rationale, "flag": event.flag, "statuses": [],
            }  # fmt: skip
            self._plans[event.plan] = plan
            self._lanes["plans"].append(plan)
        plan["statuses"].append((stamped.t, stamped.t_hat, event.status, event.reason))

    def _change_action(self, stamped: Stamped, event: e.ActionChange) -> None:
        key, actions = (event.plan, event.index), self._lanes["actions"]
        if event.status == "started":
            self._running[key] = len(actions)
            started = (event.agent, event.plan, event.index, event.action, stamped.t, stamped.t_hat)
            actions.append((*started, None, None, None, None))
        elif key in self._running:
            place = self._running.pop(key)
            actions[place] = (*actions[place][:6], stamped.t, stamped.t_hat, event.status, event.reason)

    def _change_task(self, t: int, event: e.ConstraintChange) -> None:
        key = (str(event.task.get("kind", "")), str(event.task.get("target", "")))
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = {"name": ":".join(key), "changes": []}
            self._lanes["tasks"].append(task)
        numbers = (event.threshold, event.spatial, event.temporal, event.participation, event.joint)
        task["changes"].append((t, *numbers, int(event.dependency)))
