"""`quorum export`: results for other tools."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.added_options import with_options_of
from quorum.verbs.verb import Verb
from quorum.view.export.formats import EXPORTS


@partial(with_options_of, added=EXPORTS)
def export(
    folder: options.Sweep = None,
    *,
    to: Annotated[str, options.value("--to", "|".join(EXPORTS.names()), "Choose the format.")] = "parquet",
    out: Annotated[
        Path | None,
        options.value(
            "--out",
            "PATH",
            "Write to this file, or to this folder if the format has several files.",
            unset="export-FORMAT in the folder",
        ),
    ] = None,
    calls: Annotated[
        bool,
        typer.Option("--calls", help="Include prompts, answers, messages and plans, which are otherwise left out."),
    ] = False,
    where: Annotated[
        str,
        options.value(
            "--where", "CONDITION", "Export only runs that meet this condition, in SQL over results.", unset="all runs"
        ),
    ] = "",
    split: Annotated[
        str | None,
        options.value("--split", "boards=SHARE", "Keep this share of the boards for evaluation.", unset="no split"),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    **more: Any,
) -> None:
    """Write finished runs in the format of another tool.

    Damaged and unfinished runs are left out and named. Only --to preferences calls
    models; nothing else is sent anywhere.

    --where takes the columns of quorum results, which need no quotes here: 'outcome.success and n = 2' (the extra
    `analysis`). --split goes by the seed of a board alone, so a board never changes sides when you add others.

    \b
    Examples:
      quorum export runs/talk --to parquet
      quorum export runs/talk --to inspect --calls --out talk.json
      quorum export runs/talk --to hf --out talk-dataset
      quorum export runs/NAME --to otlp
      quorum export runs/talk --to who-when --calls
    """
    from quorum.view.export.command import estimate
    from quorum.view.export.command import export as write
    from quorum.view.export.selection import Split

    (named,) = options.or_newest([folder] if folder else None)
    of_format = {**more, "split": split if split is None else Split.of(split)}
    if (expected := estimate(named, to, where=where, options=of_format)) is not None:
        options.print_estimate(expected, as_json=False)
        return
    written, remarks = write(named, to, out, calls=calls, force=force, where=where, options=of_format)
    for remark in remarks:
        echo(f"notice: {remark}", err=True)
    if not quiet:
        echo(f"export: {written}")


verb = Verb(export, "Look", 40)
