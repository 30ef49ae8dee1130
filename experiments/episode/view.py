"""How `quorum run` shows an episode while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from maeil.trace import Listener, Stamped
from quorum.agents.llm.spending import UnderWay
from quorum.experiments.common.consoles import Console
from quorum.experiments.common.terminal import echo
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.live import LineView, LiveView
from quorum.experiments.episode.runner import Watch
from quorum.experiments.episode.status import EpisodeStatus, status_line


@contextmanager
def shown(cell: Cell, *, live: bool, as_json: bool, quiet: bool) -> Iterator[tuple[Watch | None, UnderWay]]:
    """Show an episode while the context lasts; gives what `run_cell` tells of it.

    Args:
        cell: what is run.
        live: show the team at work.
        as_json: leave standard output to the result.
        quiet: show nothing.
    """
    under_way = UnderWay()
    with ExitStack() as stack:
        yield None if quiet else _watch(stack, cell, under_way, live=live, as_json=as_json), under_way


def _watch(stack: ExitStack, cell: Cell, under_way: UnderWay, *, live: bool, as_json: bool) -> Watch | None:
    console = Console(stderr=as_json or not sys.stdout.isatty())
    status = EpisodeStatus(under_way) if cell.configuration.uses_models else None
    if live and console.is_terminal:
        return lambda world: stack.enter_context(LiveView(world, console, status=status))
    if as_json and not live:
        echo(f"running {cell.name}", err=True)
    listeners: list[Listener] = [LineView(console)] if live else []
    if status is not None:
        listeners.append(status)
        stack.enter_context(status_line(Console(stderr=True), status))
    if not listeners:
        return None

    def tell(stamped: Stamped) -> None:
        for listener in listeners:
            listener(stamped)

    return lambda _: tell
