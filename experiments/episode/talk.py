"""What participants say, as lines for people: who to whom, of which kind, a joint plan in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

import msgspec

from maeil.trace.events import MessageSent
from quorum.experiments.common.sanitize import sanitize

_KEPT = 50
_MOST_LINES = 3
"""Lines of one message, at most."""


class _Action(msgspec.Struct):
    action: str


class _Task(msgspec.Struct):
    kind: str
    target: str


class _Plan(msgspec.Struct):
    task: _Task | None = None
    actions: tuple[_Action, ...] = ()


class _JointPlan(msgspec.Struct):
    """A coordinator's suggestions, as `quorum.agents.coordination.joint` writes them."""

    suggestions: dict[str, _Plan]


class _Objection(msgspec.Struct):
    """Feedback on a part of a joint plan, from the same module."""

    code: str
    problem: str
    issue: str
    proposal: _Plan | None


@dataclass(frozen=True, slots=True)
class _Said:
    """A message that was sent, in environment step `t`."""

    t: int
    message: MessageSent


class Talk:
    """The latest messages of an episode.

    Args:
        names: of the participants, by index.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._said: deque[_Said] = deque(maxlen=_KEPT)

    def hear(self, t: int, message: MessageSent) -> None:
        """Take a message in."""
        self._said.append(_Said(t, message))

    def lines(self, width: int, rows: int) -> list[str]:
        """Return the latest messages, oldest first, in so many rows of so many characters at most."""
        shown: list[str] = []
        for said in reversed(self._said):
            lines = self._lines(said, width)
            if len(shown) + len(lines) > rows:
                break
            shown = lines + shown
        if not shown and self._said and rows > 0:
            shown = self._lines(self._said[-1], width)[:rows]
        return shown

    def _lines(self, said: _Said, width: int) -> list[str]:
        message = said.message
        head = f"{said.t:>3} {self._name(message.sender)} → {self._recipients(message)} ({message.what}): "
        lines = wrap(sanitize(head + in_words(message.content)), max(20, width), subsequent_indent="      ")
        if len(lines) > _MOST_LINES:
            last = lines[_MOST_LINES - 1]
            lines = [*lines[: _MOST_LINES - 1], f"{last[: max(20, width) - 2]} …"]
        return lines

    def _name(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else str(index)

    def _recipients(self, message: MessageSent) -> str:
        if len(message.recipients) > 1 and len(message.recipients) == len(self.names) - 1:
            return "all"
        return folded([self._name(index) for index in message.recipients])


def folded(names: Sequence[str]) -> str:
    """Write names, more than three in short: `agent_0, agent_1 and 6 more`."""
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


def in_words(content: str) -> str:
    """Return a message as it stands; a joint plan as what it has each agent do, feedback on it as what is wrong."""
    try:
        told = msgspec.json.decode(content, type=_JointPlan)
    except msgspec.DecodeError:
        return _objection(content)
    return "; ".join(f"{name}: {_plan(plan)}" for name, plan in told.suggestions.items()) or "nobody has anything to do"


def _objection(content: str) -> str:
    try:
        told = msgspec.json.decode(content, type=_Objection)
    except msgspec.DecodeError:
        return " ".join(content.split())
    proposal = f"would rather {_plan(told.proposal)}" if told.proposal is not None else ""
    return "; ".join(part for part in (told.problem, told.issue, proposal) if part) or "objects"


def _plan(plan: _Plan) -> str:
    task = f"{plan.task.kind} {plan.task.target}" if plan.task is not None else "no task"
    actions = ", ".join(action.action for action in plan.actions)
    return f"{task} ({actions})" if actions else task
