"""How an episode starts: at the beginning, or after the recorded prefix of another run has been replayed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil import LoopSettings, TeamContext
from maeil.extension import Extension
from maeil.seeds import Seeds
from maeil.trace import Listener
from quorum.agents.llm.replay import Replay
from quorum.configuration.cell import Cell
from quorum.episode.built import Parts
from quorum.episode.call_books import CallBooks
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.team import Team
from quorum.storage.memory_file import Memory
from quorum_base.user_errors import UserError


class StartRefused(UserError):
    """What comes before the start of an episode cannot be reproduced."""


@dataclass(frozen=True, slots=True)
class Start:
    """How an episode starts. This one starts at the beginning; a subclass overrides what it does differently.

    Whatever plays an episode takes a start and knows no subclass. Each method gets what an episode from the beginning
    would have, and returns what this one has. A start is for one episode: it may use up recorded answers.

    Example:
        An episode in which an extension takes part that no configuration names:

        ```python
        class Watched(Start):
            def extensions(self, cell, parts):
                return (Stopwatch(), *parts.extensions)

        run_cell(cell, Path("runs"), start=Watched())
        ```

    Attributes:
        memory: that the team brings along from an earlier episode; None for none.
    """

    memory: Memory | None = None

    @property
    def parent(self) -> Path | None:
        """Folder of the recorded run that the episode replays before it is live; None: it is live from the beginning.

        The run stays where it is: `meta.json` says where that was, seen from the folder of the episode.
        """
        return None

    @property
    def listeners(self) -> Sequence[Listener]:
        """What listens to the episode before all others, known once the team is built."""
        return ()

    def models(
        self, cell: Cell, pool: ModelPool, books: CallBooks, recorded: Replay | None = None
    ) -> Callable[[str], Any]:
        """Return what gives each participant its language model, by name.

        Args:
            cell: the episode.
            pool: of the process.
            books: in which calls are entered.
            recorded: answers that replace those of all models; None: the models answer.
        """
        return EpisodeModels(cell.configuration, pool, books, cell.name, recorded=recorded)

    def seeds(self, seeds: Seeds) -> Seeds:
        """Return the place of the minds in the tree of random streams."""
        return seeds

    def team(self, team: Team, context: TeamContext) -> Team:  # noqa: ARG002
        """Return who takes part.

        Args:
            team: the team of the cell.
            context: that it was built for.

        Raises:
            UserError: one of its minds cannot take part from such a start.
        """
        return team

    def settings(self, settings: LoopSettings) -> LoopSettings:
        """Return the settings of the loop in the first step; an extension may adopt others later."""
        return settings

    def extensions(self, cell: Cell, parts: Parts) -> Sequence[Extension]:  # noqa: ARG002
        """Return the extensions that take part, in order.

        Args:
            cell: the episode.
            parts: its components, with the extensions of its configuration.
        """
        return parts.extensions

    def checked(self) -> AbstractContextManager[None]:
        """Return the context in which the episode is played.

        Raises (from the context):
            StartRefused: what comes before the episode is live cannot be reproduced.
        """
        return nullcontext()


BEGINNING = Start()
"""The beginning, of a team without memory."""
