"""A branch that is played for one question, and of which nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.trace import Listener, Recorder
from quorum.experiments.branch.parent import PlannedBranch
from quorum.experiments.common.event_loop import run_coroutine
from quorum.experiments.configuration.team_label import minds_in
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.model_pool import ModelPool
from quorum.experiments.episode.models import EpisodeModels
from quorum.experiments.episode.parts import build
from quorum.experiments.episode.runner import play, prepare


def play_aside(planned: PlannedBranch, listeners: Sequence[Listener]) -> None:
    """Play a branch in memory. What its models answer is not recorded: not for models that are paid for.

    Args:
        planned: the branch.
        listeners: called with every event of it, from the first on.

    Raises:
        PrefixRefused: the beginning of the run cannot be brought back.
        UserError: a component cannot be built, or a mind cannot take over.
        Exception: whatever a world or a mind raises.
    """
    for mind in minds_in(planned.cell.plain["agents"]):
        prepare(planned.cell.configuration.env.name, mind)
    run_coroutine(_play(planned, listeners))


async def _play(planned: PlannedBranch, listeners: Sequence[Listener]) -> None:
    cell, branching = planned.cell, planned.branching
    pool, books = ModelPool(), CallBooks(cell.configuration, None)
    try:
        models = branching.models(
            EpisodeModels(cell.configuration, pool, books, cell.name, sample=branching.sample), pool, books
        )
        parts = build(cell, models, branching.memory, branching.seated)
        with Recorder(None, [*branching.listeners, *listeners]) as recorder, branching.checked():
            await play(cell, parts, recorder, branching)
    finally:
        await pool.close()
