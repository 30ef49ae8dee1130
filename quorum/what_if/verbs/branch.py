"""`quorum branch`: continue a recorded run from a chosen step, with something changed."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.run import ending, report
from quorum.verbs.sweep import run_or_show
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.what_if.branch.change import Change


class Probe(StrEnum):
    """What a probe asks."""

    BELIEFS = "beliefs"
    CHOICE = "choice"


def branch(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|SWEEP|KEY=VALUES",
            help="Branch this run, or every run of this sweep that did not fail, and set these keys from the branch "
            "point on. Several values between commas span a grid.",
        ),
    ],
    *,
    at: Annotated[
        list[str] | None,
        options.values(
            "--at",
            "STEP[:TIME]",
            "Continue live from the first thought that starts in this step, at this cognitive time, or later.",
            unset="with --drop, the thought that sends the message; else required",
        ),
    ] = None,
    mind: Annotated[
        list[str] | None,
        options.values(
            "--mind", "AGENT=MIND", "Give an agent another mind from the branch point on.", unset="as in the run"
        ),
    ] = None,
    say: Annotated[
        list[str] | None,
        options.values(
            "--say", "AGENT:TEXT", "Have a participant say this in its next turn to speak.", unset="its own words"
        ),
    ] = None,
    plan: Annotated[
        list[str] | None,
        options.values(
            "--plan", "AGENT:ACTIONS", "Have an agent plan this JSON list of actions next.", unset="its own plan"
        ),
    ] = None,
    drop: Annotated[
        list[int] | None,
        options.values(
            "--drop", "MESSAGE", "Do not deliver the message with this id in the run.", unset="nothing", min=0
        ),
    ] = None,
    world: Annotated[
        str | None,
        options.value(
            "--world",
            "CHANGES",
            "Change the world by this JSON object as the step starts.",
            unset="as in the run",
        ),
    ] = None,
    probe: Annotated[
        Probe | None,
        options.value(
            "--probe",
            "beliefs|choice",
            "Ask instead of continuing: each agent for its beliefs as the step starts, or the models of plans for the "
            "probability of each choice, as heard and in control arms of the messages.",
            unset="nothing",
        ),
    ] = None,
    draws: options.Draws = 1,
    luck: Annotated[
        bool,
        typer.Option("--luck", help="Also redraw the luck of the world: in each draw, the same for all changes."),
    ] = False,
    control: Annotated[
        bool | None,
        typer.Option(
            "--control/--no-control",
            show_default="if there is more than one branch",
            help="Also continue each run from each branch point without a change.",
        ),
    ] = None,
    dry_run: options.DryRun = False,
    name: options.Name = None,
    out: options.Out = Path("runs"),
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    skip_invalid: options.SkipInvalid = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Continue a recorded run from a step, with other minds or prompts.

    Up to the branch point, all minds think again with the recorded answers of their models, and every event is checked
    against the record: this costs nothing. Thoughts that start before the branch point end as recorded. A branch
    without a change equals its run byte for byte, except for wall-clock fields, if its models answer the same.

    A single branch is a run in DIR. More than one is a sweep of branches: run the same command again to resume it and
    to retry failed branches, and compare the branches with `quorum compare SWEEP`. With paid models, a sweep of
    branches requires a budget. The exit code is 1 if an episode ends as `error`.

    \b
    Examples:
      quorum branch runs/NAME --at 12
      quorum branch runs/NAME --at 12:340 llm.model=gpt-5
      quorum branch runs/NAME --at 0 --mind agent_2=heuristic --json
      quorum branch runs/NAME --at 5 --say agent_1:"leave block 3 to me"
      quorum branch runs/NAME --drop 17
      quorum branch runs/NAME --at 7 --world '{"agents": {"agent_0": [3, 4]}}'
      quorum branch runs/NAME --at 12 llm.temperature=1 --draws 10 --dry-run
      quorum branch runs/NAME --at 12 --mind agent_2=heuristic --draws 10 --luck
      quorum branch runs/NAME --at 5 --at 10 --probe beliefs --dry-run
      quorum branch runs/talk --probe choice llm=llamacpp --budget-calls 500
      quorum branch runs/talk --at 12 --at 20 topology=individual,debate
    """
    from quorum.what_if.branch.change import edits_of_minds, read_change

    beliefs = probe is Probe.BELIEFS
    folders, settings = options.split_folders(words)
    if not folders:
        raise UserError("branch: name the folder of a run or of a sweep", "For example: quorum branch runs/NAME --at 5")
    edits = [*settings, *edits_of_minds(mind or ())]
    if probe is Probe.CHOICE:
        given = {"--say": say, "--plan": plan, "--drop": drop, "--world": world, "--luck": luck, "--control": control}
        if idle := [option for option, value in given.items() if value] + ["--draws"] * (draws > 1):
            raise UserError(f"--probe choice changes nothing in the run: {', '.join(idle)} would have no effect")
        budget = {"usd": budget_usd, "tokens": budget_tokens, "calls": budget_calls}
        asked = tuple(folders), tuple(edits), tuple(at or ()), budget, tuple(config_dir or ())
        _probe_choices(asked, out / (name or "choices"), dry_run=dry_run, as_json=as_json, quiet=quiet)
        return
    change = read_change(
        edits,
        says=say or (),
        plans=plan or (),
        drops=drop or (),
        world=world,
        luck=luck,
        probe=beliefs,
        config_dir=tuple(config_dir or ()),
    )
    if beliefs and control:
        raise UserError("--probe beliefs --control: a probe ends the branch", "Leave --control out.")
    single = control is not True and draws == 1 and _is_single(folders, at or [], edits)
    budgets = (budget_usd, budget_tokens, budget_calls)
    if single and not (dry_run or name or any(budgets) or skip_invalid or control is not None):
        _play(folders[0], at[0] if at else None, change, out, as_json=as_json, quiet=quiet)
        return
    from quorum.sweeps.run import SweepRequest
    from quorum.what_if.branch.branches import BranchGrid

    controlled = not single and not beliefs if control is None else control
    sweep = SweepRequest(
        words=tuple(edits),
        out=out,
        name=name,
        retry_failed=True,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        skip_invalid=skip_invalid,
        plugins=tuple(plugin or ()),
        config_dir=tuple(config_dir or ()),
        planner=BranchGrid(tuple(folders), tuple(at or ()), change, draws, controlled),
    )
    outcome = run_or_show(sweep, dry_run=dry_run, as_json=as_json, quiet=quiet)
    if beliefs and outcome is not None and not (as_json or quiet):
        from quorum.what_if.beliefs import Beliefs

        echo(f"\n{Beliefs.of(outcome.folder)}")


def _is_single(folders: list[Path], at: list[str], edits: list[str]) -> bool:
    """Whether a command asks for one branch: of one run, from one branch point, with one value for each key."""
    from quorum.configuration.overrides import parse
    from quorum.runs.run_folder import is_run, no_such_folder

    for folder in folders:
        if not folder.is_dir():
            raise no_such_folder(folder)
    keys = {word.partition("=")[0].partition(".")[0] for word in edits}
    one_run = len(folders) == 1 and (is_run(folders[0]) or not folders[0].is_dir())
    if not one_run or len(at) > 1 or "engine" in keys:
        return False
    return not any(edit.is_sweep_override() for edit in parse(edits))


def _play(run: Path, at: str | None, change: Change, out: Path, *, as_json: bool, quiet: bool) -> None:
    """Play a single branch, and print the result."""
    from quorum.episode.expected import expectation
    from quorum.episode.live import shown
    from quorum.episode.runner import run_cell
    from quorum.what_if.branch.change import instant_of
    from quorum.what_if.branch.parent import Parent

    planned = Parent.open(run).branch(instant_of(at) if at is not None else None, change)
    cell, start = planned.cell, planned.start
    if not quiet:
        if planned.notice:
            echo(f"notice: {planned.notice}", err=True)
        if line := expectation(cell, planned.rest()):
            echo(line, err=True)
    with ending(), shown(cell, live=False, as_json=as_json, quiet=quiet) as (watch, under_way):
        result = run_cell(cell, out, watch, under_way, start=start)
    for what in start.undone if not quiet else ():
        echo(f"notice: {what} had no effect: no turn for it came", err=True)
    if change.probe:
        from quorum.what_if.beliefs import Beliefs

        found = Beliefs.of(result.folder)
        report(result, as_json=as_json, quiet=quiet, more={"beliefs": found.to_json()})
        if not (as_json or quiet):
            echo(f"\n{found}")
    else:
        report(result, as_json=as_json, quiet=quiet)


def _probe_choices(asked: Any, folder: Path, *, dry_run: bool, as_json: bool, quiet: bool) -> None:
    """Measure choices, write the results into a folder, and print them."""
    from functools import partial

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from quorum.configuration.budgets import require_budgets
    from quorum.display.consoles import Console
    from quorum.storage.files import folder_for, write_all
    from quorum.what_if.choice import probe, table

    question = probe.Question(*asked)
    require_budgets(**{f"budget_{kind}": limit for kind, limit in question.budget.items()})
    if folder.exists() and not dry_run:
        raise UserError(f"{folder}: it already exists", "Give another name: --name NAME.")
    planned = probe.plan(question)
    if dry_run:
        options.print_estimate(probe.counts(planned), as_json=as_json)
        return
    decisions = probe.counts(planned)["decisions"]
    columns = ("decisions", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("", total=decisions)
        found = table.Table(probe.measure(planned, question, partial(progress.advance, bar)), decisions)
    with folder_for(folder):
        write_all(folder, found.files())
    if as_json:
        echo_json({**found.to_json(), "folder": str(folder)})
    elif not quiet:
        echo(f"{found}\n\nfolder  {folder}")


verb = Verb(branch, "What if", 10)
