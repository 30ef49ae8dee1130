"""`quorum show`: a resolved configuration; `quorum show prompt`: a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb


@shorthand
def show(
    words: options.Overrides = None,
    *,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Show a resolved configuration, a prompt, or the failures of runs.

    `quorum show prompt` shows a prompt of a language model, and `quorum show failures` why the teams of recorded runs
    failed; each has its own --help. `inputs` in a configuration are digests of prompt templates, plugins and files
    that also affect the result; they are part of the hash.

    \b
    Examples:
      quorum show
      quorum show n=8 clock=fixed
      quorum show n=8 --json
      quorum show prompt --help
      quorum show failures --help
    """
    from quorum.configuration.cell import Cell
    from quorum.configuration.default_agents import implied_agents

    cell = Cell.compose(words or [], config_dir or ())
    if notice := implied_agents(words or []):
        echo(f"notice: {notice}", err=True)
    if as_json:
        shown = {"hash": cell.hash, "name": cell.name, "inputs": dict(cell.inputs), "configuration": dict(cell.plain)}
        echo_json(shown)
    else:
        echo(cell.as_yaml(with_inputs=True), nl=False)


@shorthand
def show_prompt(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Set these keys, and choose the prompt by agent=, role=, turn= and at=RUN:STEP.",
        ),
    ] = None,
    *,
    picture: Annotated[
        Path | None,
        options.value("--picture", "FILE", "Write the picture in the prompt to this PNG file.", unset="no file"),
    ] = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Show a prompt of a language model, word for word.

    The prompt is that of the first turn of a participant (agent=0), a role (role=), or a kind (turn=plan, talk,
    acknowledge, interrupted, refused). It calls no real model: the simulated model answers until that turn.
    at=RUN:STEP shows a prompt of a recorded run.

    \b
    Examples:
      quorum show prompt n=4 topology=debate agent=1
      quorum show prompt topology=centralized topology.leader=agent agent=1
      quorum show prompt n=4 topology=debate agent=2 turn=interrupted
      quorum show prompt agent=1 at=runs/NAME:12
      quorum show prompt env.observation=picture --picture board.png
    """
    from quorum.episode.prompt import Wanted, find_prompt
    from quorum.storage.outputs import Output

    wanted = Wanted.read(words or [])
    output = Output(picture, "--picture", force=True) if picture is not None else None
    if output is not None:
        output.check()
    if wanted.at:
        from quorum.runs.recorded_prompt import recorded_prompt

        prompt = recorded_prompt(wanted)
    else:
        prompt = find_prompt(wanted, config_dir or ())
    if output is not None:
        output.write(prompt.picture())
    if prompt.remark:
        echo(f"notice: {prompt.remark}", err=True)
    if as_json:
        echo_json(prompt.to_json())
    else:
        echo(prompt.text())


verb = Verb(show, "Look", 50)
prompt_verb = Verb(show_prompt)
