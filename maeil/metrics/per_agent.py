"""What it cost each participant to decide: a table with a row for each."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum

from maeil.metrics.statistics import mean
from maeil.metrics.timeline import Clock, Spell, Timeline, cognitive, timeline, wall
from maeil.stages import Stage, may_send
from maeil.trace.events import MessageRead, MessageSent, PlanChange, ThoughtEnd
from maeil.trace.reader import Trace


@dataclass(frozen=True, slots=True)
class AgentCost:
    """The costs of one participant. A participant without a body is in no stage: its last eight values are None.

    Attributes:
        agent: its name.
        thoughts: thoughts that it finished, refused ones included.
        sent: messages that it sent; a broadcast is one.
        read: messages that it read.
        plans: plans that it committed.
        interruptions: entries of I: times that a message took it out of W or X.
        decisions: decisions of the team in which it had to think.
        last_ready: how many of these ended with it: the others waited for it.
        latency_mean: mean over them of the time from its first need to think until it was ready for good, in cognitive
            time. A decision that the end of the trace cuts off is left out.
        latency_mean_seconds: the same in seconds of wall time; not reproducible.
        synchronisation: time that it was ready while others were not, in cognitive time; the mean over agents is
            `decision.synchronisation`.
        synchronisation_seconds: the same in seconds of wall time; not reproducible.
    """

    agent: str
    thoughts: int
    sent: int
    read: int
    plans: int
    interruptions: int | None = None
    decisions: int | None = None
    last_ready: int | None = None
    latency_mean: float | None = None
    latency_mean_seconds: float | None = None
    synchronisation: float | None = None
    synchronisation_seconds: float | None = None


def costs_per_agent(trace: Trace) -> list[AgentCost]:
    """Return the costs of every participant, agents first, in index order."""
    line = timeline(trace)
    thoughts = Counter(thought.agent for thought in trace.of(ThoughtEnd))
    sent = Counter(message.sender for message in trace.of(MessageSent))
    read = Counter(reading.agent for reading in trace.of(MessageRead))
    plans = Counter(change.agent for change in trace.of(PlanChange) if change.status == "committed")
    thinking = _thinking_by_decision(line)
    last = Counter(
        max(spells, key=lambda agent: spells[agent][-1].end.seq)
        for spells, decision in zip(thinking, line.decisions, strict=True)
        if not decision.cut
    )
    rows = []
    for index, name in enumerate((*trace.start.agents, *trace.start.coordinators)):
        counts = (name, thoughts[index], sent[index], read[index], plans[index])
        if index >= line.agents:
            rows.append(AgentCost(*counts))
            continue
        own = [
            spells[index]
            for spells, decision in zip(thinking, line.decisions, strict=True)
            if index in spells and not decision.cut
        ]
        rows.append(
            AgentCost(
                *counts,
                interruptions=sum(s.agent == index and s.stage is Stage.INTERRUPTED for s in line.spells),
                decisions=len(own),
                last_ready=last[index],
                latency_mean=_latency(own, cognitive),
                latency_mean_seconds=_latency(own, wall),
                synchronisation=_synchronisation(line, index, cognitive),
                synchronisation_seconds=_synchronisation(line, index, wall),
            )
        )
    return rows


def _thinking_by_decision(line: Timeline) -> list[dict[int, list[Spell]]]:
    """Return for each decision the spells of R and I of each agent that had to think in it, in order."""
    begins = [decision.begin.seq for decision in line.decisions]
    found: list[dict[int, list[Spell]]] = [defaultdict(list) for _ in begins]
    for spell in line.spells:
        if may_send(spell.stage):
            found[bisect_right(begins, spell.begin.seq) - 1][spell.agent].append(spell)
    return found


def _latency(decisions: list[list[Spell]], clock: Clock) -> float | None:
    return mean([clock(spells[-1].end) - clock(spells[0].begin) for spells in decisions])


def _synchronisation(line: Timeline, agent: int, clock: Clock) -> float:
    own = fsum(spell.lasts(clock) for spell in line.spells if spell.agent == agent and may_send(spell.stage))
    return fsum(decision.lasts(clock) for decision in line.decisions) - own
