"""Runs the missing cells of a sweep and returns its state."""

from __future__ import annotations

import logging
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
from rich.table import Table

from quorum.agents.llm.spending import Spent, dollars
from quorum.configuration.budgets import require_budgets
from quorum.configuration.option_folders import ConfigDir, named_folders
from quorum.configuration.team_label import minds_in
from quorum.display.consoles import Text
from quorum.episode.episode_folder import PARTIAL
from quorum.episode.expected import Expected
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.rehearsal import rehearse
from quorum.installation.provenance import CodeVersion, provenance
from quorum.runs import is_current, read_results, write_csv
from quorum.runs.finished import FinishedCell, dropped_attempts
from quorum.storage.files import make_folder
from quorum.storage.outputs import clock_time
from quorum.sweeps import lines
from quorum.sweeps.engines.locks import sweep_lock
from quorum.sweeps.engines.protocol import Engine, SweepJob
from quorum.sweeps.in_flight import read_in_flight
from quorum.sweeps.ledger import Ledger
from quorum.sweeps.plan import GRID, Planner, SweepPlan
from quorum.sweeps.queue import Queue
from quorum.sweeps.spending import Costs, SweepBudget
from quorum.sweeps.stopping import Cancellation, Stop
from quorum.sweeps.sweep_folder import SweepFolder
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The arguments of `quorum sweep`.

    Attributes:
        words: `KEY=VALUES` of the grid, the experiment and the engine.
        out: folder for results.
        name: name of the sweep; None for the default name.
        retry_failed: run cells again that ended in an error.
        limit: maximum number of cells to run.
        budget_usd: budget of the whole sweep in US dollars.
        budget_tokens: token budget of the whole sweep.
        budget_calls: call budget of the whole sweep.
        accept_versions: continue a sweep with results of other code versions.
        strict: reject arguments that have no effect in some cells.
        skip_invalid: run the valid cells even if others are invalid.
        plugins: modules that register components.
        config_dir: folders with more group options.
        planner: plans the cells.
        resume_command: the command that continues the sweep, if it is not `quorum sweep`; empty: built from the
            arguments. Such a command plays more episodes than its arguments name, so paid models need a budget.
        cancel: stops the sweep.
        track: called with the folder of each finished cell: those already done, and each one that ends.

    Raises:
        UserError: a budget is not positive.
    """

    words: tuple[str, ...]
    out: Path = Path("runs")
    name: str | None = None
    retry_failed: bool = False
    limit: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_calls: int | None = None
    accept_versions: bool = False
    strict: bool = False
    skip_invalid: bool = False
    plugins: tuple[str, ...] = ()
    config_dir: ConfigDir = ()
    planner: Planner = GRID
    resume_command: str = ""
    cancel: Cancellation = field(default_factory=Cancellation)
    track: Callable[[Path], None] = lambda _: None

    def __post_init__(self) -> None:
        require_budgets(budget_usd=self.budget_usd, budget_tokens=self.budget_tokens, budget_calls=self.budget_calls)

    @property
    def budget(self) -> SweepBudget:
        """The budget of the whole sweep."""
        return SweepBudget(self.budget_usd, self.budget_tokens, self.budget_calls)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of the command: the planner's folders and `KEY=VALUES`."""
        return (*map(str, self.planner.folders), *self.words)

    @property
    def command(self) -> str:
        """The part of the command that names the sweep, for follow-up commands."""
        words = ("quorum", self.planner.verb, *self.arguments, *self.planner.options, *self.common_options)
        return self.resume_command or shlex.join(words)

    @property
    def common_options(self) -> list[str]:
        """The options for its folder, components and limits that differ from the defaults.

        A suggested follow-up command must not exceed what the original one was allowed to do.
        """
        options = ["--out", str(self.out)] if self.out != Path("runs") else []
        options += ["--name", self.name] if self.name is not None else []
        options += [word for plugin in self.plugins for word in ("--plugin", plugin)]
        options += [word for folder in named_folders(self.config_dir) for word in ("--config-dir", str(folder))]
        options += ["--accept-versions"] if self.accept_versions else []
        options += ["--skip-invalid"] if self.skip_invalid else []
        options += ["--limit", str(self.limit)] if self.limit else []
        return options + self.budget.words

    @property
    def multiplies(self) -> bool:
        """Whether it plays more episodes than its arguments name: branches, control arms, parts of a figure, rounds."""
        return self.planner.multiplies or bool(self.resume_command)

    def folder(self, name: str) -> SweepFolder:
        """Return the folder of the sweep.

        Raises:
            UserError: the name is not a valid folder name.
        """
        chosen = self.name if self.name is not None else name
        if not chosen or chosen.startswith(".") or "/" in chosen or "\\" in chosen or PARTIAL in chosen:
            raise UserError(f"--name {chosen!r}: give a single folder name that does not start with a dot")
        return SweepFolder(self.out, chosen)


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """The current state of a sweep.

    Attributes:
        cells: cells of the plan.
        done: finished cells of the plan, by name.
        damaged: reasons why existing cells are damaged or no longer fit their line, by name.
        missing: cells to run, in planning order, except that lines of episodes start with their first one. Cells that
            follow a failed one in their line are excluded.
        costs: past spending, and the expected cost of cells.
    """

    cells: tuple[PlannedCell, ...]
    done: Mapping[str, FinishedCell]
    damaged: Mapping[str, str]
    missing: tuple[PlannedCell, ...]
    costs: Costs


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The result of a sweep command.

    Attributes:
        folder: folder of the sweep.
        planned: cells of the plan.
        before: cells that were already done.
        finished: cells that ran now.
        left: cells still to run.
        damaged: reasons why existing cells were damaged, by name; those selected to run again were set aside.
        failed: cells of the plan that ended in an error, now or earlier.
        held: cells that wait behind a failed cell in their line.
        stop: why the sweep ended early, if it did.
        reason: the same as text.
        spent: usage of all its cells so far, including failed attempts.
        in_flight: estimated usage of answers in flight when a command or worker was killed; not part of `spent`.
        simulated: whether simulated models answered, so that the cost is fictitious.
        seconds: wall time of this command.
        request: the request that it answers.
    """

    folder: Path
    planned: int
    before: int
    finished: tuple[FinishedCell, ...]
    left: int
    damaged: Mapping[str, str]
    failed: tuple[FinishedCell, ...]
    held: int
    stop: Stop | None
    reason: str
    spent: Spent
    in_flight: Spent
    simulated: bool
    seconds: float
    request: SweepRequest

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "cells": self.planned,
            "done_before": self.before,
            "run_now": len(self.finished),
            "left": self.left,
            "damaged": dict(self.damaged),
            "failed": [{"name": done.name, "reason": done.reason} for done in self.failed],
            "held": self.held,
            "stopped": self.stop.value if self.stop else None,
            "reason": self.reason,
            "over_budget": self.overrun or None,
            "answers": self.spent.answers,
            "cached_answers": self.spent.cached,
            "tokens": self.spent.tokens,
            "usd": self.spent.known_usd,
            "in_flight": {name: getattr(self.in_flight, name) for name in ("answers", "tokens", "usd")},
            "simulated": self.simulated,
            "seconds": round(self.seconds, 3),
            "command": self.request.command,
        }

    def _repr_mimebundle_(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> dict[str, str]:
        """Return the output of `quorum sweep`, for notebooks."""
        return self.table()._repr_mimebundle_(include, exclude)

    @property
    def used(self) -> Spent:
        """Usage that counts toward the budget: `spent` plus `in_flight`."""
        return self.spent + self.in_flight

    @property
    def overrun(self) -> str:
        """The limit that was exceeded, and by how much; empty if none was."""
        used = self.used
        bound = self.request.budget.exceeded(used.usd, used.tokens, used.answers)
        if not bound:
            return ""
        spent = f"{dollars(used.usd)}, {used.tokens:,} tokens and {used.answers:,} answers were used"
        return f"over budget: {spent} with {bound}"

    @property
    def exit_code(self) -> int:
        """0: success; 1: cells failed; 2: nothing more can run; 130: stopped by the user."""
        codes: dict[Stop | None, int] = {Stop.INTERRUPTED: 130, Stop.STUCK: 2}
        return codes.get(self.stop, 1 if self.failed else 0)

    @property
    def complaint(self) -> str:
        """The message for standard error; empty on success."""
        said = [f"error: {self.reason}"] if self.stop in (Stop.STUCK, Stop.FAILURES) else []
        if self.stop is Stop.BUDGET:
            said.append(f"notice: {self.reason}; a larger budget continues the sweep")
        if self.overrun:
            said.append(f"warning: {self.overrun}: answers in progress used more than expected")
        if self.failed:
            retry = "the same command runs them again" if self.request.retry_failed else "run them with --retry-failed"
            said.append(f"{len(self.failed)} cells ended in an error: {retry}")
        if self.held:
            said.append(f"{self.held} cells follow a failed one in their line, and wait until it succeeds")
        if self.left:
            said.append(f"{self.left} cells are left; continue with: {self.request.command}")
        return "\n".join(said)

    def table(self) -> Table:
        """Return it for the terminal."""
        table = Table.grid(padding=(0, 2))
        done = self.planned - self.left
        table.add_row("cells", f"{done} of {self.planned} done: {self.before} before, {len(self.finished)} now")
        if self.failed:
            table.add_row("failed", str(len(self.failed)))
        if self.damaged:
            table.add_row("damaged before", str(len(self.damaged)))
        if (spent := self.spent).answers:
            cached = f", {spent.cached:,} of them from the cache" if spent.cached else ""
            table.add_row("model answers", f"{spent.answers:,}{cached}; {spent.tokens:,} tokens")
            table.add_row("money", f"{spent.money}{' (simulated)' if self.simulated else ''}")
        if (lost := self.in_flight).answers:
            counted = f"counted at {dollars(lost.usd)} and {lost.tokens:,} tokens, estimated"
            which = f"up to {lost.answers:,} answers were in flight when a command or a worker was killed"
            table.add_row("lost", f"{which}: {counted}")
        table.add_row("time", clock_time(self.seconds))
        table.add_row("folder", Text(str(self.folder), overflow="fold"))
        return table


Guess = Callable[[PlannedCell], Expected | None]
"""Returns the estimate for a cell; None if unknown."""
View = Callable[[Queue, SweepStatus], AbstractContextManager[Callable[[], None]]]
"""Shows a sweep while it runs: a context manager that yields a callback for every change."""


def sweep_status(plan: SweepPlan, folder: SweepFolder, request: SweepRequest) -> SweepStatus:
    """Read the state of a sweep without changing anything.

    Raises:
        UserError: the sweep has results of other code versions, and the request does not accept them.
    """
    found, damaged = folder.look(plan.cells)
    broken = lines.broken(plan.cells, found)
    done = {name: cell for name, cell in found.items() if name not in broken}
    if not request.accept_versions:
        _check_versions(folder.path, done.values(), CodeVersion.of(provenance()))
    costs = _costs(folder, plan.cells, done)
    again = {name for name, cell in done.items() if cell.failed} if request.retry_failed else set()
    held = lines.held(plan.cells, done, again)
    missing = [cell for cell in plan.cells if (cell.name not in done and cell.name not in held) or cell.name in again]
    return SweepStatus(plan.cells, done, {**damaged, **broken}, lines.in_order(missing), costs)


def _costs(folder: SweepFolder, cells: Sequence[PlannedCell], done: Mapping[str, FinishedCell]) -> Costs:
    """Return the costs of finished cells, of cells of earlier plans, and of attempts that were set aside."""
    costs = Costs(dropped_attempts(folder.path), folder.spent_elsewhere(cells), read_in_flight(folder.path))
    for cell in cells:
        if cell.name in done:
            costs.add(cell.kind, done[cell.name])
    return costs


def _check_versions(folder: Path, done: Iterable[FinishedCell], present: CodeVersion) -> None:
    """Refuse to add results to those of another version or commit.

    Raises:
        UserError: cells in the folder ran with another version, another commit, or other uncommitted changes.
    """
    others = Counter(str(cell.code) for cell in done if cell.code != present)
    if others:
        listing = "; ".join(f"{number} cells with version {code}" for code, number in sorted(others.items()))
        raise UserError(
            f"{folder}: it contains results of other code: {listing}. This is version {present}.",
            "Start a new sweep with --name NAME, continue with the old code, or accept both with --accept-versions.",
        )


def run_sweep(
    plan: SweepPlan,
    folder: SweepFolder,
    engine: Engine,
    *,
    request: SweepRequest,
    view: View,
    guess: Guess = lambda _: None,
) -> SweepResult:
    """Run the missing cells of a sweep.

    Args:
        plan: plan of the sweep.
        folder: folder of the sweep.
        engine: engine that runs the cells.
        request: the arguments of the command.
        view: shows the progress.
        guess: returns the estimate for a cell of a kind without finished cells; None if unknown.

    Raises:
        UserError: nothing can be written, another command is using the folder, it has results of other code versions,
            or the engine cannot be used.
    """
    folder.check()
    make_folder(folder.path)
    with sweep_lock(folder.path) as claim:
        dearest = folder.clear()
        status = sweep_status(plan, folder, request)
        same = folder.write_manifest(plan, request.arguments, request.command)
        chosen = status.missing[: request.limit]
        if chosen and (warm_up := getattr(engine, "warm_up", None)) is not None:  # only some engines have this method
            warm_up()
        _log.info("%s: %d cells, %d done, %d to run", folder.path, len(plan.cells), len(status.done), len(chosen))
        for name in status.done.keys() - {cell.name for cell in chosen}:
            request.track(folder.path / name)
        for cell in chosen:
            folder.retire(cell)
        _prepare(chosen)
        begin = time.monotonic()
        code = CodeVersion.of(provenance())
        job = SweepJob(folder.path, Path.cwd(), request.plugins, code, claim, budgeted=request.budget.any)
        names = {cell.name for cell in chosen}
        before = {name: done for name, done in status.done.items() if name not in names}
        costs = status.costs if len(before) == len(status.done) else _costs(folder, plan.cells, before)
        batched = engine.courier is not None
        with Ledger.kept(folder.path, request.budget, costs.used, batched=batched, dearest=dearest) as ledger:
            queue = Queue(folder.path, chosen, costs, cancel=request.cancel, ledger=ledger, guess=guess)
            if chosen:
                status = replace(status, costs=costs)
                with view(queue, status) as show, request.cancel.by_signals():
                    queue.show, queue.track = show, request.track
                    engine.run(queue, job)
        if chosen or not (same and is_current(folder.path)):
            write_csv(read_results(folder.path))
    present = {**before, **{done.name: done for done in queue.finished}}
    return SweepResult(
        folder=folder.path,
        planned=len(plan.cells),
        before=len(before),
        finished=tuple(queue.finished),
        left=len(plan.cells) - len(before) - len(queue.finished),
        damaged=status.damaged,
        failed=tuple(done for done in present.values() if done.failed),
        held=len(lines.held(plan.cells, present)),
        stop=queue.stop,
        reason=queue.reason,
        spent=costs.spent,
        in_flight=costs.in_flight,
        simulated=any(done.simulated for done in present.values()),
        seconds=time.monotonic() - begin,
        request=request,
    )


def _prepare(cells: Iterable[PlannedCell]) -> None:
    """Compile the kernels of all cells before any worker starts; otherwise every worker would compile them."""
    kinds = (orjson.loads(cell.configuration) for cell in {cell.kind: cell for cell in cells}.values())
    teams = {(kind["env"]["name"], mind) for kind in kinds for mind in minds_in(kind["agents"])}
    for world, mind in sorted(teams):
        rehearse(world, mind)
