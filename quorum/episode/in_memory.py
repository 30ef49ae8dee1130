"""Plays an episode in memory to answer a single question; keeps nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maeil.trace import Listener, Recorder
from maeil.world import closing_world
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.replay import Replay
from quorum.configuration.cell import Cell
from quorum.configuration.team_label import minds_in
from quorum.episode.built import Parts
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.parts import build, play
from quorum.episode.rehearsal import rehearse
from quorum.episode.start import BEGINNING, Start
from quorum.process.event_loop import run_coroutine


class Watch(Protocol):
    """Wraps the participants of an episode to observe their calls and actions."""

    def model(self, name: str, model: Model) -> Model:
        """Return the replacement for a participant's language model."""

    def team(self, parts: Parts) -> Parts:
        """Return the components with replaced minds."""


def play_in_memory(
    cell: Cell,
    listeners: Sequence[Listener],
    *,
    start: Start = BEGINNING,
    recorded: Replay | None = None,
    watch: Watch | None = None,
) -> None:
    """Play a cell in memory. Model answers are not recorded, so do not use it with paid models.

    Args:
        cell: the cell to play.
        listeners: called with every event from the first one on.
        start: how its episode starts.
        recorded: recorded answers that replace all models; None: the models answer.
        watch: wraps the participants; None: no wrapper.

    Raises:
        StartRefused: the part before its start cannot be reproduced.
        UserError: a component cannot be built, or a mind cannot take over.
        Exception: any error of a world, a mind or a listener.
    """

    async def episode() -> None:
        async with ModelPool() as pool:
            await play_in_pool(cell, listeners, pool, start=start, recorded=recorded, watch=watch)

    for mind in minds_in(cell.plain["agents"]):
        rehearse(cell.configuration.env.name, mind)
    run_coroutine(episode())


async def play_in_pool(
    cell: Cell,
    listeners: Sequence[Listener],
    pool: ModelPool,
    *,
    start: Start = BEGINNING,
    recorded: Replay | None = None,
    watch: Watch | None = None,
) -> None:
    """Play a cell in memory with the models of a pool, whose owner has compiled the kernels; see `play_in_memory`."""
    books = CallLedger(cell.configuration, None)
    models = start.models(cell, pool, books, recorded)
    asked = models if watch is None else lambda name: watch.model(name, models(name))
    parts = build(cell, asked, start)
    with (
        closing_world(parts.world),
        Recorder(None, [*start.listeners, *listeners]) as recorder,
        start.checked(),
    ):
        await play(cell, parts if watch is None else watch.team(parts), recorder, start)
