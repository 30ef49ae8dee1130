"""An episode as the page shows it: lanes, messages, plans and interruptions, made of its folder alone.

Everything is JSON-ready. An instant is a pair: the environment step `t` and the cognitive time `t_hat`; events of the
same `t` are in the order of the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import yaml

from maeil.trace import Stamped
from maeil.trace import events as e
from quorum.experiments.results.rows import Damaged
from quorum.experiments.results.run_folder import read_run
from quorum.experiments.viewer.calls import CallQueue, Calls
from quorum.experiments.viewer.files import Unreadable, links, read_bytes, read_trace_bytes
from quorum.experiments.viewer.frames import Film, film
from quorum.experiments.viewer.interruptions import interruptions
from quorum.experiments.viewer.lenient_reader import Reading, read_tolerantly

_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Lanes:
    """What happened, by sort; each record begins with `t` and, where thinking matters, `t_hat`."""

    spans: list[list[float]] = field(default_factory=list)
    """Of each `t`: the cognitive time when it began and when it ended, and how many thoughts ended in it."""
    stages: list[list[Any]] = field(default_factory=list)
    """Of each participant: `t, t_hat, stage, reason, t, ...`."""
    thoughts: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    plans: list[dict[str, Any]] = field(default_factory=list)
    actions: list[list[Any]] = field(default_factory=list)
    """`agent, plan, index, name, t, t_hat, end t, end t_hat, status, reason`; the end is None while it runs."""
    joint: list[Sequence[int]] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    outcomes: list[list[Any]] = field(default_factory=list)
    """`t, outcomes, attempts`."""
    tasks: list[dict[str, Any]] = field(default_factory=list)
    capabilities: list[list[Any]] = field(default_factory=list)
    scores: list[list[float]] = field(default_factory=list)
    forced: list[list[float]] = field(default_factory=list)
    interruptions: list[list[Any]] = field(default_factory=list)
    """`t, t_hat, what, agent, reason`."""
    end: dict[str, Any] | None = None


@dataclass(frozen=True)
class Episode:
    """An episode, read.

    Attributes:
        head: what is known of it as a whole.
        lanes: what happened.
        calls: its calls of language models.
        reading: its trace.
        resolved: its configuration; None where it cannot be read.
    """

    head: Mapping[str, Any]
    lanes: Lanes
    calls: Calls
    reading: Reading
    resolved: Mapping[str, Any] | None

    @cached_property
    def film(self) -> Film:
        """Its pictures; to replay an episode takes longer than to read it."""
        return film(self.reading, self.resolved)

    def plain(self) -> dict[str, Any]:
        """Give all of it but pictures and calls."""
        lanes = {name: getattr(self.lanes, name) for name in Lanes.__slots__}
        return {**self.head, **lanes, "calls": len(self.calls.places)}


def read_episode(folder: Path) -> Episode:
    """Read the folder of a run, whatever state it is in; what is wrong with it stands in `head["problems"]`."""
    data, problems = read_trace_bytes(folder)
    reading = read_tolerantly(data) if data or not problems else Reading(None, (), ())
    configuration = _configuration(folder, problems)
    calls = Calls(folder)
    problems += [*reading.problems, *calls.problems]
    lanes = _Weaver(reading, calls).woven() if reading.start is not None else Lanes()
    if reading.start is not None and lanes.end is None:
        problems.append("The trace has no end: the run was stopped, or is still under way.")
    return Episode(_head(folder, reading, problems), lanes, calls, reading, configuration)


def _configuration(folder: Path, problems: list[str]) -> Mapping[str, Any] | None:
    for name in ("meta.json", "config.yaml"):
        try:
            data = read_bytes(folder, name)
            found = None
            if data is not None:
                found = orjson.loads(data).get("configuration") if name == "meta.json" else yaml.load(data, _SafeLoader)
        except Unreadable as wrong:
            problems.append(str(wrong))
        except (ValueError, AttributeError, yaml.YAMLError) as error:
            problems.append(f"{name}: damaged: {str(error).splitlines()[0]}")
        else:
            if isinstance(found, dict):
                return found
    return None


def _head(folder: Path, reading: Reading, problems: list[str]) -> dict[str, Any]:
    start = reading.start
    linked = links(folder)
    row = Damaged(folder.name, f"links: {', '.join(linked)}") if linked else read_run(folder)
    head: dict[str, Any] = {
        "name": folder.name,
        "problems": problems,
        "agents": list(start.agents) if start else [],
        "coordinators": list(start.coordinators) if start else [],
        "facts": {},
        "simulated": any(
            call.get("simulated") is True
            for s in reading.events
            if isinstance(s.event, e.ThoughtEnd)
            for call in s.event.calls
        ),
    }
    facts: dict[str, Any] = {}
    if start is not None:
        facts.update(world=start.world, topology=start.topology, seed=start.seed, clock=start.clock)
    if isinstance(row, Damaged):
        problems.append(f"What is known of the run as a whole cannot be read: {row.reason}")
        return {**head, "facts": facts, "metrics": {}, "configuration": {}}
    head["simulated"] = head["simulated"] or row.simulated
    facts.update(outcome=row.outcome, reason=row.reason, error=row.error, version=row.version, start=row.start)
    facts["models"] = ", ".join(row.models)
    return {
        **head,
        "facts": {key: value for key, value in facts.items() if value not in ("", None)},
        "metrics": dict(row.metrics),
        "configuration": dict(row.factors),
    }


class _Weaver:
    """Goes through the events once and sorts them into lanes."""

    def __init__(self, reading: Reading, calls: Calls) -> None:
        assert reading.start is not None
        self._names = [*reading.start.agents, *reading.start.coordinators]
        self._events = reading.events
        self._lanes = Lanes(stages=[[] for _ in self._names])
        self._queue = CallQueue(calls)
        self._thinking: dict[int, dict[str, Any]] = {}
        self._messages: dict[int, dict[str, Any]] = {}
        self._plans: dict[str, dict[str, Any]] = {}
        self._running: dict[tuple[str, int], list[Any]] = {}
        self._tasks: dict[tuple[str, str], dict[str, Any]] = {}

    def woven(self) -> Lanes:
        """Give the lanes."""
        for stamped in self._events:
            self._span(stamped)
            self._sort(stamped)
            for what, agent, reason in interruptions(stamped.event):
                self._lanes.interruptions.append([stamped.t, stamped.t_hat, what, agent, reason])
        return self._lanes

    def _span(self, stamped: Stamped) -> None:
        spans, t = self._lanes.spans, stamped.t
        if t >= len(spans):
            t = min(t, len(self._lanes.joint))
            while t >= len(spans):
                begin = spans[-1][1] if spans else stamped.t_hat
                spans.append([begin, begin, 0])
        span = spans[t]
        span[1] = max(span[1], stamped.t_hat)
        if type(stamped.event) is e.ThoughtEnd:
            span[2] += 1

    def _sort(self, stamped: Stamped) -> None:
        t, t_hat, lanes = stamped.t, stamped.t_hat, self._lanes
        event: Any = stamped.event
        match event:
            case e.StageChange():
                lanes.stages[event.agent] += (t, t_hat, event.to_stage, event.reason)
            case e.MessageRead():
                if event.message in self._messages:
                    self._messages[event.message]["read"] += (event.agent, t, t_hat)
            case e.ThoughtStart():
                thought = {"agent": event.agent, "t": t, "from": t_hat, "acts": event.acts, "problems": event.problems}
                self._thinking[event.agent] = thought
                lanes.thoughts.append(thought)
            case e.ThoughtEnd():
                self._end_thought(stamped, event)
            case e.MessageSent():
                message = {name: getattr(event, name) for name in e.MessageSent.__slots__}
                self._messages[event.message] = {"t": t, "t_hat": t_hat, **message, "read": []}
                lanes.messages.append(self._messages[event.message])
            case e.PlanChange():
                self._change_plan(stamped, event)
            case e.ActionChange():
                self._change_action(stamped, event)
            case e.StepTaken():
                lanes.joint.append(event.joint)
                lanes.rewards.append(event.reward)
            case e.StepOutcome():
                lanes.outcomes.append([t, event.outcomes, event.attempts])
            case e.ConstraintChange():
                self._change_task(t, event)
            case e.CapabilityChange():
                lanes.capabilities.append([t, event.agent, event.capability, event.gained])
            case e.ScoreChange():
                lanes.scores.append([t, event.reached, event.goals, event.score])
            case e.ForcedReady():
                lanes.forced.append([t, t_hat, event.agent])
            case e.EpisodeEnd():
                lanes.end = {"t": t, **asdict(event)}

    def _end_thought(self, stamped: Stamped, event: e.ThoughtEnd) -> None:
        thought = self._thinking.pop(event.agent, None)
        if thought is None:
            return
        numbers = self._queue.take(self._names[event.agent], stamped.t, len(event.calls))
        thought.update(to=stamped.t_hat, cost=event.cost, refused=event.refused, calls=event.calls, numbers=numbers)

    def _change_plan(self, stamped: Stamped, event: e.PlanChange) -> None:
        plan = self._plans.get(event.plan)
        if plan is None:
            plan = {
                "id": event.plan, "agent": event.agent, "t": stamped.t, "t_hat": stamped.t_hat, "task": event.task,
                "actions": event.actions or [], "rationale": event.rationale, "flag": event.flag, "statuses": [],
            }  # fmt: skip
            self._plans[event.plan] = plan
            self._lanes.plans.append(plan)
        plan["statuses"].append([stamped.t, stamped.t_hat, event.status, event.reason])

    def _change_action(self, stamped: Stamped, event: e.ActionChange) -> None:
        key = (event.plan, event.index)
        if event.status == "started":
            action = [event.agent, event.plan, event.index, event.action, stamped.t, stamped.t_hat, *[None] * 4]
            self._running[key] = action
            self._lanes.actions.append(action)
        elif key in self._running:
            self._running.pop(key)[6:] = (stamped.t, stamped.t_hat, event.status, event.reason)

    def _change_task(self, t: int, event: e.ConstraintChange) -> None:
        key = (str(event.task.get("kind", "")), str(event.task.get("target", "")))
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = {"name": ":".join(key), "changes": []}
            self._lanes.tasks.append(task)
        numbers = [event.threshold, event.spatial, event.temporal, event.participation, event.joint]
        task["changes"].append([t, *numbers, int(event.dependency)])
