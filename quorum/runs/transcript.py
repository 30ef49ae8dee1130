"""A recorded run as a readable transcript: the decisions of each turn and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maeil.actions import as_call
from maeil.trace import Trace
from maeil.trace.events import MessageSent, PlanChange, ScoreChange, Stamped, ThoughtEnd, ThoughtStart

_ENDED = {"succeeded", "failed", "timed_out", "interrupted", "replaced"}
"""The endings of a plan that a transcript shows."""


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A turn of a run.

    Attributes:
        agent: name of the participant.
        t: environment step.
        t_hat: cognitive time at which its thought started.
    """

    agent: str
    t: int
    t_hat: int | float


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of a run.

    Attributes:
        team: names of the participants.
        turns: the turns, by their number in the entries.
        entries: numbered turns, ends of plans, and changes of the score, in order, JSON-ready. They hold untrusted
            text of models.
        after: for each turn, the number of entries up to and including it.
    """

    team: Sequence[str]
    turns: Sequence[TurnTaken]
    entries: Sequence[Mapping[str, Any]]
    after: Sequence[int]

    @classmethod
    def of(cls, trace: Trace) -> Transcript:
        """Create the transcript of a trace."""
        start = trace.start
        team = (*start.agents, *start.coordinators)
        writer = _Writer(team)
        for stamped in trace.events:
            writer.take(stamped)
        return cls(team, writer.turns, writer.entries, writer.after)

    def until(self, turn: int) -> Sequence[Mapping[str, Any]]:
        """Return the entries up to and including a turn."""
        return self.entries[: self.after[turn]]

    def between(self, first: int, last: int) -> Sequence[Mapping[str, Any]]:
        """Return the entries of a range of turns, and those up to the next turn."""
        begin = self.after[first] - 1
        end = self.after[last + 1] - 1 if last + 1 < len(self.after) else len(self.entries)
        return self.entries[begin:end]


class _Writer:
    """Writes the entries."""

    def __init__(self, team: Sequence[str]) -> None:
        self._team = team
        self._thinking: dict[int, Stamped] = {}
        self._last: dict[int, dict[str, Any]] = {}
        self.entries: list[dict[str, Any]] = []
        self.turns: list[TurnTaken] = []
        self.after: list[int] = []

    def take(self, stamped: Stamped) -> None:
        match stamped.event:
            case ThoughtStart(agent=agent):
                self._thinking[agent] = stamped
            case ThoughtEnd(agent=agent, refused=refused):
                self._turn(agent, refused)
            case MessageSent() as sent:
                to = [self._team[index] for index in sent.recipients]
                self._last[sent.sender].setdefault("says", []).append({"to": to, "text": sent.content})
            case PlanChange(status="committed", flag="", actions=actions) as plan if actions is not None:
                self._last[plan.agent]["plans"] = _plan(plan)
            case PlanChange() as plan if plan.status in _ENDED:
                ended = {"step": stamped.t, "agent": self._team[plan.agent], "plan": plan.status}
                self.entries.append(ended | ({"why": plan.reason} if plan.reason else {}))
            case ScoreChange() as score:
                self.entries.append({"step": stamped.t, "reached": score.reached, "of": score.goals})
            case _:
                pass

    def _turn(self, agent: int, refused: Sequence[str]) -> None:
        start = self._thinking.pop(agent)
        assert isinstance(start.event, ThoughtStart)
        entry: dict[str, Any] = {
            "turn": len(self.turns),
            "step": start.t,
            "agent": self._team[agent],
            "may": list(start.event.acts),
        }
        if refused:
            entry["refused"] = list(refused)
        self._last[agent] = entry
        self.turns.append(TurnTaken(self._team[agent], start.t, start.t_hat))
        self.entries.append(entry)
        self.after.append(len(self.entries))


def _plan(plan: PlanChange) -> dict[str, Any]:
    calls = [as_call(action) for action in plan.actions or ()]
    task = f"{plan.task['kind']}:{plan.task['target']}" if plan.task else None
    return {"for": task, "actions": calls, "because": plan.rationale}
