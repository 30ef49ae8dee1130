"""Plays a run again with a correction: in memory where nothing is paid for it, else into a folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from maeil.trace import Listener, Recorder
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
        change = Change(reference.edits(correction.minds), correction.words, correction.drops, reference.config_dir)
        after = reference.configuration(correction.minds)
        return reference.parent.branch(correction.at, change, correction.draw, after=after)

    def play(self, correction: Correction, listeners: Sequence[Listener] = ()) -> Ending:
        """Play it, and return how it ends.

        What its minds or its world raise ends it as `error`, as it ends a run.

        Args:
            correction: what is another.
            listeners: called with every event of an episode in memory.

        Raises:
            UserError: the beginning of the run cannot be brought back, or a model refuses to be asked, or is not there.
        """
        planned = self.plan(correction)
        if self.reference.asks:
            return self._on_disk(planned, correction)
        c = planned.cell.configuration
        for mind in minds_in(planned.cell.plain["agents"]):
            prepare(c.env.name, mind)
        prefix = planned.branching.prefix
        ender = Ender(lambda: prefix.live)
        try:
            run_coroutine(_in_memory(planned, [ender, *listeners]))
        except PrefixRefused:
            raise
        except UserError:
            if correction.words and prefix.live:
                return Ending(REFUSED)
            raise
        except Exception:
            return replace(ender.ending, outcome="error", finished=False)
        return ender.ending

    def _on_disk(self, planned: PlannedBranch, correction: Correction) -> Ending:
        """Play it into a folder, or read the folder in which it was played before."""
        prefix = planned.branching.prefix
        beginning = prefix.length
        kept = self.folder / planned.cell.name
        if not _played(kept):
            try:
                result = run_cell(planned.cell, self.folder, branching=planned.branching)
            except PrefixRefused:
                raise
            except UserError as error:
                if correction.words and prefix.live and "the world refuses it" in error.message:
                    return Ending(REFUSED)
                raise
            kept = result.folder
            if result.outcome == "error":
                raise UserError(
                    f"{kept}: a re-run ended by an error: {result.reason}", "Type it again: it goes on from there."
                )
        ender = Ender()
        for stamped in RunFolder(kept).trace().events[beginning:]:
            ender(stamped)
        return ender.ending


def _played(folder: Path) -> bool:
    """Whether a folder holds a whole episode that did not end by an error."""
    try:
        return check_whole(RunFolder(folder)).outcome != "error"
    except DamagedFile:
        return False


async def _in_memory(planned: PlannedBranch, listeners: Sequence[Listener]) -> None:
    cell, branching = planned.cell, planned.branching
    pool = ModelPool()
    books = CallBooks(cell.configuration, None)
    try:
        after = EpisodeModels(cell.configuration, pool, books, cell.name, sample=branching.sample)
        parts = build(cell, branching.models(after, pool, books), branching.memory, branching.seated)
        with Recorder(None, [*branching.listeners, *listeners]) as recorder, branching.checked():
            await play(cell, parts, recorder, branching)
    finally:
        await pool.close()
