"""`quorum sweep`: a grid of episodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import (
    ConfigDir,
    Draws,
    Drops,
    Json,
    Minds,
    Out,
    Plans,
    Plugins,
    Quiet,
    Says,
    Strict,
    WorldChanges,
)
from quorum.experiments.verbs.preparation import prepare_plugins, quieten

if TYPE_CHECKING:
    from quorum.experiments.sweep.command import Printable


def sweep(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUES", help="Span the grid by these keys, with several values between commas."),
    ] = None,
    *,
    out: Out = Path("runs"),
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="from the experiment and the keys",
            help="Give the sweep and its folder this name.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show what would run and what it would take in calls, tokens and US dollars. Run nothing.",
        ),
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="Name every cell, with --dry-run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run the cells again that ended in an error.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="CELLS", min=0, show_default="all", help="Run at most this many of the missing cells."
        ),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd",
            metavar="USD",
            show_default="no limit",
            help="Start no more cells when the sweep has cost this many US dollars.",
        ),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            "--budget-tokens",
            metavar="TOKENS",
            show_default="no limit",
            help="Start no more cells when the sweep has taken this many tokens.",
        ),
    ] = None,
    cancel_batches: Annotated[
        bool, typer.Option("--cancel-batches", help="End the open batches of the sweep at the provider. Run nothing.")
    ] = False,
    accept_versions: Annotated[
        bool,
        typer.Option("--accept-versions", help="Add to results of other versions of the code, prompts or plug-ins."),
    ] = False,
    branch: Annotated[
        list[Path] | None,
        typer.Option(
            "--branch",
            metavar="RUN|SWEEP",
            show_default="no run",
            help="Let the cells be branches of the run in this folder, or of all runs of this sweep but failed ones. "
            "KEY=VALUES are then what is another in them. May be repeated.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="STEP[:TIME]",
            show_default="with --branch it must be given",
            help="With --branch: go on live from this instant. May be repeated.",
        ),
    ] = None,
    mind: Minds = None,
    say: Says = None,
    plan: Plans = None,
    drop: Drops = None,
    world: WorldChanges = None,
    draws: Draws = 1,
    control: Annotated[
        bool,
        typer.Option(
            "--control/--no-control", help="With --branch: also go on from each instant without any change, or do not."
        ),
    ] = True,
    strict: Strict = False,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out the cells that cannot be run, and run the others.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Run a grid of episodes, or the part of it that has no results yet.

    Run the same command again to resume. Separate values by commas, or use Hydra's range(), glob() and so on.
    experiment=NAME takes the grid from a file, and engine=NAME chooses what runs the cells. Budgets are for the whole
    sweep, including finished cells. Ctrl-C lets running episodes finish; a second one drops them. The exit code is 1 if
    cells ended as `error`.

    \b
    Examples:
      quorum sweep n=2,4 topology=individual,debate agents=negotiator
      quorum sweep experiment=quickstart --dry-run --names
      quorum sweep experiment=cube_talk llm=openai llm.model=NAME --budget-usd 20
      quorum sweep experiment=cube_scaling engine.workers=2 --limit 10
      quorum sweep n=2,4 'seed=range(0,4)' --retry-failed --json > summary.json
      quorum sweep experiment=cube_talk llm=openai llm.model=M engine.batch=true
      quorum sweep --branch runs/NAME --at 5 --mind agent_2=naive,heuristic
    """
    from quorum.experiments.sweep.branches import BranchOptions
    from quorum.experiments.sweep.command import run_sweep_command, show_plan
    from quorum.experiments.sweep.run import SweepRequest

    branching = {
        "--at": at,
        "--mind": mind,
        "--say": say,
        "--plan": plan,
        "--drop": drop,
        "--world": world is not None,
        "--draws": draws > 1,
        "--no-control": not control,
    }
    if not branch and (alone := [option for option, value in branching.items() if value]):
        raise UserError(
            f"{alone[0]}: it goes with --branch", "--branch RUN says what the cells of the sweep branch off."
        )
    if quiet:
        quieten()
    prepare_plugins(plugin)
    branched = None
    if branch:
        told = (tuple(mind or ()), tuple(say or ()), tuple(plan or ()), tuple(drop or ()), world)
        branched = BranchOptions(tuple(branch), tuple(at or ()), *told, draws=draws, control=control)
    request = SweepRequest(
        words=tuple(words or ()),
        out=out,
        name=name,
        retry_failed=retry_failed,
        limit=limit,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        accept_versions=accept_versions,
        strict=strict,
        skip_invalid=skip_invalid,
        plugins=tuple(plugin or ()),
        config_dir=config_dir,
        branches=branched,
    )
    if names and not dry_run:
        raise UserError("--names: it goes with --dry-run", "`quorum results SWEEP` lists what was run.")
    if cancel_batches:
        from quorum.experiments.sweep.command import cancel_batches as end_batches

        _print_report(end_batches(request), as_json=as_json)
        return
    if dry_run:
        expected = show_plan(request)
        _print_report(expected, as_json=as_json)
        if names and not as_json:
            echo("".join(f"\n{cell.name}" for cell in expected.cells))
        return
    outcome = run_sweep_command(request, quiet=quiet)
    if not quiet or as_json:
        _print_report(outcome, as_json=as_json)
    if outcome.complaint and (outcome.exit_code or not quiet):
        echo(outcome.complaint, err=True)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def _print_report(report: Printable, *, as_json: bool) -> None:
    if as_json:
        echo_json(report.plain())
    else:
        from quorum.experiments.common.consoles import Console

        Console().print(report.table(), soft_wrap=True)
