"""What `quorum sweep` does, from its arguments to what it prints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from maeil.user_errors import UserError
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.sweep.engines.choose import choose_engine, split_words
from quorum.experiments.sweep.estimate import Forecast, forecast
from quorum.experiments.sweep.plan import SweepPlan, plan
from quorum.experiments.sweep.progress import clock_time, lines, live_table, nothing
from quorum.experiments.sweep.queue import Stop
from quorum.experiments.sweep.run import SweepOptions, SweepSummary, View, run_sweep, sweep_status
from quorum.experiments.sweep.spending import SweepBudget
from quorum.experiments.sweep.sweep_folder import SweepCommand, SweepFolder


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The arguments of the command.

    Attributes:
        words: `KEY=VALUES` of the grid, the experiment and the engine.
        out: folder for results.
        name: of the sweep; None for the usual one.
        retry_failed: run the cells that ended in an error again.
        limit: cells to run, at most.
        budget_usd: money of the whole sweep.
        budget_tokens: tokens of the whole sweep.
        accept_versions: go on beside results of other code.
        plugins: modules that register components.
        config_dir: folder with more options of the groups.
    """

    words: tuple[str, ...]
    out: Path
    name: str | None
    retry_failed: bool
    limit: int | None
    budget_usd: float | None
    budget_tokens: int | None
    accept_versions: bool
    plugins: tuple[str, ...]
    config_dir: Path | None

    @property
    def options(self) -> SweepOptions:
        """What shapes this call.

        Raises:
            UserError: a budget is not positive.
        """
        for option, value in (("--budget-usd", self.budget_usd), ("--budget-tokens", self.budget_tokens)):
            if value is not None and not value > 0:
                raise UserError(f"{option} {value}: a budget must be more than 0")
        budget = SweepBudget(self.budget_usd, self.budget_tokens)
        return SweepOptions(self.retry_failed, self.limit, budget, self.accept_versions, self.plugins)

    def command(self) -> SweepCommand:
        """The part of the arguments that names the sweep, to be said again."""
        options: list[str] = []
        if self.out != Path("runs"):
            options += ["--out", str(self.out)]
        if self.name is not None:
            options += ["--name", self.name]
        for plugin in self.plugins:
            options += ["--plugin", plugin]
        if self.config_dir is not None:
            options += ["--config-dir", str(self.config_dir)]
        return SweepCommand(self.words, tuple(options))

    def folder(self, name: str) -> SweepFolder:
        """Return the folder of the sweep.

        Raises:
            UserError: the name is not that of a folder.
        """
        chosen = self.name if self.name is not None else name
        if not chosen or chosen.startswith(".") or "/" in chosen or "\\" in chosen or PARTIAL in chosen:
            raise UserError(f"--name {chosen!r}: give the name of one folder, without a dot before it")
        return SweepFolder(self.out, chosen)


class Printable(Protocol):
    """What can be printed for readers and for programs."""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""

    def table(self) -> RenderableType:
        """Return it for the terminal."""


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What a sweep came to, in words.

    Attributes:
        summary: the same as data.
        command: to be said again.
    """

    summary: SweepSummary
    command: SweepCommand

    @property
    def exit_code(self) -> int:
        """0: all well; 1: cells failed; 2: nothing more can be run; 130: stopped by the user."""
        match self.summary.stop:
            case Stop.INTERRUPTED:
                return 130
            case Stop.STUCK:
                return 2
        return 1 if self.summary.failed else 0

    @property
    def complaint(self) -> str:
        """What is to be said on standard error; empty when all is well."""
        summary = self.summary
        lines = [f"error: {summary.reason}"] if summary.stop in (Stop.STUCK, Stop.FAILURES) else []
        if summary.stop is Stop.BUDGET:
            lines.append(f"notice: {summary.reason}; a larger one goes on")
        if summary.failed:
            lines.append(f"{len(summary.failed)} cells ended in an error: run them again with --retry-failed")
        if summary.left:
            lines.append(f"{summary.left} cells are left; go on with: {self.command.text}")
        return "\n".join(lines)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**self.summary.plain(), "command": self.command.text}

    def table(self) -> RenderableType:
        """Return it for the terminal."""
        summary = self.summary
        table = Table.grid(padding=(0, 2))
        done = summary.planned - summary.left
        table.add_row(
            "cells", f"{done} of {summary.planned} done: {summary.before} before, {len(summary.finished)} now"
        )
        if summary.failed:
            table.add_row("failed", str(len(summary.failed)))
        if summary.spent.calls:
            table.add_row("model calls", f"{summary.spent.calls:,}, {summary.spent.tokens:,} tokens")
            unknown = f", and {summary.spent.unknown:,} calls at an unknown price" if summary.spent.unknown else ""
            table.add_row("money", f"${summary.spent.usd:.4f}{' (simulated)' if summary.simulated else ''}{unknown}")
        table.add_row("time", clock_time(summary.seconds))
        table.add_row("folder", Text(str(summary.folder), overflow="fold"))
        return table


def _prepare(request: SweepRequest) -> tuple[SweepPlan, SweepFolder, SweepCommand, list[str]]:
    engine_words, words = split_words(request.words)
    planned = plan(words, request.config_dir)
    return planned, request.folder(planned.name), request.command(), engine_words


def show_plan(request: SweepRequest) -> Forecast:
    """Say what a sweep would run and what that would take. Nothing is written.

    Raises:
        UserError: the arguments are not valid.
    """
    planned, folder, _, engine_words = _prepare(request)
    engine = choose_engine(engine_words, request.config_dir)
    status = sweep_status(planned, folder, request.options)
    return forecast(planned, status, folder, engine, request.limit)


def run_sweep_command(request: SweepRequest, *, quiet: bool) -> SweepResult:
    """Run a sweep, with its progress on standard error.

    Raises:
        UserError: the arguments are not valid, or the sweep cannot be run.
    """
    planned, folder, command, engine_words = _prepare(request)
    engine = choose_engine(engine_words, request.config_dir)
    if planned.repeated and not quiet:
        notice = f"notice: {planned.repeated} points of the grid name a cell that another one names; it is run once"
        Console(stderr=True).print(Text(notice), soft_wrap=True)
    view = _view(folder.name, quiet=quiet)
    summary = run_sweep(planned, folder, command, engine, options=request.options, view=view)
    return SweepResult(summary, command)


def _view(name: str, *, quiet: bool) -> View:
    if quiet:
        return nothing
    console = Console(stderr=True)
    return partial(live_table if console.is_terminal else lines, console, name)
