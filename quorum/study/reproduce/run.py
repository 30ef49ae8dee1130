"""Run the experiments of a published figure, and compare: tables, figures and verdicts.

RUNS/FIGURE/EXPERIMENT/     a sweep like any other, with `comparison/` inside
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.comparison import Question, compare
from quorum.comparison.files import write_files
from quorum.comparison.formats import Table
from quorum.comparison.notes import notes
from quorum.comparison.tables import tables
from quorum.configuration.catalogue import EXPERIMENT
from quorum.runs import Results, read_results
from quorum.study.reproduce.figure_file import ExperimentPart, PublishedFigure
from quorum.study.reproduce.points import Point, metrics_of, points_of, shares, verdict_table
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.sweeps.stopping import Stop


@dataclass(frozen=True, slots=True)
class Answer:
    """The result for a figure, or for one of its experiments.

    Attributes:
        tables: the measured values.
        notes: what a reader must know in addition.
        points: with their verdicts.
        files: the tables and figures that were written.
        sweep: outcome of the sweep.
    """

    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    points: tuple[Point, ...]
    files: tuple[Path, ...]
    sweep: SweepResult

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "sweep": self.sweep.to_json(),
            "notes": list(self.notes),
            "points": [asdict(point) for point in self.points],
            "files": [str(file) for file in self.files],
        }


def requests(figure: PublishedFigure, request: SweepRequest) -> list[SweepRequest]:
    """Return the request of each sweep of a figure.

    Args:
        figure: the figure.
        request: the arguments added to each experiment, and the folder for the sweeps.
    """
    given = {_key(word) for word in request.words}
    found = []
    for part in figure.parts:
        usual = [word for word in part.words if _key(word) not in given]
        words = (f"{EXPERIMENT}={part.experiment}", *usual, *request.words)
        found.append(replace(request, words=words, name=part.experiment))
    return found


def _key(word: str) -> str:
    return word.partition("=")[0]


def answers(figure: PublishedFigure, request: SweepRequest, *, quiet: bool) -> Iterator[Answer]:
    """Run each sweep of a figure, or its missing cells, and yield the result.

    The budget covers all of them: none starts after it is used up.

    Args:
        figure: the figure.
        request: as in `requests`.
        quiet: whether to show no progress.

    Raises:
        UserError: an argument is invalid, a sweep cannot run, or none of its runs counts.
    """
    left = request.budget
    for part, own in zip(figure.parts, requests(figure, request), strict=True):
        if left.reached(Spent()):
            return
        swept = run_sweep_command(replace(own, **left.arguments), quiet=quiet)
        left = left.less(swept.used)
        if swept.stop in (Stop.INTERRUPTED, Stop.STUCK):
            yield Answer((), (), (), (), swept)
            return
        yield _answer(figure, part, swept)


def _answer(figure: PublishedFigure, part: ExperimentPart, swept: SweepResult) -> Answer:
    results = _planned(read_results(swept.folder), swept.planned)
    accept = swept.request.accept_versions
    points = tuple(points_of(figure, part, results, accept_versions=accept))
    question = Question((part.by,), part.across, metrics_of(part, results), accept_versions=accept)
    comparison = compare([results], question)
    # The table of verdicts has the published numbers.
    shown = [*tables(replace(comparison, published=())), *([shares(comparison, part.shares)] if part.shares else [])]
    remarks = notes(comparison)
    files = write_files(comparison, [*shown, verdict_table(points)], remarks, None)
    return Answer(tuple(shown), tuple(remarks), points, tuple(files), swept)


def _planned(results: Results, planned: int) -> Results:
    """Keep the runs that the last command planned: earlier ones may have other models or settings."""
    assert results.sweep is not None
    own = {cell.hash for cell in results.sweep.cells[:planned]}
    rows = tuple(row for row in results.rows if row.hash in own)
    return replace(results, rows=rows, missing=tuple(cell for cell in results.missing if cell.hash in own))
