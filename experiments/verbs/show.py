"""`quorum show`: a resolved configuration, a prompt, or the failures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import ConfigDir, Json, Overrides, Plugins
from quorum.experiments.verbs.preparation import prepare_plugins


def show(
    overrides: Overrides = None,
    *,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            show_default="no file",
            help="Write the picture that a prompt holds to this PNG file.",
        ),
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Show which part of a prompt the provider's cache should read again.")
    ] = False,
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Show a resolved configuration and its hash, or the prompt of a language model.

    `inputs` are the digests of the templates of prompts, plug-ins and files that also decide; they are in the hash.

    `quorum show prompt` prints the prompt for the first turn of a participant (agent=0), or the first in a role (role=)
    or of a sort (turn=plan, talk, acknowledge, interrupted, refused). No real model is asked; the simulated one answers
    until then. at=RUN:STEP prints what was asked in a recorded run, or would be by the agents= and prompts= beside it.

    `quorum show failures RUN...` prints why the teams of recorded runs failed, by rule, with the events that prove it.

    \b
    Examples:
      quorum show
      quorum show n=8 clock=fixed
      quorum show n=8 --json
      quorum show prompt n=4 topology=debate agent=1
      quorum show prompt topology=centralized topology.leader=agent agent=1
      quorum show prompt n=4 topology=debate agent=2 turn=interrupted
      quorum show prompt agent=1 at=runs/NAME:12
      quorum show prompt n=4 topology=debate --cache
      quorum show prompt env.observation=picture --picture board.png
      quorum show failures runs/NAME
    """
    from quorum.experiments.configuration.cell import Cell

    prepare_plugins(plugin)
    arguments = overrides or []
    if arguments[:1] == ["prompt"]:
        from quorum.experiments.episode.prompt import Wanted, find_prompt

        wanted = Wanted.read(arguments[1:])
        if wanted.at:
            from quorum.experiments.results.recorded_prompt import recorded_prompt

            prompt = recorded_prompt(wanted)
        else:
            prompt = find_prompt(wanted, config_dir, later=cache)
        if picture is not None:
            from quorum.experiments.common.files import write_whole

            write_whole(picture, prompt.picture(), "Give another file: --picture FILE.")
        if prompt.remark:
            echo(f"notice: {prompt.remark}", err=True)
        if cache:
            from quorum.experiments.episode.prompt_cache import cache_views

            views = cache_views(prompt, wanted, config_dir)
            if as_json:
                echo_json([view.plain() for view in views])
            else:
                echo("\n\n".join(view.text() for view in views))
        elif as_json:
            echo_json(prompt.plain())
        else:
            echo(prompt.text())
        return
    if picture is not None or cache:
        option = "--cache" if cache else "--picture"
        raise UserError(f"{option}: it belongs to a prompt", f"quorum show prompt ... {option}")
    if arguments[:1] == ["failures"]:
        _show_failures([Path(run) for run in arguments[1:]], as_json=as_json)
        return
    cell = Cell.compose(arguments, config_dir)
    if as_json:
        shown = {"hash": cell.hash, "name": cell.name, "inputs": dict(cell.inputs), "configuration": dict(cell.plain)}
        echo_json(shown)
    else:
        echo(cell.as_yaml(with_inputs=True), nl=False)


def _show_failures(runs: list[Path], *, as_json: bool) -> None:
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results.breakdown import failures_of, print_failures
    from quorum.experiments.results.recompute import of_all

    if not runs:
        raise UserError("show failures: name the folder of a run", "quorum show failures runs/NAME")
    found, wrong = of_all(runs, failures_of)
    if as_json:
        echo_json([one.plain() for one in found])
    else:
        print_failures(found, Console())
    if wrong:
        raise UserError("\n".join(map(str, wrong)))
