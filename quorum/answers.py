"""The results of `quorum.run`, `quorum.results` and `quorum.compare`: data with methods and notebook displays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quorum import comparison as compare
from quorum import runs as results
from quorum.comparison.formats import Table
from quorum.comparison.notes import notes
from quorum.comparison.tables import SIMULATED, tables
from quorum.configuration.registry import methods
from quorum.conversions import answer
from quorum.display.consoles import Text
from quorum.episode import runner
from quorum.installation.packages import load
from quorum.runs import show, summary
from quorum.runs.frames import Rows, columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

MOST_SHOWN = 50
"""Rows of a table of runs that a notebook shows, at most."""


def _added(kind: str) -> tuple[Any, ...]:
    """Return the classes that packages add as bases of `Result` or `Results`.

    The group `api` of a `components.json`, or an entry point of the group `quorum.api`, names a module with classes of
    these names, without slots.
    """
    modules = map(methods.get, methods.names())
    return tuple(getattr(module, kind) for module in modules if hasattr(module, kind))


@dataclass(frozen=True, slots=True)
class Result(*_added("Result"), runner.Result):  # type: ignore[misc] # bases from packages
    """The result of an episode. A notebook shows its final board and main metrics."""

    def _repr_html_(self) -> str:
        """Return the output of `quorum run` as HTML."""
        rows, caption = tuple(summary.summary_rows(self)), SIMULATED if self.answering_models.simulated else ""
        remarks = [text for text in (self.reason, *(one.words for one in self.why)) if text]
        return _html([Table(self.cell.name, ("metric", "value"), rows, caption)], remarks, self.board)

    def plot(self, figure: str = "overview") -> Figure:
        """Draw a figure of the run; see `Comparison.plot`.

        Raises:
            UserError: there is no such figure, it shows nothing for this run, or the run is damaged.
        """
        return answer(Results, results.read_results(self.folder)).plot(figure)


@dataclass(frozen=True, slots=True)
class Results(*_added("Results"), results.Results):  # type: ignore[misc] # bases from packages
    """The runs of one folder. A notebook shows one row per run."""

    def _repr_html_(self) -> str:
        """Return the output of `quorum results` as HTML, limited to the first runs if there are very many."""
        header, *lines = map(tuple, show.run_lines(self))
        cut = f"The first {MOST_SHOWN} of {len(lines)} runs. " if len(lines) > MOST_SHOWN else ""
        caption = cut + (SIMULATED if any(row.simulated for row in self.rows) else "")
        table = Table(self.folder.resolve().name, header, tuple(lines[:MOST_SHOWN]), caption)
        return _html([table], list(show.remarks(self)))

    def to_pandas(self, rows: Rows = "runs") -> pd.DataFrame:
        """Return a data frame of pandas. Objects and lists of events are JSON; missing values are NaN or None.

        Args:
            rows: one row for each of the `runs`, or of the `events`, `calls` (of language models) or `messages` in
                their traces.

        Raises:
            UserError: pandas is not installed, there are no such rows, or a trace is missing or damaged.
        """
        return load("pandas", "pandas", "to_pandas()").DataFrame(columns(self, rows))

    def to_polars(self, rows: Rows = "runs") -> pl.DataFrame:
        """Return a data frame of polars. Objects and lists of events are JSON; missing values are null.

        Args:
            rows: see `to_pandas`.

        Raises:
            UserError: polars is not installed, there are no such rows, or a trace is missing or damaged.
        """
        frame: pl.DataFrame = load("polars", "polars", "to_polars()").DataFrame(columns(self, rows))
        return frame

    def plot(self, figure: str = "overview") -> Figure:
        """Draw a figure of the comparison that `quorum.compare` makes of these runs; see `Comparison.plot`.

        Raises:
            UserError: see `quorum.compare` and `Comparison.plot`.
        """
        return answer(Comparison, compare.compare([self], compare.Question())).plot(figure)


@dataclass(frozen=True, slots=True)
class Comparison(compare.Comparison):
    """The result of `quorum.compare`. A notebook shows its tables and notes."""

    def _repr_html_(self) -> str:
        """Return the output of `quorum compare` as HTML."""
        return _html(tables(self), notes(self))

    def plot(self, figure: str = "overview") -> Figure:
        """Draw a figure as `quorum compare` writes it.

        Args:
            figure: `overview`, `metrics`, `difference`, `budgets`, `radar`, `failures`, `failure_kinds`, `pareto` or
                `published`, or a figure of a plugin. If there is one figure for each metric, the first is drawn.

        Returns:
            A Matplotlib figure; save it with `savefig`.

        Raises:
            UserError: there is no such figure, or it shows nothing for these runs.
        """
        from quorum.comparison.figures import draw_figure  # noqa: PLC0415 - Matplotlib

        return draw_figure(self, figure)


def _html(shown: Sequence[Table], remarks: Sequence[str], board: str = "") -> str:
    from quorum.comparison.report import notebook  # noqa: PLC0415 - Matplotlib

    return notebook(shown, remarks, Text.from_ansi(board).plain)
