"""`quorum run`: one episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maeil.outcomes import Outcome
from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.episode.runner import Result


@shorthand
def run(
    words: options.Overrides = None,
    *,
    out: options.Out = Path("runs"),
    live: Annotated[bool, typer.Option("--live", help="Show the board and the team in the terminal.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show more metrics in the summary.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    strict: options.Strict = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Run one episode and save its trace and metrics.

    Before it calls a paid model, it shows expected calls, tokens and cost. While models think, it shows which agents
    think and for how long, with the tokens and the cost so far.

    track=NAME logs the finished run to MLflow or Weights & Biases.

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
      quorum run n=4 track=mlflow
    """
    from quorum.configuration.cell import Cell
    from quorum.configuration.default_agents import implied_agents
    from quorum.configuration.effects import EffectCheck, refuse
    from quorum.configuration.registry import trackers
    from quorum.configuration.sweep_arguments import build_sweep_component, split_arguments
    from quorum.episode.expected import expectation, uninformed
    from quorum.episode.live import shown
    from quorum.episode.runner import run_cell
    from quorum.runs.tracking import tracking
    from quorum.storage.memory_file import MEMORY

    if live and quiet:
        raise UserError("--live shows what --quiet hides: give one of them")
    budget = {"usd": budget_usd, "tokens": budget_tokens, "calls": budget_calls}
    limits = [f"budget.{kind}={limit}" for kind, limit in budget.items() if limit is not None]
    aside, own = split_arguments(words or [], trackers)
    arguments = [*own, *limits]
    cell = Cell.compose(arguments, config_dir or ())
    if notice := EffectCheck(arguments, config_dir or ()).look_at(cell):
        if strict:
            refuse(notice)
        if not quiet:
            echo(f"notice: {notice}", err=True)
    if not quiet:
        for text in filter(None, (implied_agents(arguments), uninformed(cell.configuration))):
            echo(f"notice: {text}", err=True)
        if line := expectation(cell):
            echo(line, err=True)
    with tracking(build_sweep_component(trackers, aside, config_dir or ()), "quorum") as track, ending():
        with shown(cell, live=live, as_json=as_json, quiet=quiet) as (watch, under_way):
            result = run_cell(cell, out, watch, under_way)
        track(result.folder)
    if (store := cell.configuration.memory.store) is not None and not quiet:
        echo(f"memory: {Path(store) / MEMORY}", err=True)
    report(result, as_json=as_json, quiet=quiet, everything=everything)


@contextmanager
def ending() -> Iterator[None]:
    """End the command with a line on what is left if the user or SIGTERM stops the episode.

    By default, Python exits immediately on SIGTERM, which schedulers, containers and `kill` send, and loses unwritten
    data. Here it acts like Ctrl-C.
    """
    import signal

    from quorum.episode.runner import Interrupted
    from quorum.process.signals import handled
    from quorum.runs.finished import read_spent

    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        signal.raise_signal(signal.SIGINT)

    try:
        with handled({signal.SIGTERM: terminate}):
            yield
    except Interrupted as stop:
        spent = read_spent(stop.folder)
        how = "ended by SIGTERM" if terminated else "interrupted"
        paid = f", with {spent.answers} answers and {spent.tokens:,} tokens" if spent.answers else ""
        echo(f"{how}; the incomplete episode is in {stop.folder}{paid}", err=True)
        raise typer.Exit(143 if terminated else 130) from None


def report(
    result: Result, *, as_json: bool, quiet: bool, everything: bool = False, more: Mapping[str, Any] | None = None
) -> None:
    """Print the result of an episode, with additional keys in JSON; the exit code is 1 if it failed."""
    from quorum.display.consoles import Console
    from quorum.runs import summary

    if as_json:
        echo_json({**summary.as_json(result), **(more or {})})
    elif not quiet:
        summary.print_summary(result, Console(), everything=everything)
    if result.outcome == Outcome.ERROR:
        echo(f"error: the episode ended with an error: {result.reason}; see {result.folder}", err=True)
        if result.reason.startswith("InfrastructureFailed"):
            echo("Run it again later, or wait longer: llm.max_wait=SECONDS llm.rate_limited_tries=N.", err=True)
        raise typer.Exit(1)
    if result.reason and not quiet:
        how = "because its budget was used up" if result.outcome == Outcome.BUDGET else "unfinished"
        echo(f"notice: the episode ended {how}: {result.reason}", err=True)


verb = Verb(run, "Run", 10)
