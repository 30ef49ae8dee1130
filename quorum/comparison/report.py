"""Build the page of a sweep. Its content may come from untrusted folders, so the template escapes all of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from maeil.metrics import METRICS
from maeil.outcomes import Outcome
from maeil.trace.explanation import explain_failure
from quorum.comparison.comparison import Comparison
from quorum.comparison.factors import in_order, written
from quorum.comparison.figures import FIGURES, Drawing, drawings_of
from quorum.comparison.figures.style import GRID, INK, PAGE_IN_BROWSER, rendered, styled, swatch
from quorum.comparison.figures.values import OVERVIEW, singles
from quorum.comparison.findings import constant, findings
from quorum.comparison.formats import Table
from quorum.comparison.notes import notes
from quorum.comparison.tables import SIMULATED, heading, level_label, tables
from quorum.display.sanitize import sanitize_lines
from quorum.installation.version import __version__
from quorum.runs import Results, Row
from quorum.runs.derived import derive_from
from quorum.runs.results_folder import factor_columns
from quorum.runs.run_folder import TRACES, RunFolder
from quorum.runs.show import COLUMNS
from quorum.runs.summary import shown
from quorum.storage.outputs import Output
from quorum_base.user_errors import UserError

MOST_EXPLAINED = 100
"""Maximum number of runs for which the page says why they did not succeed: their traces are read for it."""


def write_report(
    results: Results,
    comparison: Comparison,
    output: Output,
    command: str = "",
    episodes: Mapping[str, Path] | None = None,
) -> None:
    """Write the page of a sweep.

    Args:
        results: all its runs.
        comparison: the content of the tables and figures.
        output: the file; its links to the traces work as long as it stays next to the runs.
        command: the command that writes the page again; empty for none.
        episodes: the page of each run that has one, by run name.

    Raises:
        UserError: the page cannot be written; nothing is left on disk.
    """
    output.write(page(results, comparison, output.target, command, episodes or {}).encode())


def page(results: Results, comparison: Comparison, target: Path, command: str, episodes: Mapping[str, Path]) -> str:
    """Return the page as text; equal results give equal text. `target` is its future location."""
    sweep, remarks = results.sweep, notes(comparison)
    values = _written_values(results.rows)
    single = [(key, found[0]) for key, found in values.items() if len(found) == 1]
    everywhere = {key for key in values if all(key in row.factors for row in results.rows)}
    template = templates("quorum.comparison").get_template("report.html.jinja")
    return template.render(
        title=sweep.name if sweep is not None else results.folder.resolve().name,
        heading=heading(comparison),
        sweep=sweep,
        arms=[(name, " ".join(parts) or "-") for name, parts in sweep.arms.items()] if sweep is not None else [],
        simulated=next((note for note in remarks if note.startswith(SIMULATED)), ""),
        notes=[note for note in remarks if not note.startswith(SIMULATED)],
        findings=findings(comparison),
        tables=tables(comparison),
        legend=list(_legend(comparison)),
        figures=list(_figures(comparison)),
        run_columns=["run", "arm", "outcome", *(METRICS[name].title for name in COLUMNS), "remark"],
        runs=[_run(row, target, episodes.get(row.name)) for row in results.rows],
        explained=list(_explained(results.rows)),
        unread=max(0, sum(row.outcome != Outcome.SUCCESS for row in results.rows) - MOST_EXPLAINED),
        common=[(key, value) for key, value in single if key in everywhere],
        varying=[(key, ", ".join(found)) for key, found in values.items() if len(found) > 1],
        some=[(key, value) for key, value in single if key not in everywhere],
        episodes=bool(episodes),
        versions=sorted({row.version for row in results.rows}),
        packages=list(_packages(results.rows)),
        commands=[text for text in (sweep.command if sweep is not None else "", command) if text],
        quorum=__version__,
    )


def notebook(shown: Sequence[Table], remarks: Sequence[str], board: str = "") -> str:
    """Return tables and notes as part of a page, below the board of a world if there is one."""
    template = templates("quorum.comparison").get_template("notebook.html.jinja")
    return template.render(board=board, tables=shown, notes=remarks)


def templates(package: str) -> Environment:
    """Return the page templates of a package. All pages share a head; text not marked as safe is escaped."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("quorum.comparison", ".")]),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _harmless(value: object) -> object:
    """Remove anything active from untrusted text before the template writes it."""
    return sanitize_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _legend(comparison: Comparison) -> Iterator[tuple[str, Markup]]:
    """Yield each level with its swatch, if there are several."""
    if len(comparison.levels) > 1:
        with styled(PAGE_IN_BROWSER):
            for number, level in enumerate(comparison.levels):
                drawn = inline_svg(swatch(comparison, level), f"level-{number}")
                yield level_label(comparison, level), drawn


def _figures(comparison: Comparison) -> Iterator[tuple[str, str, Markup]]:
    """Yield the description, the caption and the drawing of each figure: the only part that is not escaped.

    Each figure appears once. Metrics with one value in all runs have no figure: the findings report them.
    """
    with styled(PAGE_IN_BROWSER):
        for drawing in _drawings(comparison):
            caption = drawing.caption or drawing.description
            yield drawing.description, caption, inline_svg(drawing.figure, drawing.name)


def _drawings(comparison: Comparison) -> Iterator[Drawing]:
    for name, draw in FIGURES.items():
        if name == "metrics":
            shown = dict.fromkeys((*comparison.metrics, *OVERVIEW))
            yield from singles(comparison, [metric for metric in shown if constant(comparison, metric) is None])
        elif name != "overview":  # its panels repeat the single figures
            yield from drawings_of(name, draw, comparison)


def inline_svg(figure: Figure, name: str) -> Markup:
    """Return a figure as part of a page, in the page's colours; `name` makes its ids unique."""
    figure.set_facecolor("none")
    for axes in figure.axes:
        axes.set_facecolor("none")
    return _inline(rendered(figure, "svg").decode(), name)


def _inline(svg: str, name: str) -> Markup:
    """Embed a drawing in the page: without its head, with unique ids, in the colours of the page."""
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    prefix = re.sub("[^A-Za-z0-9-]", "-", name)
    own = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", body)
    return Markup(own.replace(INK, "currentColor").replace(GRID, "var(--line)"))


def _run(row: Row, target: Path, episode: Path | None) -> Mapping[str, object]:
    """Return a run for the template, with links to the page of its episode and to its trace."""
    run = RunFolder(row.folder)
    remarks = ("simulated" if row.simulated else "", row.error or row.reason, run.trace_damage())
    remark = "; ".join(part for part in remarks if part)
    trace = next((row.folder / name for name in TRACES if run.files.holds(name)), None)
    return {
        "name": row.name,
        "episode": episode and _address(episode, target),
        "trace": trace and _address(trace, target),
        "cells": [row.arm or "-", row.outcome, *(shown(row.metrics.get(name)) for name in COLUMNS), remark],
    }


def _explained(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield each of the first runs that did not succeed, and why, as far as its trace can be read and proves it."""
    for row in islice((row for row in rows if row.outcome != Outcome.SUCCESS), MOST_EXPLAINED):
        with suppress(UserError):
            _, sentences = derive_from(row.folder, "explanation", explain_failure)
            if sentences:
                yield row.name, " ".join(sentence.words for sentence in sentences)


def _address(file: Path, page: Path) -> str:
    return quote(Path(os.path.relpath(file.resolve(), page.parent.resolve())).as_posix())


def _packages(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield every package that the runs used, with its versions."""
    for name in dict.fromkeys(name for row in rows for name in row.packages):
        yield name, ", ".join(sorted({row.packages[name] for row in rows if name in row.packages}))


def _written_values(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the distinct values of every key that some run has."""
    return {
        key: [written(value) for value in in_order(row.factors[key] for row in rows if key in row.factors)]
        for key in factor_columns(rows)
    }
