"""`quorum branch`: what if, from an instant of a run on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.episode import ending, report, report_all, told
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
    WorldChanges,
)
from quorum.experiments.verbs.preparation import prepare_plugins, quieten


def branch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Branch off the run in this folder.")],
    *,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="STEP[:TIME]",
            show_default="with --drop, the begin of the thought that sends the message; else it must be given",
            help="Go on live with the first thought that begins in this step, at this cognitive time, or later.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            show_default="as in the run",
            help="Give a key of agents, llm, prompts, topology, budget or limits, or max_steps, another value from "
            "then on. May be repeated.",
        ),
    ] = None,
    mind: Minds = None,
    say: Says = None,
    plan: Plans = None,
    drop: Drops = None,
    world: WorldChanges = None,
    draws: Draws = 1,
    out: Out = Path("runs"),
    live: Annotated[bool, typer.Option("--live", help="Show the team at work, in the terminal.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Go on from an instant of a recorded run, with other minds, models or prompts.

    Until the instant all minds think again, with the recorded answers of their models: nothing is sent to a model, and
    every event is held against the record. What has begun before the instant ends as it did. Without a change, the
    branch is the run itself, byte for byte, where its models answer the same.

    The branch is a run of its own; its meta.json and the first line of its trace name the run, the instant and the
    change. The exit code is 1 if the episode ends as `error`. With `--draws`, each sample is a run, all with the
    same beginning: the first goes on with the randomness of the run, each of the others with its own. Before a model is
    asked that is not simulated, it says what the rest is expected to take.

    \b
    Examples:
      quorum branch runs/NAME --at 12
      quorum branch runs/NAME --at 12:340 --set llm.model=gpt-5
      quorum branch runs/NAME --at 0 --mind agent_2=heuristic --json
      quorum branch runs/NAME --at 5 --say agent_1:"leave block 3 to me"
      quorum branch runs/NAME --drop 17
      quorum branch runs/NAME --at 7 --world '{"agents": {"agent_0": [3, 4]}}'
      quorum branch runs/NAME --at 12 --set llm.temperature=1 --draws 10
    """
    from quorum.experiments.branch.command import BranchRequest, plan_draws
    from quorum.experiments.episode.expected import expectation
    from quorum.experiments.episode.live import shown
    from quorum.experiments.episode.runner import run_cell

    if live and quiet:
        raise UserError("--live shows what --quiet hides: give one of them")
    if quiet:
        quieten()
    prepare_plugins(plugin)
    request = BranchRequest(run, at, sets or (), mind or (), say or (), plan or (), drop or (), config_dir, world=world)

    results = []
    for draw, planned in enumerate(plan_draws(request, draws)):
        cell, branching = planned.cell, planned.branching
        if planned.idle and not draw and not quiet:
            echo(f"notice: {', '.join(request.edits)}: this changes nothing that decides in this run", err=True)
        if planned.notice and not quiet:
            echo(f"notice: {planned.notice}", err=True)
        if not draw and not quiet and (line := expectation(cell, planned.thoughts_left, draws)):
            echo(line, err=True)
        with ending(), shown(cell, live=live, as_json=as_json, quiet=quiet) as (watch, under_way):
            result = run_cell(cell, out, watch, under_way, branching)
        for what in branching.undone if not quiet else ():
            echo(f"notice: {what}: no turn came for it", err=True)
        results.append(result)
        if draws > 1 and not quiet and not as_json:
            echo(f"draw {draw}: {told(result)}")
    if draws == 1:
        report(results[0], as_json=as_json, quiet=quiet)
    else:
        report_all(results, as_json=as_json)
