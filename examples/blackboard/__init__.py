"""A blackboard that shows each agent's last committed plan to all agents before they think.

The idea comes from blackboard systems (Hayes-Roth, Artificial Intelligence 26, 1985), as in LbMAS (arXiv 2507.01701).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import PositiveInt

from maeil import Component, Extension, ExtensionConfig, ExtensionContext, Note, Turn
from maeil.metrics import Value, metric
from maeil.team import Participant
from maeil.trace import Stamped, Trace
from maeil.trace.events import Event, PlanChange
from quorum.configuration.registry import extensions


class BlackboardConfig(ExtensionConfig):
    """Values of `extension.blackboard`."""

    lines: PositiveInt
    """Number of recent commitments shown on the board."""


@dataclass(frozen=True, slots=True)
class BlackboardPost(Event):
    """A line was written on the board."""

    kind: ClassVar[str] = "blackboard_post"
    agent: int
    text: str


class Blackboard(Extension):
    """Writes every committed plan on a board, and shows the board to all other agents.

    Args:
        config: its values.
    """

    name = "blackboard"
    schema = 2

    def __init__(self, config: BlackboardConfig, _context: ExtensionContext) -> None:
        self._board: deque[tuple[int, str]] = deque(maxlen=config.lines)

    def on_event(self, stamped: Stamped) -> None:
        """Write a newly committed plan on the board."""
        event = stamped.event
        if isinstance(event, PlanChange) and event.status == "committed":
            task = f"{event.task['kind']} {event.task['target']}" if event.task else "nothing that has a name"
            self._board.append((event.agent, task))
            self.episode.record(BlackboardPost(event.agent, task))

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:  # noqa: ARG002 - in every turn
        """Show the board without the participant's own lines."""
        names = self.episode.team.names
        shown = [[names[agent], text] for agent, text in self._board if agent != participant.index]
        template = Path(__file__).with_name("blackboard.jinja")
        return [Note(self.name, tuple(self._board), "blackboard", shown, template)] if shown else []


@metric("blackboard.posts", "lines", of=BlackboardPost)
def posts(trace: Trace) -> Value:
    """Lines written on the board."""
    return len(trace.stamped(BlackboardPost))


extensions.register("blackboard", Component(BlackboardConfig, Blackboard))
