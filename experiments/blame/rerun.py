"""Plays a run again with a correction: in memory where nothing is paid for it, else into a folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from maeil.trace import Listener, Prefix, Recorder
from maeil.user_errors import UserError
from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.ending import Ender, Ending
from quorum.experiments.blame.reference import Reference
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import PlannedBranch
from quorum.experiments.common.event_loop import run_coroutine
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.configuration.team_label import minds_in
from quorum.experiments.episode.branching import PrefixRefused
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.model_pool import ModelPool
from quorum.experiments.episode.models import EpisodeModels
from quorum.experiments.episode.parts import build
from quorum.experiments.episode.runner import play, prepare, run_cell
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.results.whole import check_whole

REFUSED = "refused"
"""The outcome of a correction that the world does not take."""


@dataclass(frozen=True, slots=True)
class Reruns:
    """The re-runs of a run.

    Attributes:
        reference: who decides in the place of others.
        folder: where those are kept that ask models which are paid for.
    """

    reference: Reference
    folder: Path

    def plan(self, correction: Correction) -> PlannedBranch:
        """Return a correction as the branch that it is.

        Raises:
            UserError: there is no such instant.
        """
        reference = self.reference
        change = Change(reference.edits(correction.minds), correction.words, config_dir=reference.config_dir)
        return reference.parent.branch(correction.at, change, after=reference.configuration(correction.minds))

    def play(self, correction: Correction, listeners: Sequence[Listener] = ()) -> Ending:
        """Play it, and return how it ends.

        What its minds or its world raise ends it as `error`, as it ends a run.

        Args:
            correction: what is another.
            listeners: called with every event of an episode in memory.

        Raises:
            UserError: the beginning of the run cannot be brought back, or a model refuses to be asked.
        """
        planned = self.plan(correction)
        if self.reference.asks:
            return self._on_disk(planned)
        c = planned.cell.configuration
        for mind in minds_in(planned.cell.plain["agents"]):
            prepare(c.env.name, mind)
        prefix = planned.branching.prefix
        ender = Ender(lambda: prefix.live)
        try:
            run_coroutine(_in_memory(planned, prefix, [ender, *listeners]))
        except PrefixRefused:
            raise
        except UserError as error:
            if correction.words and prefix.live:
                return Ending(REFUSED)
            raise error
        except Exception:
            return replace(ender.ending, outcome="error", finished=False)
        return ender.ending

    def _on_disk(self, planned: PlannedBranch) -> Ending:
        """Play it into a folder, or read the folder in which it was played before."""
        beginning = planned.branching.prefix.length
        kept = self.folder / planned.cell.name
        try:
            check_whole(RunFolder(kept))
        except DamagedFile:
            kept = run_cell(planned.cell, self.folder, branching=planned.branching).folder
        ender = Ender()
        for stamped in RunFolder(kept).trace().events[beginning:]:
            ender(stamped)
        return ender.ending


async def _in_memory(planned: PlannedBranch, prefix: Prefix, listeners: Sequence[Listener]) -> None:
    cell, branching = planned.cell, planned.branching
    pool = ModelPool()
    books = CallBooks(cell.configuration, None)
    try:
        models = branching.models(EpisodeModels(cell.configuration, pool, books, cell.name), pool, books)
        parts = build(cell, models, branching.memory, branching.seated)
        with Recorder(None, [prefix, *listeners]) as recorder, branching.checked():
            await play(cell, parts, recorder)
    finally:
        await pool.close()
