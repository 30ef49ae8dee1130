"""`quorum sweep`: a grid of episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.sweeps.estimate import Forecast
    from quorum.sweeps.run import SweepRequest, SweepResult


@shorthand
def sweep(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE.yaml|KEY=VALUES",
            help="Take the experiment from this file; span the grid with these keys, their values separated by commas.",
        ),
    ] = None,
    *,
    out: options.Out = Path("runs"),
    name: options.Name = None,
    dry_run: options.DryRun = False,
    names: Annotated[bool, typer.Option("--names", help="With --dry-run, also list the name of every cell.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells again that ended in an error.")
    ] = False,
    limit: Annotated[
        int | None,
        options.value("--limit", "CELLS", "Run at most this many of the missing cells.", unset="all", min=0),
    ] = None,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    cancel_batches: Annotated[
        bool,
        typer.Option("--cancel-batches", help="Cancel the sweep's open batches at the provider. Run nothing."),
    ] = False,
    accept_versions: options.AcceptVersions = False,
    strict: options.Strict = False,
    skip_invalid: options.SkipInvalid = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Run a grid of episodes, or the part of it without results.

    Run the same command again to resume. Separate values by commas, or use Hydra's range(), glob() and so on.
    FILE.yaml takes an experiment from a file, experiment=NAME one that `quorum list experiment` shows. engine=NAME
    chooses the engine that runs the cells. track=NAME logs
    finished cells to MLflow or Weights & Biases. A budget covers the whole sweep, including finished cells: once it is
    used up, no more calls start; a larger budget continues. Ctrl-C lets running episodes finish; a second one drops
    them. The exit code is 1 if cells ended as `error`.

    \b
    Examples:
      quorum sweep n=2,4 topology=individual,debate agents=negotiator
      quorum sweep experiment=quickstart --dry-run --names
      quorum sweep my.yaml --n 2,4 --seeds 0-9 --model openai/NAME
      quorum sweep experiment=topologies llm=openai llm.model=NAME --budget-usd 20
      quorum sweep experiment=cube_scaling engine.workers=2 --limit 10
      quorum sweep n=2,4 'seed=range(0,4)' --retry-failed --json > summary.json
      quorum sweep experiment=topologies llm=openai llm.model=M engine=batch
      quorum sweep n=2,4 track=wandb track.project=teams
    """
    from quorum.sweeps.run import SweepRequest

    request = SweepRequest(
        words=tuple(words or ()),
        out=out,
        name=name,
        retry_failed=retry_failed,
        limit=limit,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        accept_versions=accept_versions,
        strict=strict,
        skip_invalid=skip_invalid,
        plugins=tuple(plugin or ()),
        config_dir=tuple(config_dir or ()),
    )
    if names and not dry_run:
        raise UserError("--names works only with --dry-run", "`quorum results SWEEP` lists the finished cells.")
    if cancel_batches and dry_run:
        raise UserError("--cancel-batches and --dry-run: a dry run cancels nothing", "Give one.")
    if cancel_batches:
        from quorum.sweeps.command import cancel_batches as end_batches

        ended = end_batches(request)
        if as_json:
            echo_json(ended)
        else:
            echo(f"{ended['folder']}: cancelled {ended['cancelled_batches']} batches in progress")
            echo(f"{ended['requests']:,} requests were open; engine=batch reads the answers already paid for")
        return
    run_or_show(request, dry_run=dry_run, names=names, as_json=as_json, quiet=quiet)


def run_or_show(
    request: SweepRequest, *, dry_run: bool, names: bool = False, as_json: bool = False, quiet: bool = False
) -> SweepResult | None:
    """Run the missing cells of a sweep and return the result; or only show its plan and return None.

    Raises:
        UserError: the arguments are not valid, or the sweep cannot run.
        typer.Exit: cells failed, or the user stopped the sweep.
    """
    from quorum.display.consoles import at_work
    from quorum.sweeps.command import run_sweep_command, show_plan

    if dry_run:
        with at_work("estimating ..."):
            expected = show_plan(request)
        _print_report(expected, as_json=as_json)
        if names and not as_json:
            echo("".join(f"\n{cell.name}" for cell in expected.cells))
        return None
    outcome = run_sweep_command(request, quiet=quiet)
    if not quiet or as_json:
        _print_report(outcome, as_json=as_json)
    if outcome.complaint and (outcome.exit_code or outcome.overrun or not quiet):
        echo(outcome.complaint, err=True)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)
    return outcome


def _print_report(report: Forecast | SweepResult, *, as_json: bool) -> None:
    if as_json:
        echo_json(report.to_json())
    else:
        from quorum.display.consoles import Console

        Console().print(report.table(), soft_wrap=True)


verb = Verb(sweep, "Run", 20)
