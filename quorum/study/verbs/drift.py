"""`quorum check --drift`: whether the service of a run still answers as it did."""

from __future__ import annotations

from pathlib import Path

import typer

from quorum.agents.llm.spending import Budget
from quorum.display.terminal import echo, echo_json
from quorum.study.drift import ask_again, repetition


def check_drift(run: Path, budget: Budget, *, as_json: bool) -> None:
    """Send prompts of a run again, and print whether the answers have changed.

    Raises:
        UserError: the run cannot be read, no service answered in it, or the service cannot be called.
        typer.Exit: the answers have changed.
    """
    wanted = repetition(run)
    echo(wanted.expectation, err=True)
    found = ask_again(wanted, budget)
    if as_json:
        echo_json(found.to_json())
    else:
        echo("\n".join(found.lines()))
    if found.changed:
        raise typer.Exit(1)
