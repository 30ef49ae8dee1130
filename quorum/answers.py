"""What `quorum.run`, `quorum.results` and `quorum.compare` return: data that notebooks show, with verbs as methods."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from maeil.user_errors import UserError
from quorum.experiments import compare, results
from quorum.experiments.blame.answer import MOST_RERUNS, SEARCH, Blame
from quorum.experiments.blame.answer import Question as BlameQuestion
from quorum.experiments.blame.attempts import Budget
from quorum.experiments.blame.command import ManyRuns, blame_folder
from quorum.experiments.blame.ending import Success
from quorum.experiments.branch.change import edits_of_minds, instant_of, read_change
from quorum.experiments.branch.parent import Parent
from quorum.experiments.common.budgets import require_budgets
from quorum.experiments.common.consoles import Text
from quorum.experiments.common.extension_errors import extension_errors
from quorum.experiments.compare.formats import Table
from quorum.experiments.compare.notes import notes
from quorum.experiments.compare.tables import SIMULATED, tables
from quorum.experiments.configuration.arguments import checked_arguments
from quorum.experiments.configuration.plugins import load_plugins
from quorum.experiments.episode import runner
from quorum.experiments.results import show, summary
from quorum.experiments.results.run_folder import RunFolder
from quorum.experiments.sweep.branches import BranchGrid
from quorum.experiments.sweep.command import run_sweep_command
from quorum.experiments.sweep.run import SweepRequest, SweepResult
from quorum.experiments.sweep.stopping import Stop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Folder = str | PathLike[str]
At = Annotated[int, Field(ge=0)] | str
"""A branch point: a step, or `STEP:TIME`."""
T = TypeVar("T")

MOST_SHOWN = 50
"""Rows of a table of runs that a notebook shows."""
_log = logging.getLogger(__name__)


class _Runs:
    """Runs in a folder, and what the verbs do with them."""

    __slots__ = ()
    folder: Path

    @checked_arguments
    def blame(
        self,
        *,
        method: str = SEARCH,
        reference: str | Sequence[str] = (),
        success: str = "success",
        margin: Annotated[int, Field(ge=0)] | None = None,
        shares: bool = True,
        shares_from: Annotated[int, Field(ge=0)] = 0,
        draws: Annotated[int, Field(ge=1)] = 1,
        budget_reruns: Annotated[int, Field(ge=1)] = MOST_RERUNS,
        budget_calls: int | None = None,
        budget_usd: float | None = None,
        plugins: Sequence[str] = (),
        config_dir: Folder | Sequence[Folder] = (),
    ) -> Blame | ManyRuns:
        """Find the decision that made a run fail, as `quorum blame` does; of several runs, for each that failed.

        ```python
        print(result.blame(method="rules"))
        ```

        Args:
            method: `search` by re-runs, `rules`, or the procedure of a reader, such as `reader:bisection`.
            reference: the mind or model that corrects decisions, or `self`; empty: the usual one.
            success: what counts as a success: `success`, `steps<=60` or `score>=3`.
            margin: steps beyond its limit after which an unfinished run has failed; None: four times its limit.
            shares: whether the failure is shared out among the agents.
            shares_from: step from which the reference decides for the shares.
            draws: samples of each correction, if models are asked.
            budget_reruns: play at most this many episodes of a run.
            budget_calls: ask paid models at most this often.
            budget_usd: spend at most this much, in US dollars.
            plugins: modules that register components.
            config_dir: folders with more options of the groups; one may stand alone.

        Returns:
            The verdict on a run, or those on all failed runs; `print` shows either as the verb does.

        Raises:
            UserError: there is no such method, or no run can be blamed.
        """
        load_plugins(plugins)
        require_budgets(budget_calls=budget_calls, budget_usd=budget_usd)
        question = BlameQuestion(
            by=names(reference),
            success=Success.parse(success),
            margin=margin,
            budget=Budget(budget_reruns, budget_calls, budget_usd),
            draws=draws,
            since=shares_from,
            config_dir=paths(config_dir),
            shares=shares,
            method=method,
        )
        return blame_folder(self.folder, question)


@dataclass(frozen=True, slots=True)
class Result(_Runs, runner.Result):
    """What an episode left. A notebook shows the board at its end and its main metrics."""

    def _repr_html_(self) -> str:
        """Return what `quorum run` prints, as HTML."""
        rows, caption = tuple(summary.summary_rows(self)), SIMULATED if self.answering_models.simulated else ""
        remarks = [text for text in (self.reason, self.never_valid) if text]
        return _html([Table(self.cell.name, ("metric", "value"), rows, caption)], remarks, self.board)

    @checked_arguments
    def branch(
        self,
        *words: str,
        at: At | None = None,
        mind: str | Sequence[str] = (),
        say: str | Sequence[str] = (),
        plan: str | Sequence[str] = (),
        drop: Sequence[int] = (),
        world: str | None = None,
        out: Folder = "runs",
        plugins: Sequence[str] = (),
        config_dir: Folder | Sequence[Folder] = (),
    ) -> Result:
        """Continue the run from a chosen step with something changed, as `quorum branch` does.

        ```python
        other = result.branch(at=12, mind="agent_2=heuristic")
        ```

        Args:
            words: what differs from the branch point on, `KEY=VALUE`.
            at: the branch point, a step or `STEP:TIME`; None with `drop`: the thought that sends the message.
            mind: `AGENT=MIND`: other minds.
            say: `AGENT:TEXT`: what participants say in their next turn.
            plan: `AGENT:ACTIONS`: what agents plan next, as JSON.
            drop: ids of messages that are not delivered.
            world: a change of the world, as JSON.
            out: folder for results.
            plugins: modules that register components.
            config_dir: folders with more options of the groups; one may stand alone.

        Returns:
            The branch. What the verb prints as a notice is logged as a warning.

        Raises:
            UserError: there is no such branch point, or the change is not possible; or as `quorum.run`.
            KeyboardInterrupt: the user stopped the episode.
        """
        load_plugins(plugins)
        edits = [*words, *edits_of_minds(names(mind))]
        change = read_change(
            edits, says=names(say), plans=names(plan), drops=drop, world=world, config_dir=paths(config_dir)
        )
        with extension_errors():
            planned = Parent.open(self.folder).branch(instant_of(str(at)) if at is not None else None, change)
        if planned.notice:
            _log.warning("%s", planned.notice)
        result = runner.run_cell(planned.cell, Path(out), start=planned.start)
        for what in planned.start.undone:
            _log.warning("%s: no turn came for it", what)
        return answer(Result, result)

    def plot(self, figure: str = "curves") -> Figure:
        """Draw a figure of the run; see `Comparison.plot`.

        Raises:
            UserError: there is no such figure, it shows nothing of this run, or the run is damaged.
        """
        return alone(self.folder).plot(figure)


@dataclass(frozen=True, slots=True)
class Results(_Runs, results.Results):
    """The runs of one folder. A notebook shows a row for each."""

    def _repr_html_(self) -> str:
        """Return what `quorum results` prints, as HTML, with the first runs alone where there are very many."""
        header, *lines = map(tuple, show.run_lines(self))
        cut = f"The first {MOST_SHOWN} of {len(lines)} runs. " if len(lines) > MOST_SHOWN else ""
        caption = cut + (SIMULATED if any(row.simulated for row in self.rows) else "")
        table = Table(self.folder.resolve().name, header, tuple(lines[:MOST_SHOWN]), caption)
        return _html([table], list(show.remarks(self)))

    @checked_arguments
    def branch(
        self,
        *words: str,
        at: At | Sequence[At] = (),
        mind: str | Sequence[str] = (),
        say: str | Sequence[str] = (),
        plan: str | Sequence[str] = (),
        drop: Sequence[int] = (),
        world: str | None = None,
        draws: Annotated[int, Field(ge=1)] = 1,
        control: bool = True,
        out: Folder = "runs",
        name: str | None = None,
        budget_usd: Annotated[float, Field(gt=0)] | None = None,
        budget_tokens: Annotated[int, Field(gt=0)] | None = None,
        budget_calls: Annotated[int, Field(gt=0)] | None = None,
        plugins: Sequence[str] = (),
        config_dir: Folder | Sequence[Folder] = (),
        progress: bool = False,
    ) -> SweepResult:
        """Continue all runs that did not fail with something changed, as a sweep, as `quorum branch SWEEP` does.

        Args:
            words: a grid of what differs from the branch points on, `KEY=VALUES`.
            at: the branch points, each a step or `STEP:TIME`.
            mind: as of `Result.branch`; so are `say`, `plan`, `drop` and `world`.
            say: see there.
            plan: see there.
            drop: see there.
            world: see there.
            draws: samples of each branch.
            control: whether each run also continues without a change.
            out: folder for results.
            name: of the sweep, and of its folder in `out`; None for the usual one.
            budget_usd: spend at most this much on the whole sweep, in US dollars. Paid models need one of the budgets.
            budget_tokens: use at most so many tokens in the whole sweep.
            budget_calls: ask language models at most this often in the whole sweep.
            plugins: modules that register components.
            config_dir: folders with more options of the groups; one may stand alone.
            progress: show how far it is on standard error.

        Returns:
            The sweep; `quorum.compare(result.folder)` has the gain of each change.

        Raises:
            UserError, KeyboardInterrupt: as `quorum.sweep`.
        """
        edits = [*words, *edits_of_minds(names(mind))]
        change = read_change(
            edits, says=names(say), plans=names(plan), drops=drop, world=world, config_dir=paths(config_dir)
        )
        instants = (at,) if isinstance(at, int | str) else at
        request = SweepRequest(
            words=tuple(change.edits),
            out=Path(out),
            name=name,
            retry_failed=True,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            budget_calls=budget_calls,
            plugins=tuple(plugins),
            config_dir=paths(config_dir),
            planner=BranchGrid((self.folder,), tuple(map(str, instants)), change, draws, control),
        )
        return swept(request, progress=progress)

    def plot(self, figure: str = "overview") -> Figure:
        """Draw a figure of the comparison that `quorum.compare` makes of these runs; see `Comparison.plot`.

        Raises:
            UserError: as `quorum.compare` and `Comparison.plot`.
        """
        question = compare.Question(curves=figure == "curves")
        return answer(Comparison, compare.compare([self], question)).plot(figure)


@dataclass(frozen=True, slots=True)
class Comparison(compare.Comparison):
    """The answer of `quorum.compare`. A notebook shows its tables and its notes."""

    def _repr_html_(self) -> str:
        """Return what `quorum compare` prints, as HTML."""
        return _html(tables(self), notes(self))

    def plot(self, figure: str = "overview") -> Figure:
        """Draw a figure, as `quorum compare` writes it.

        Args:
            figure: `overview`, `metrics`, `difference`, `curves`, `budgets`, `radar`, `failures`, `failure_kinds`,
                `pareto`, `crossplay` or `published`, or one of a plug-in. Of those that have a figure for each
                metric, the first is drawn.

        Returns:
            A figure of Matplotlib; save it with `savefig`.

        Raises:
            UserError: there is no such figure, or it shows nothing of these runs.
        """
        from quorum.experiments.compare.figures import draw_figure  # noqa: PLC0415 - Matplotlib

        return draw_figure(self, figure)


def _html(shown: Sequence[Table], remarks: Sequence[str], board: str = "") -> str:
    from quorum.experiments.compare.report import notebook  # noqa: PLC0415 - Matplotlib

    return notebook(shown, remarks, Text.from_ansi(board).plain)


def answer(kind: Callable[..., T], found: Any) -> T:
    """Return data as one of the classes above, which have more methods and the same fields."""
    return kind(**{one.name: getattr(found, one.name) for one in fields(found)})


def alone(run: Path) -> Results:
    """Return the results of a single run.

    Raises:
        UserError: it is damaged.
    """
    row = RunFolder(run).row()
    if isinstance(row, results.Damaged):
        raise UserError(f"{run}: {row.reason}")
    return Results(run, None, (row,), (), 0, ())


def swept(request: SweepRequest, *, progress: bool) -> SweepResult:
    """Run a sweep.

    Raises:
        UserError, KeyboardInterrupt: as `quorum.sweep`.
    """
    load_plugins(request.plugins)
    with extension_errors():
        result = run_sweep_command(request, quiet=not progress)
    if result.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    if result.stop is Stop.STUCK:
        raise UserError(result.reason)
    return result


def paths(folders: Folder | Sequence[Folder]) -> tuple[Path, ...]:
    """Return one folder or several as paths."""
    return (Path(folders),) if isinstance(folders, str | PathLike) else tuple(map(Path, folders))


def names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)
