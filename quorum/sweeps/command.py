"""The `quorum sweep` command, from its arguments to its output."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from math import fsum
from typing import Any

from quorum.agents.llm.spending import Spent, dollars
from quorum.configuration.effects import refuse
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.registry import engines, remarks_on, trackers
from quorum.configuration.sweep_arguments import build_sweep_component, split_arguments
from quorum.display.consoles import Console, Text, at_work
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.substitute import asks_real_models
from quorum.runs.finished import RETRIED
from quorum.runs.tracking import tracking
from quorum.sweeps.engines.protocol import Engine
from quorum.sweeps.estimate import Estimates, Forecast, forecast
from quorum.sweeps.pilots import Pilots
from quorum.sweeps.plan import SweepPlan
from quorum.sweeps.progress import lines, live_table, nothing
from quorum.sweeps.queue import Queue
from quorum.sweeps.run import Guess, SweepRequest, SweepResult, SweepStatus, View, run_sweep, sweep_status
from quorum.sweeps.spending import SweepBudget
from quorum.sweeps.sweep_folder import SweepFolder
from quorum_base.user_errors import UserError

_MOST_NAMED = 10
"""Damaged cells listed by name, at most."""


def choose_engine(words: Sequence[str], config_dir: ConfigDir = ()) -> Engine:
    """Build the engine from `engine=... engine.KEY=VALUE`; defaults to the local one.

    Raises:
        UserError: see `build_sweep_component`.
    """
    engine: Engine = build_sweep_component(engines, words, config_dir, usual="local")
    return engine


def _prepare(request: SweepRequest, *, with_keys: bool) -> tuple[SweepPlan, SweepFolder, list[str]]:
    aside, words = split_arguments(request.words, engines, trackers)
    planned = request.planner.plan(words, request.config_dir)
    if request.strict:
        refuse(planned.without_effect)
    folder = request.folder(planned.name)
    if with_keys:
        folder.check()
    request.planner.check(planned, folder.path)
    money = request.budget_usd is not None
    planned = planned.checked(folder.path, skip_invalid=request.skip_invalid, with_keys=with_keys, money=money)
    return planned, folder, aside


def show_plan(request: SweepRequest, pilots: Pilots | None = None) -> Forecast:
    """Show what a sweep would run and what it would take. Writes nothing.

    Args:
        request: the sweep.
        pilots: shared by the estimates of several sweeps; None: this sweep uses its own.

    Raises:
        UserError: the arguments are not valid.
    """
    planned, folder, aside = _prepare(request, with_keys=False)
    engine = choose_engine(aside, request.config_dir)
    if engine.courier is not None:
        engine.courier.check(folder.path, planned.cells)
    status = sweep_status(planned, folder, request)
    found = forecast(planned, status, folder, engine, request.limit, pilots=pilots)
    notice = beyond([found], status.costs.used, request.budget)
    return replace(found, notices=(*found.notices, notice)) if notice else found


def beyond(forecasts: Sequence[Forecast], spent: Spent, budget: SweepBudget) -> str:
    """Describe how several sweeps are expected to exceed their common budget; empty if they are not.

    Args:
        forecasts: forecasts of the sweeps.
        spent: their spending so far.
        budget: their common budget.
    """
    known = all(expected.usd is not None for expected in forecasts)
    usd = spent.usd + fsum(expected.usd or 0.0 for expected in forecasts)
    tokens = spent.tokens + fsum(expected.tokens for expected in forecasts)
    calls = spent.answers + fsum(expected.answers for expected in forecasts)
    if bound := budget.exceeded(usd, tokens, calls):
        money = f"{dollars(usd)}, " if known else ""
        return f"over budget: {money}{tokens:,.0f} tokens and {calls:,.0f} answers expected in total, with {bound}"
    if not known and budget.usd is not None:
        return f"{budget.option('usd')}: the price is unknown, so Quorum refuses the sweep. Use --budget-tokens N."
    return ""


def _expectations(planned: SweepPlan, folder: SweepFolder, request: SweepRequest, *, quiet: bool) -> Guess:
    """Return the function that estimates cells of a new kind; pilots run only if there is a budget."""
    if not request.budget.any:
        return lambda _: None
    status = sweep_status(planned, folder, request)
    with at_work("estimating ...", quiet=quiet):
        estimates = Estimates(status.missing[: request.limit], status, Pilots())
    return lambda cell: estimates.of(cell)[0]


def _require_budget(cells: Iterable[PlannedCell], request: SweepRequest) -> None:
    """Require a budget if any cell calls a paid model.

    Raises:
        UserError: a cell calls a paid model and there is no budget.
    """
    paid = [cell for cell in cells if _is_paid(cell)]
    if paid:
        limits = "--budget-calls N, --budget-tokens N or --budget-usd X"
        raise UserError(
            f"{len(paid)} episodes ask paid language models",
            f"Set a limit: {limits}. {request.planner.estimate} shows the expected cost.",
        )


def _is_paid(cell: PlannedCell) -> bool:
    configuration = cell.cell().configuration
    return cell.uses_models and asks_real_models(configuration) and configuration.llm.name != "replay"


def cancel_batches(request: SweepRequest) -> dict[str, Any]:
    """Cancel the open batches of a sweep at the provider; return their number as JSON-ready data.

    Raises:
        UserError: the arguments are not valid, another command runs the sweep, or a provider does not answer.
    """
    planned, folder, aside = _prepare(request, with_keys=True)
    courier = choose_engine(aside, request.config_dir).courier
    if courier is None:
        raise UserError(
            "--cancel-batches: this engine sends no batches",
            "Repeat the arguments of the command that started the sweep.",
        )
    return courier.cancel(folder.path, planned.cells)


def run_sweep_command(request: SweepRequest, *, quiet: bool) -> SweepResult:
    """Run a sweep and show its progress on standard error.

    Raises:
        UserError: the arguments are not valid, or the sweep cannot run.
    """
    planned, folder, aside = _prepare(request, with_keys=True)
    engine = choose_engine(aside, request.config_dir)
    if engine.courier is not None:
        engine.courier.check(folder.path, planned.cells)
    if request.multiplies and not request.budget.any:
        _require_budget(sweep_status(planned, folder, request).missing[: request.limit], request)
    left = () if engine.courier is not None else remarks_on(folder.path)
    for notice in (*_notices(planned), *left) if not quiet else ():
        Console(stderr=True).print(Text(f"notice: {notice}"), soft_wrap=True)
    guess = _expectations(planned, folder, request, quiet=quiet)
    view = _view(folder.name, quiet=quiet)
    with tracking(build_sweep_component(trackers, aside, request.config_dir), folder.name) as track:
        tracked = replace(request, track=track)
        return run_sweep(planned, folder, engine, request=tracked, view=view, guess=guess)


def _notices(planned: SweepPlan) -> Iterator[str]:
    if planned.repeated:
        yield f"{planned.repeated} points of the grid repeat the cell of another point; each cell runs once"
    yield from planned.notices


def _view(name: str, *, quiet: bool) -> View:
    if quiet:
        return nothing
    console = Console(stderr=True)
    logged = logging.getLogger("quorum").isEnabledFor(logging.INFO)
    progress = partial(live_table if console.is_terminal and not logged else lines, console, name)

    def view(queue: Queue, status: SweepStatus) -> AbstractContextManager[Callable[[], None]]:
        for line in damaged_lines(status.damaged):
            console.print(Text(f"damaged: {line}"), soft_wrap=True)
        if status.damaged:
            console.print(Text(f"they run again; their remains are kept in {queue.folder / RETRIED}"), soft_wrap=True)
        return progress(queue, status)

    return view


def damaged_lines(damaged: Mapping[str, str]) -> Iterator[str]:
    """Yield one line for each damaged cell, up to a readable number."""
    for name, reason in list(damaged.items())[:_MOST_NAMED]:
        yield f"{name}: {reason}"
    if len(damaged) > _MOST_NAMED:
        yield f"and {len(damaged) - _MOST_NAMED} more"
