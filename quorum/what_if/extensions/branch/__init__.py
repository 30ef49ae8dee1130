"""A branch of a recorded episode: its origin, and settings of the loop that apply from an instant on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from maeil.extension import Episode, Extension
from maeil.settings import LoopSettings
from maeil.trace.events import EpisodeStart
from maeil.trace.prefix import Prefix


@dataclass(frozen=True, slots=True)
class LaterSettings:
    """Settings from an instant of the episode on, for messages, for memory, and for thoughts in a step.

    Attributes:
        prefix: knows when the instant is reached.
        settings: settings from then on. The clock's unit and the limits of the wall clock stay.
    """

    prefix: Prefix
    settings: LoopSettings


class Branch(Extension):
    """Makes an episode a branch of another one.

    Args:
        origin: the origin in the trace (`EpisodeStart.branch`).
        later: other settings, each from an instant on.
    """

    name = "branch"

    def __init__(self, origin: Mapping[str, Any] | None, later: Sequence[LaterSettings] = ()) -> None:
        self._origin = origin
        self._later = later

    def start(self, event: EpisodeStart) -> EpisodeStart:
        """Return the first event with the origin of the episode."""
        return replace(event, branch=self._origin)

    def begin(self, episode: Episode) -> None:
        """Adopt each of the later settings at its instant."""
        super().begin(episode)
        for other in self._later:
            episode.team.remember(other.settings.memory_messages)
            other.prefix.then(partial(episode.adopt, other.settings))
