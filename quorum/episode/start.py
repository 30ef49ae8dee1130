"""How an episode starts: at the beginning, or after replaying a recorded prefix of another run."""

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
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.team import Team
from quorum.storage.memory_file import Memory
from quorum_base.user_errors import UserError


class StartRefused(UserError):
    """The part before the start of an episode cannot be reproduced."""


@dataclass(frozen=True, slots=True)
class Start:
    """How an episode starts. The base class starts at the beginning; subclasses override the differences.

    Callers accept any `Start` and know no subclass. Each method receives the value for an episode from the
    beginning and returns the value for this one. Use a start for one episode only: it may consume recorded answers.

    Example:
        An episode with an extension that no configuration names:

        ```python
        class Watched(Start):
            def extensions(self, cell, parts):
                return (Stopwatch(), *parts.extensions)

        run_cell(cell, Path("runs"), start=Watched())
        ```

    Attributes:
        memory: the team's memory from an earlier episode; None for none.
    """

    memory: Memory | None = None

    @property
    def parent(self) -> Path | None:
        """Folder of the recorded run that the episode replays before it is live; None: it is live from the beginning.

        The run stays in place: `meta.json` stores its path relative to the folder of the episode.
        """
        return None

    @property
    def listeners(self) -> Sequence[Listener]:
        """Listeners that come before all others, available once the team is built."""
        return ()

    def models(
        self, cell: Cell, pool: ModelPool, books: CallLedger, recorded: Replay | None = None
    ) -> Callable[[str], Any]:
        """Return a function that gives each participant its language model, by name.

        Args:
            cell: the episode.
            pool: pool of the process.
            books: records of calls.
            recorded: recorded answers that replace all models; None: the models answer.
        """
        return EpisodeModels(cell.configuration, pool, books, cell.name, recorded=recorded)

    def seeds(self, seeds: Seeds) -> Seeds:
        """Return the minds' node in the tree of random streams."""
        return seeds

    def team(self, team: Team, context: TeamContext) -> Team:  # noqa: ARG002
        """Return the team that takes part.

        Args:
            team: the team of the cell.
            context: the context it was built for.

        Raises:
            UserError: one of its minds does not support such a start.
        """
        return team

    def settings(self, settings: LoopSettings) -> LoopSettings:
        """Return the loop settings for the first step; an extension may change them later."""
        return settings

    def extensions(self, cell: Cell, parts: Parts) -> Sequence[Extension]:  # noqa: ARG002
        """Return the active extensions, in order.

        Args:
            cell: the episode.
            parts: its components, including the extensions of its configuration.
        """
        return parts.extensions

    def checked(self) -> AbstractContextManager[None]:
        """Return the context in which the episode is played.

        Raises (from the context):
            StartRefused: the part before the episode is live cannot be reproduced.
        """
        return nullcontext()


BEGINNING = Start()
"""The start at the beginning, for a team without memory."""
