"""How a verb that plays one episode reports its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from quorum.experiments.common.terminal import echo, echo_json

if TYPE_CHECKING:
    from quorum.experiments.episode.runner import Result


@contextmanager
def ending() -> Iterator[None]:
    """End the command with a line on what is left if the user or SIGTERM stops the episode."""
    from quorum.experiments.common.termination import sigterm_interrupts
    from quorum.experiments.episode.runner import Interrupted
    from quorum.experiments.results.finished import read_spent

    try:
        with sigterm_interrupts() as ended:
            yield
    except Interrupted as stop:
        spent = read_spent(stop.folder)
        how = "ended by SIGTERM" if ended.requested else "interrupted"
        paid = f", with {spent.answers} answers of {spent.tokens:,} tokens" if spent.answers else ""
        echo(f"{how}; the incomplete episode is in {stop.folder}{paid}", err=True)
        raise typer.Exit(143 if ended.requested else 130) from None


def report(result: Result, *, as_json: bool, quiet: bool) -> None:
    """Print the result of an episode; the exit code is 1 if it failed."""
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results import summary

    if as_json:
        echo_json(summary.as_json(result))
    elif not quiet:
        summary.print_summary(result, Console())
    if result.outcome == "error":
        echo(f"error: the episode ended with an error: {result.reason}; see {result.folder}", err=True)
        raise typer.Exit(1)
    if result.reason and not quiet:
        how = f"by its {result.outcome}" if result.outcome in ("budget", "limit") else "unfinished"
        echo(f"notice: the episode was ended {how}: {result.reason}", err=True)
    if result.never_valid and not quiet:
        echo(f"notice: {result.never_valid}", err=True)
