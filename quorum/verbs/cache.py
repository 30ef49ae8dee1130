"""`quorum cache`: the cache of model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import confirm, echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError, choices_hint


def cache(
    action: Annotated[str, typer.Argument(metavar="stats|clear", help="Show the size of the cache, or clear it.")],
    *,
    path: Annotated[
        Path | None,
        options.value(
            "--path", "FILE", "Use the cache in this file.", unset="quorum/replies.sqlite in the user's cache folder"
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Clear the cache without asking.")] = False,
    as_json: options.Json = False,
) -> None:
    """Show or clear the cache of language models' answers.

    \b
    Examples:
      quorum cache stats
      quorum cache stats --json
      quorum cache clear --yes
    """
    from quorum.episode.cache_contents import cache_contents

    if action not in ("stats", "clear"):
        raise UserError(f"cache: there is no action {action!r}", choices_hint(action, "Actions", ["stats", "clear"]))
    contents = cache_contents(path)
    if action == "clear":
        if (contents.entries or contents.damage) and not yes:
            what = "the damaged cache" if contents.damage else f"{contents.entries} answers in"
            confirm(f"Delete {what} {contents.path}?")
        contents = cache_contents(path, clear=True)
    if as_json:
        echo_json(contents.to_json())
    else:
        echo(contents.text())
    if contents.damage:
        raise typer.Exit(1)


verb = Verb(cache, "Set up", 40, "quorum cache stats")
