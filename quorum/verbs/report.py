"""`quorum report`: a sweep as one page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorum.display.terminal import echo
from quorum.installation.hooks import hook
from quorum.verbs import options
from quorum.verbs.verb import Verb

if TYPE_CHECKING:
    from quorum.runs import Results
    from quorum.storage.outputs import Output


def report(
    sweep: options.Sweep = None,
    *,
    by: options.By = None,
    across: options.Across = None,
    metric: options.Metrics = None,
    baseline: options.Baseline = None,
    statistic: options.Statistic = "mean",
    out: Annotated[
        Path | None,
        options.value("--out", "FILE", "Write the page to this file.", unset="SWEEP/report.html"),
    ] = None,
    accept_versions: options.AcceptVersions = False,
    episodes: Annotated[
        bool, typer.Option("--episodes", help="Also write the page of each run, and link to it.")
    ] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
) -> None:
    """Write one HTML page of a sweep: findings, figures, tables, runs.

    The page needs no other file, and also shows the configuration and the commands. It takes the options of `quorum
    compare`. With --episodes, the folder `episodes` next to the page holds a page for each run.

    \b
    Examples:
      quorum report runs/talk
      quorum report runs/talk --by topology --out report.html
      quorum report runs/talk --episodes
    """
    from quorum.comparison import FIRST, Question
    from quorum.comparison import compare as answer
    from quorum.comparison.report import write_report
    from quorum.display.consoles import at_work
    from quorum.runs import read_results
    from quorum.storage.outputs import Output, require_writable

    (folder,) = options.or_newest([sweep] if sweep else None)
    measured_from = FIRST if baseline is None else baseline
    question = Question(by or (), across, metric or (), measured_from, statistic, accept_versions)
    output = Output(out or folder / "report.html", "--out", force or out is None)
    output.check()
    if episodes:
        write_page = hook("episode_page", "report --episodes")
        require_writable(output.target.parent / "episodes", "--episodes")
    with at_work("writing the report ...", quiet=quiet):
        found = read_results(folder)
        comparison = answer([found], question)
        pages = _episode_pages(found, output.target.parent, write_page) if episodes else {}
        write_report(found, comparison, output, shlex.join(["quorum", *sys.argv[1:]]), pages)
    if not quiet:
        echo(f"report: {output.target}")


def _episode_pages(results: Results, folder: Path, write_page: Callable[[list[Path], Output], Path]) -> dict[str, Path]:
    """Write the page of each run into the subfolder `episodes/`; return the files by run name."""
    from quorum.storage.files import os_errors
    from quorum.storage.outputs import Output
    from quorum_base.inside import make_inside

    with os_errors(f"--episodes: {folder / 'episodes'} cannot be made"):
        make_inside(folder, "episodes")
    pages = {}
    for row in results.rows:
        page = Output(folder / "episodes" / f"{row.name}.html", "--episodes", force=True, within=folder)
        pages[row.name] = write_page([row.folder], page)
    return pages


verb = Verb(report, "Compare", 30)
