"""`quorum list`: the options and keys of a configuration, and the metrics."""

from __future__ import annotations

from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb


def list_(
    group: Annotated[
        str | None,
        typer.Argument(
            metavar="GROUP|metrics",
            show_default="all groups, in brief",
            help="Show this group with all of its keys, or the glossary of metrics.",
        ),
    ] = None,
    *,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """List the groups, their options, and the keys of all experiments.

    `quorum list metrics` shows the glossary of all metrics, and `quorum list metrics.outcome` one group of it.

    \b
    Examples:
      quorum list
      quorum list env
      quorum list metrics
      quorum list --config-dir my_configs
    """
    import shutil

    from quorum.configuration.listing import as_text, listing

    first, _, rest = (group or "").partition(".")
    width = shutil.get_terminal_size().columns
    if first == "metrics":
        from quorum.configuration import glossary

        entries = glossary.glossary(rest or None)
        data, text = {"metrics": entries}, glossary.as_text(entries, width)
    else:
        data = listing(group, config_dir or ())
        text = as_text(data, width)
    if as_json:
        echo_json(data)
    else:
        echo(text)


verb = Verb(list_, "Set up", 10)
