"""`quorum compare`: metrics by a factor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb


def compare(
    sweep: Annotated[
        list[Path] | None, options.folders("SWEEP...", "Read these folders or zips of sweeps, or of runs.")
    ] = None,
    *,
    by: options.By = None,
    across: options.Across = None,
    metric: options.Metrics = None,
    baseline: options.Baseline = None,
    statistic: options.Statistic = "mean",
    out: Annotated[
        Path | None,
        options.value("--out", "DIR", "Write tables and figures to this folder.", unset="SWEEP/comparison/FACTORS"),
    ] = None,
    accept_versions: options.AcceptVersions = False,
    budget: options.Spent = None,
    room: Annotated[
        str | None,
        options.value(
            "--room", "LEVEL", "Show the share of the room up to this level that other levels close.", unset="no shares"
        ),
    ] = None,
    columns: Annotated[
        int,
        options.value(
            "--columns", "COLUMNS", "Size tables and figures for a document with this many columns.", min=1, max=2
        ),
    ] = 1,
    brief: Annotated[bool, typer.Option("--brief", help="Print only findings and means.")] = False,
    as_json: options.Json = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
) -> None:
    """Compare metrics by a factor, with intervals and differences.

    A factor is topology, agents, model, env, arm, sweep, version, or any key of the configuration. Branches are
    compared by change: the gain of each edit at the same branch points. The tables are printed, and written as CSV,
    Markdown and LaTeX. figure.pdf shows the differences with their intervals; other figures are in figures/. Those
    of a zip are written only with --out.

    \b
    Examples:
      quorum compare runs/talk
      quorum compare runs/talk --by topology --metric completion --metric steps
      quorum compare runs/talk --by topology --across n --baseline individual
      quorum compare runs/before runs/after --by sweep --across none --out by
      quorum compare runs/talk --baseline individual --budget tokens
      quorum compare runs/worlds --across env --baseline silent --room rules
      quorum compare branches runs/talk --by change
      quorum compare runs/talk --plugin my_metrics --metric talk.questions
    """
    from quorum.comparison import Question
    from quorum.comparison import compare as answer
    from quorum.comparison.budgets import budget_curves
    from quorum.comparison.files import ESTIMATES, FIGURE, write_files
    from quorum.comparison.files import as_json as json_of
    from quorum.comparison.findings import findings
    from quorum.comparison.formats import print_tables
    from quorum.comparison.notes import notes
    from quorum.comparison.tables import SIMULATED, tables
    from quorum.display.consoles import Console, at_work
    from quorum.process import garbage
    from quorum.runs import read_results
    from quorum.runs.archives import unpacked
    from quorum.storage.outputs import Output, require_writable

    question = Question(by or (), across, metric or (), baseline, statistic, accept_versions, room)
    if out is not None:
        require_writable(out, f"--out {out}")
        if out.is_dir():
            Output(out / ESTIMATES, "--out", force).check()
    sweep = options.or_newest(sweep)
    with at_work("comparing ...", quiet=quiet), garbage.kept(), unpacked(sweep) as folders:
        comparison = answer([read_results(folder) for folder in folders], question)
        if budget is not None:
            comparison = replace(comparison, budgets=budget_curves(comparison, budget))
        shown, remarks = tables(comparison), notes(comparison)
        # files first: a reader may close the pipe after the first line
        to_write = out is not None or folders == sweep  # nothing is written next to an archive
        files = write_files(comparison, shown, remarks, out, force=force, columns=columns) if to_write else []
    if as_json:
        echo_json(json_of(comparison, remarks))
    elif not quiet:
        # The notes say once that answers are simulated, above the captions that would repeat it.
        printed = [replace(table, caption=table.caption.removesuffix(SIMULATED).rstrip()) for table in shown]
        if brief:
            printed = [table for table in printed if table.name in (*comparison.metrics, "metrics")]
        print_tables(printed, [*remarks, "", *findings(comparison)], Console())
    if files and not quiet:
        main = "".join(f"figure: {file}\n" for file in files if file.name == f"{FIGURE}.pdf")
        echo(f"\n{main}{len(files)} files in {files[0].parent}", err=as_json)


verb = Verb(compare, "Compare", 20)
