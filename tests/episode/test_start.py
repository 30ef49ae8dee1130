"""The start of an episode: whatever it overrides holds for the episode, and the runner needs to know nothing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from maeil import LoopSettings, TeamContext
from maeil.extension import Extension
from maeil.trace import Listener, Stamped
from maeil.trace.events import EpisodeStart
from quorum.configuration.cell import Cell
from quorum.episode.built import Parts
from quorum.episode.runner import run_cell
from quorum.episode.start import Start, StartRefused
from quorum.episode.team import Team

CELL = ("n=2", "max_steps=2")


class Noting(Extension):
    """Notes that it takes part."""

    name = "noting"

    def __init__(self, noted: list[str]) -> None:
        self._noted = noted

    def start(self, event: EpisodeStart) -> EpisodeStart:
        self._noted.append("extension")
        return event


class Other(Start):
    """A start that overrides all that an episode in memory can show."""

    noted: ClassVar[list[str]] = []

    @property
    def listeners(self) -> Sequence[Listener]:
        def listen(stamped: Stamped) -> None:
            if isinstance(stamped.event, EpisodeStart):
                self.noted.append("listener")

        return (listen,)

    def team(self, team: Team, context: TeamContext) -> Team:
        self.noted.append("team")
        return team

    def settings(self, settings: LoopSettings) -> LoopSettings:
        self.noted.append("settings")
        return settings

    def extensions(self, cell: Cell, parts: Parts) -> Sequence[Extension]:
        return (*parts.extensions, Noting(self.noted))

    @contextmanager
    def checked(self) -> Iterator[None]:
        yield
        self.noted.append("checked")


class Refused(Start):
    """A start that cannot be had."""

    @contextmanager
    def checked(self) -> Iterator[None]:
        yield
        raise StartRefused("it cannot be had")


def test_an_episode_takes_from_its_start_all_that_this_overrides(tmp_path: Path) -> None:
    Other.noted.clear()
    run_cell(Cell.compose(CELL), tmp_path, start=Other())
    assert Other.noted == ["team", "settings", "extension", "listener", "checked"]


def test_a_start_that_cannot_be_had_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="it cannot be had"):
        run_cell(Cell.compose(CELL), tmp_path, start=Refused())
    assert list(tmp_path.iterdir()) == []
