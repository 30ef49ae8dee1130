"""`quorum attribution`: how often methods of attribution find who made a run fail, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import ConfigDir, Json, Plugins, Quiet
from quorum.experiments.verbs.preparation import prepare_plugins, quieten


def attribution(
    folder: Annotated[Path, typer.Argument(metavar="SWEEP|RUN", help="Score methods on the labelled runs in here.")],
    *,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            show_default="search:self, rules, all readers, chance, first",
            help="Score this one: search:self, search:MIND, rules, reader:all_at_once, reader:step_by_step, "
            "reader:bisection, chance or first. May be repeated.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            show_default="llm=simulated",
            help="Give the readers this language model (llm.*), or a budget for all of their answers (budget.*). May "
            "be repeated.",
        ),
    ] = None,
    near: Annotated[
        int, typer.Option("--near", metavar="STEPS", min=0, help="A step that is so many off, at most, counts as near.")
    ] = 5,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Score methods that say which agent made a run fail, in which step, on runs of which that is known.

    A run with `fault=one` has one fault that makes it fail; which one, its fault.json says and nothing else. The table
    has how often each method names the agent, the step, and both, with 95 % intervals, and what it takes. Such runs
    are made by: quorum sweep experiment=attribution

    \b
    Examples:
      quorum attribution runs/attribution
      quorum attribution runs/attribution --method rules --json
      quorum attribution runs/attribution --method search:heuristic
      quorum attribution runs/attribution --set llm=openai --set llm.model=gpt-5
    """
    from quorum.experiments.blame.scoring import METHODS, score

    if quiet:
        quieten()
    prepare_plugins(plugin)

    def told(line: str) -> None:
        if not quiet:
            echo(line, err=True)

    found = score(folder, method or METHODS, steps=near, model=sets or (), config_dir=config_dir, told=told)
    if as_json:
        echo_json(found.plain())
    elif not quiet:
        for line in found.lines():
            echo(line)
