"""A branch that is played in memory, for one question; nothing of it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.trace import Listener, Recorder
from quorum.experiments.branch.parent import PlannedBranch
from quorum.experiments.common.event_loop import run_coroutine
from quorum.experiments.configuration.team_label import minds_in
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.model_pool import ModelPool
from quorum.experiments.episode.models import EpisodeModels
from quorum.experiments.episode.parts import build, play
from quorum.experiments.episode.rehearsal import rehearse


def play_in_memory(planned: PlannedBranch, listeners: Sequence[Listener]) -> None:
    """Play a branch in memory. The answers of its models are not recorded, so it is not for paid models.

    Args:
        planned: the branch.
        listeners: called with every event, from the first one on.

    Raises:
        PrefixRefused: the run cannot be replayed up to the branch point.
        UserError: a component cannot be built, or a mind cannot take over.
        Exception: whatever a world or a mind raises.
    """
    for mind in minds_in(planned.cell.plain["agents"]):
        rehearse(planned.cell.configuration.env.name, mind)
    run_coroutine(_play(planned, listeners))


async def _play(planned: PlannedBranch, listeners: Sequence[Listener]) -> None:
    cell, branching = planned.cell, planned.branching
    pool, books = ModelPool(), CallBooks(cell.configuration, None)
    try:
        live = EpisodeModels(cell.configuration, pool, books, cell.name, sample=branching.sample)
        parts = build(cell, branching.models(live, pool, books), branching.memory, branching.seated)
        with Recorder(None, [*branching.listeners, *listeners]) as recorder, branching.checked():
            await play(cell, parts, recorder, branching)
    finally:
        await pool.close()
