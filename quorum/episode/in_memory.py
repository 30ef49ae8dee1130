"""An episode that is played in memory, for one question; nothing of it is kept."""

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
from quorum.episode.call_books import CallBooks
from quorum.episode.model_pool import ModelPool
from quorum.episode.parts import build, play
from quorum.episode.rehearsal import rehearse
from quorum.episode.start import BEGINNING, Start
from quorum.process.event_loop import run_coroutine


class Watch(Protocol):
    """Stands between an episode and its participants, to see what they ask and do."""

    def model(self, name: str, model: Model) -> Model:
        """Return what a participant asks in the place of its language model."""

    def team(self, parts: Parts) -> Parts:
        """Return the components with other minds in the place of those that were built."""


def play_in_memory(
    cell: Cell,
    listeners: Sequence[Listener],
    *,
    start: Start = BEGINNING,
    recorded: Replay | None = None,
    watch: Watch | None = None,
) -> None:
    """Play a cell in memory. The answers of its models are not recorded, so it is not for paid models.

    Args:
        cell: what is played.
        listeners: called with every event, from the first one on.
        start: how it starts.
        recorded: answers in the place of all models; None: they answer themselves.
        watch: stands between the episode and its participants; None for nothing.

    Raises:
        StartRefused: what comes before its start cannot be reproduced.
        UserError: a component cannot be built, or a mind cannot take over.
        Exception: whatever a world, a mind or a listener raises.
    """

    async def episode() -> None:
        books = CallBooks(cell.configuration, None)
        async with ModelPool() as pool:
            models = start.models(cell, pool, books, recorded)
            asked = models if watch is None else lambda name: watch.model(name, models(name))
            parts = build(cell, asked, start)
            with (
                closing_world(parts.world),
                Recorder(None, [*start.listeners, *listeners]) as recorder,
                start.checked(),
            ):
                await play(cell, parts if watch is None else watch.team(parts), recorder, start)

    for mind in minds_in(cell.plain["agents"]):
        rehearse(cell.configuration.env.name, mind)
    run_coroutine(episode())
