"""`quorum blame`: which decision made a run fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import ConfigDir, Json, Plugins, Quiet
from quorum.experiments.verbs.preparation import prepare_plugins, quieten


def blame(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|SWEEP", help="Blame this run, or all failed runs of this folder.")
    ],
    *,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="MIND|KEY=VALUE",
            show_default="heuristic; in a team of nothing else self",
            help="Ask this mind, or this model, what would have been right; `self` is a fresh copy of each agent's own "
            "mind. May be repeated.",
        ),
    ] = None,
    success: Annotated[
        str,
        typer.Option(
            "--success", metavar="CONDITION", help="Take this for a success: completed, 'steps<=60' or 'score>=3'."
        ),
    ] = "completed",
    since: Annotated[
        int, typer.Option("--from", metavar="STEP", min=0, help="Shares: have the reference decide from this step on.")
    ] = 0,
    shares: Annotated[
        bool, typer.Option("--shares/--no-shares", help="Share the failure out among the agents.")
    ] = True,
    orders: Annotated[
        int, typer.Option("--orders", metavar="ROUNDS", min=2, help="Pairs of orders for the shares of a large team.")
    ] = 10,
    draws: Annotated[
        int,
        typer.Option(
            "--draws",
            metavar="SAMPLES",
            min=1,
            help="Judge a correction by this many samples, where paid models are asked.",
        ),
    ] = 1,
    budget_reruns: Annotated[
        int,
        typer.Option("--budget-reruns", metavar="CELLS", min=1, help="Play at most this many episodes of a run."),
    ] = 2000,
    budget_calls: Annotated[
        int | None,
        typer.Option(
            "--budget-calls",
            metavar="CALLS",
            min=0,
            show_default="none",
            help="Ask real models for at most this many answers.",
        ),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", metavar="USD", min=0, show_default="none", help="Spend at most this much money."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Find which agent, at which step, by which kind of mistake, made a run fail.

    Each claim is an experiment: the run is played again with one decision corrected by a reference, and all others go
    on by themselves. The earliest correction that turns failure into success is the verdict; beside it stands how much
    each agent has to do with the failure, and who must be corrected together. Every claim comes with the command that
    plays it again.

    What was found is kept in the folder of the run, in blame.json; a command that was killed goes on where it ended.

    \b
    Examples:
      quorum blame runs/NAME
      quorum blame runs/NAME --by self --json
      quorum blame runs/NAME --success 'steps<=60'
      quorum blame runs/NAME --by llm.model=gpt-5 --budget-calls 500
      quorum blame runs/SWEEP --by heuristic
    """
    from quorum.experiments.blame.attempts import Budget
    from quorum.experiments.blame.command import blame_folder
    from quorum.experiments.blame.ending import Success
    from quorum.experiments.blame.search import Question

    if quiet:
        quieten()
    prepare_plugins(plugin)
    budget = Budget(budget_reruns, budget_calls, budget_usd)
    question = Question(
        tuple(by or ()), Success.parse(success), budget, draws, since, orders, config_dir, shares=shares
    )
    found = blame_folder(run, question)
    if as_json:
        echo_json(found.plain())
    elif not quiet:
        for line in found.lines():
            echo(line)
