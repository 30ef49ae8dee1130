"""`quorum export`: results for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.verb import Verb


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="SWEEP|RUN", help="Read this folder of a sweep, of runs, or of one run.")
    ],
    *,
    to: Annotated[str, options.value("--to", "parquet|inspect|hf|otlp|who-when", "Choose the format.")] = "parquet",
    out: Annotated[
        Path | None,
        options.value(
            "--out",
            "PATH",
            "Write to this file, or folder for parquet, hf and who-when.",
            unset="export-FORMAT in the folder",
        ),
    ] = None,
    calls: Annotated[
        bool,
        typer.Option("--calls", help="Include prompts, answers, messages and plans, which are otherwise left out."),
    ] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
) -> None:
    """Write finished runs in the format of another tool.

    parquet writes the tables runs, events and calls, and hf the same as a folder that datasets.load_dataset opens; both
    need the extra `analysis`. inspect writes a log of Inspect AI, with a sample per run. otlp writes OpenTelemetry
    traces in OTLP/JSON, one per run, with the semantic conventions for generative AI. who-when writes a folder with a
    case of Who&When per run, without labels, for `quorum blame --import` and other readers; it includes the plans and
    messages of agents only with --calls.

    Damaged and unfinished runs are left out and named. Nothing is sent anywhere.

    \b
    Examples:
      quorum export runs/talk --to parquet
      quorum export runs/talk --to inspect --calls --out talk.json
      quorum export runs/talk --to hf --out talk-dataset
      quorum export runs/NAME --to otlp
      quorum export runs/talk --to who-when --calls
    """
    from quorum.view.export.command import export as write

    written, remarks = write(folder, to, out, calls=calls, force=force)
    for remark in remarks:
        echo(f"notice: {remark}", err=True)
    if not quiet:
        echo(f"export: {written}")


verb = Verb(export, "Look", 40, "quorum export runs --to parquet")
