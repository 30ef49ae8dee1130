"""`quorum run`: one episode."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.episode import ending, report
from quorum.experiments.verbs.options import (
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    ConfigDir,
    Json,
    Out,
    Overrides,
    Plugins,
    Quiet,
    Strict,
)


def run(
    overrides: Overrides = None,
    *,
    out: Out = Path("runs"),
    live: Annotated[bool, typer.Option("--live", help="Show the board and the team in the terminal.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    budget_calls: BudgetCalls = None,
    strict: Strict = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Run one episode, and keep its trace and metrics.

    Before it asks a paid model, it shows the expected calls, tokens and cost. While models think, it shows which agents
    think and for how long, with the tokens and the money so far.

    If a budget is used up, the episode ends as `budget`: it is scored and labelled, and the exit code is 0. The exit
    code is 1 if the episode ends as `error`.

    \b
    Examples:
      quorum run
      quorum run n=8 seed=3 --live
      quorum run n=2 env.layout=my_board.txt
      quorum run n=4 --json > result.json
      quorum run agents=naive llm=simulated topology=debate --budget-tokens 50000
      quorum run env=maze --plugin my_worlds --config-dir my_configs
    """
    from quorum.experiments.common.memory_file import MEMORY
    from quorum.experiments.configuration.cell import Cell
    from quorum.experiments.configuration.effects import refuse, without_effect
    from quorum.experiments.episode.expected import expectation
    from quorum.experiments.episode.live import shown
    from quorum.experiments.episode.runner import run_cell
    from quorum.experiments.episode.uninformed import uninformed

    if live and quiet:
        raise UserError("--live shows what --quiet hides: give one of them")
    budget = {"usd": budget_usd, "tokens": budget_tokens, "calls": budget_calls}
    limits = [f"budget.{kind}={limit}" for kind, limit in budget.items() if limit is not None]
    arguments = [*(overrides or []), *limits]
    cell = Cell.compose(arguments, config_dir)
    if notice := without_effect(arguments, cell, config_dir):
        if strict:
            refuse(notice)
        if not quiet:
            echo(f"notice: {notice}", err=True)
    if not quiet:
        for line in (f"notice: {text}" if (text := uninformed(cell.configuration)) else "", expectation(cell)):
            if line:
                echo(line, err=True)
    with ending(), shown(cell, live=live, as_json=as_json, quiet=quiet) as (watch, under_way):
        result = run_cell(cell, out, watch, under_way)
    if (store := cell.configuration.memory.store) is not None and not quiet:
        echo(f"memory: {Path(store) / MEMORY}", err=True)
    report(result, as_json=as_json, quiet=quiet)
