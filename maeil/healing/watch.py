"""Watches an episode as it goes on: the events build the graph, and the chosen healers answer what is found in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from maeil.dig.graph import SentMessage
from maeil.dig.patterns import Finding, PatternFinder, Thresholds
from maeil.healing.healers import HEALERS, Intervention, Team
from maeil.notices import Pattern
from maeil.trace.events import EpisodeStart, Stamped


@dataclass(frozen=True, slots=True)
class HealSettings:
    """Who heals, and by which numbers.

    Attributes:
        healers: the patterns whose healers act.
        thresholds: the numbers in the rules of the patterns.
        attempts: times that plans of too few are told so in an episode, at most (published: 3).
    """

    healers: tuple[Pattern, ...]
    thresholds: Thresholds
    attempts: int


class Watch:
    """The healers of one episode.

    Args:
        settings: who heals.
        start: the first event of the episode.
    """

    def __init__(self, settings: HealSettings, start: EpisodeStart) -> None:
        self._settings = settings
        self._finder = PatternFinder(start, settings.thresholds)
        self._team = Team((*start.agents, *start.coordinators), self._finder.builder)
        self._most = {Pattern.INCOMPLETE_COVERAGE: settings.attempts, Pattern.MISSED_SUBMISSION: 1}
        self._acted: Counter[Pattern] = Counter()
        self._found: list[Finding] = []

    @property
    def messages(self) -> Mapping[int, SentMessage]:
        """What was said so far, by id."""
        return self._finder.graph.messages

    def take(self, stamped: Stamped) -> None:
        """Take the next event."""
        self._found += [found for found in self._finder.take(stamped) if found.pattern in self._settings.healers]

    def due(self) -> list[Intervention]:
        """Return what the healers do about what was found since they were last asked."""
        found, self._found = self._found, []
        done = []
        for one in found:
            if self._acted[one.pattern] < self._most.get(one.pattern, self._acted[one.pattern] + 1):
                self._acted[one.pattern] += 1
                done.append(HEALERS[one.pattern](one, self._team))
        return done
