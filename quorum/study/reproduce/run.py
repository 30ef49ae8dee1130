"""Run the experiments of a published figure, and compare: tables, figures and verdicts.

RUNS/FIGURE/EXPERIMENT/          a sweep like any other, with `comparison/` inside
RUNS/FIGURE/EXPERIMENT-chance/   its boards, played with random answers
RUNS/FIGURE/EXPERIMENT-echo/     its boards, played with copies of the example in the prompt
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from quorum.study.reproduce.floors import MODELS, FloorPlanner
from quorum.study.reproduce.points import HERE, Point, points_of, shares, verdict_tables
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
        verdicts: the points as tables.
        files: the tables and figures that were written.
        sweeps: outcome of each sweep, by team.
    """

    sweeps: Mapping[str, SweepResult]
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    verdicts: tuple[Table, ...] = ()
    files: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "sweep": self.sweeps[HERE].to_json(),
            "floors": {team: swept.to_json() for team, swept in self.sweeps.items() if team != HERE},
            "notes": list(self.notes),
            "points": [asdict(point) for point in self.points],
            "files": [str(file) for file in self.files],
        }


def requests(figure: PublishedFigure, request: SweepRequest) -> list[dict[str, SweepRequest]]:
    """Return the requests of the sweeps of each experiment of a figure, by team. Floors are free, and need no budget.

    Args:
        figure: the figure.
        request: the arguments added to each experiment, and the folder for the sweeps.
    """
    given = {_key(word) for word in request.words}
    found = []
    for part in figure.parts:
        words = (*(word for word in part.words if _key(word) not in given), *request.words)
        teams = {HERE: replace(request, words=(f"{EXPERIMENT}={part.experiment}", *words), name=part.experiment)}
        others = tuple(word for word in words if _key(word).lstrip("+").partition(".")[0] != "llm")
        free = replace(request, words=others, budget_usd=None, budget_tokens=None, budget_calls=None)
        for floor in MODELS:
            teams[floor] = replace(free, name=f"{part.experiment}-{floor}", planner=FloorPlanner(floor, part))
        found.append(teams)
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
    for part, teams in zip(figure.parts, requests(figure, request), strict=True):
        if left.reached(Spent()):
            return
        swept = {}
        for team, own in teams.items():
            swept[team] = run_sweep_command(replace(own, **left.arguments) if team == HERE else own, quiet=quiet)
            if swept[team].stop in (Stop.INTERRUPTED, Stop.STUCK):
                yield Answer(swept)
                return
        left = left.less(swept[HERE].used)
        yield _answer(figure, part, swept)


def _answer(figure: PublishedFigure, part: ExperimentPart, swept: Mapping[str, SweepResult]) -> Answer:
    teams = {team: _planned(read_results(own.folder), own.planned) for team, own in swept.items()}
    results, accept = teams[HERE], swept[HERE].request.accept_versions
    boards = {row.seed for row in results.rows if row.pooled}
    teams = {team: replace(own, rows=tuple(r for r in own.rows if r.seed in boards)) for team, own in teams.items()}
    comparison = compare([results], Question((part.by,), part.across, accept_versions=accept))
    points = tuple(points_of(figure, part, teams, accept_versions=accept))
    verdicts = tuple(verdict_tables(figure, points))
    shown = [*tables(comparison), *([shares(comparison, part.shares)] if part.shares else [])]
    remarks = notes(comparison)
    files = write_files(comparison, [*shown, *verdicts], remarks, None)
    return Answer(swept, tuple(shown), tuple(remarks), points, verdicts, tuple(files))


def _planned(results: Results, planned: int) -> Results:
    """Keep the runs that the last command planned: earlier ones may have other models or settings."""
    assert results.sweep is not None
    own = {cell.hash for cell in results.sweep.cells[:planned]}
    rows = tuple(row for row in results.rows if row.hash in own)
    return replace(results, rows=rows, missing=tuple(cell for cell in results.missing if cell.hash in own))
