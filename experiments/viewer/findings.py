"""The interaction graph on the pages of an episode: what became of messages, and where cooperation fails."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.dig.graph import SentMessage
from maeil.dig.patterns import Finding, PatternFinder
from maeil.trace.events import EpisodeStart, HealerActed, Stamped
from quorum.experiments.viewer.pages import Json

_NEAR = 64
"""Findings to look back for the one that a healer speaks of: it does so at once."""


class InteractionLane:
    """Follows the graph of an episode, event by event.

    Attributes:
        settled: messages and recipients whose reaction has become known with the last event.
    """

    def __init__(self) -> None:
        self.settled: Sequence[tuple[SentMessage, int]] = ()
        self._finder: PatternFinder | None = None

    def take(self, stamped: Stamped, findings: list[Json]) -> None:
        """Take the next event; what has come about with it stands in the findings of the page.

        Args:
            stamped: the event; all before the start of the episode are passed over.
            findings: of the page, in order. What a healer says stands with the finding that it is about.
        """
        if isinstance(stamped.event, EpisodeStart):
            self._finder = PatternFinder(stamped.event)
        if self._finder is None:
            return
        findings += [_written(found) for found in self._finder.take(stamped)]
        self.settled = self._finder.settled
        if isinstance(stamped.event, HealerActed):
            _note(stamped, stamped.event, findings)


def _written(found: Finding) -> Json:
    return {
        "t": found.t,
        "t_hat": found.t_hat,
        "pattern": found.pattern.value,
        "agents": list(found.agents),
        "messages": list(found.messages),
        "subject": found.subject,
        "count": found.count,
        "needed": found.needed,
    }


def _note(stamped: Stamped, said: HealerActed, findings: list[Json]) -> None:
    """Put what a healer says to its finding; by other numbers than the published ones it may stand alone."""
    about = said.healer, said.subject, [*said.messages]
    for found in reversed(findings[-_NEAR:]):
        same = (found["pattern"], found["subject"], found["messages"]) == about
        if same and "says" not in found and not set(said.recipients).isdisjoint(found["agents"]):
            found["says"], found["told"] = said.content, list(said.recipients)
            return
    findings.append(
        {
            "t": stamped.t,
            "t_hat": stamped.t_hat,
            "pattern": said.healer,
            "agents": list(said.recipients),
            "messages": list(said.messages),
            "subject": said.subject,
            "count": 0,
            "needed": 0,
            "says": said.content,
            "told": list(said.recipients),
        }
    )
