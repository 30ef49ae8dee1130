"""What Python programs and notebooks call. The command line does the same with the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from quorum.answers import Comparison, Result, Results, alone
from quorum.comparison import Question
from quorum.comparison import compare as _compare
from quorum.configuration.arguments import checked_arguments
from quorum.configuration.cell import Cell
from quorum.configuration.effects import refuse, without_effect
from quorum.configuration.plugins import load_plugins
from quorum.conversions import Folder, answer, names, paths, swept
from quorum.episode.runner import Result as RunResult
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import extension_errors
from quorum.runs import Row, read_results
from quorum.runs.run_folder import is_run, read_whole_trace
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.sweeps.stopping import Cancellation
from quorum_base.user_errors import UserError

__all__ = [
    "Cancellation",
    "Comparison",
    "Result",
    "Results",
    "SweepResult",
    "UserError",
    "compare",
    "results",
    "run",
    "sweep",
    "trace",
]


@checked_arguments
def run(
    *overrides: str,
    out: Folder = "runs",
    strict: bool = False,
    plugins: Sequence[str] = (),
    config_dir: Folder | Sequence[Folder] = (),
) -> Result:
    """Run one episode, and keep its trace and metrics.

    ```python
    result = quorum.run("n=4", "seed=3", "topology=debate", "agents=negotiator")
    result.outcome, result.metrics["outcome.steps"], result.folder
    ```

    Args:
        overrides: what differs from the defaults, `KEY=VALUE`.
        out: folder for results.
        strict: refuse keys that have no effect on the minds that are chosen.
        plugins: modules that register components.
        config_dir: folders with more options of the groups; one may stand alone.

    Returns:
        The outcome, the metrics, and the folder with the trace.

    Raises:
        UserError: the configuration is not valid, nothing can be written to `out`, a language model refuses to be
            asked, or the code of a plug-in is wrong: the message names its line, the cause is what it raised, and the
            folder of an episode that was under way says `error`.
        KeyboardInterrupt: the user stopped the episode.
    """
    load_plugins(plugins)
    with extension_errors():
        cell = Cell.compose(overrides, paths(config_dir))
        if strict:
            refuse(without_effect(overrides, cell, paths(config_dir)))
    return answer(Result, run_cell(cell, Path(out)))


@checked_arguments
def sweep(
    *words: str,
    out: Folder = "runs",
    name: str | None = None,
    retry_failed: bool = False,
    limit: Annotated[int, Field(ge=0)] | None = None,
    budget_usd: Annotated[float, Field(gt=0)] | None = None,
    budget_tokens: Annotated[int, Field(gt=0)] | None = None,
    budget_calls: Annotated[int, Field(gt=0)] | None = None,
    accept_versions: bool = False,
    strict: bool = False,
    skip_invalid: bool = False,
    plugins: Sequence[str] = (),
    config_dir: Folder | Sequence[Folder] = (),
    progress: bool = False,
    cancel: Cancellation | None = None,
) -> SweepResult:
    """Run a grid of episodes, or what is missing of it: the same call again goes on where it ended.

    ```python
    done = quorum.sweep("n=2,4", "agents=negotiator", "topology=individual,debate", "seed=range(0,5)", name="talk")
    done.failed, done.left
    ```

    The episodes run in worker processes, which import the modules that `plugins` names, and never the program that
    called.

    Args:
        words: the grid, `KEY=VALUES`; also `experiment=NAME`, `engine=NAME`, `engine.KEY=VALUE`.
        out: folder for results.
        name: of the sweep, and of its folder in `out`; None for the usual one.
        retry_failed: run the cells that ended in an error again.
        limit: run so many of the missing cells, at most.
        budget_usd: spend at most this much on the whole sweep, in US dollars.
        budget_tokens: use at most so many tokens in the whole sweep.
        budget_calls: ask language models at most this often in the whole sweep.
        accept_versions: go on with results of other code.
        strict: refuse keys that have no effect on the minds that are chosen.
        skip_invalid: run the others where some cells cannot be run.
        plugins: modules that register components.
        config_dir: folders with more options of the groups; one may stand alone.
        progress: show how far it is on standard error.
        cancel: stops it from another thread.

    Returns:
        The folder, what was run and what is left, the cells that failed, and what was spent.

    Raises:
        UserError: the grid is not valid, or no cell can be run any more, whichever it is.
        KeyboardInterrupt: the user stopped the sweep; the episodes that were under way are finished first.
    """
    request = SweepRequest(
        words=words,
        out=Path(out),
        name=name,
        retry_failed=retry_failed,
        limit=limit,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        accept_versions=accept_versions,
        strict=strict,
        skip_invalid=skip_invalid,
        plugins=tuple(plugins),
        config_dir=paths(config_dir),
        cancel=cancel or Cancellation(),
    )
    return swept(request, progress=progress)


@checked_arguments
def results(folder: Folder) -> Results:
    """Read the results of a sweep, or of any folder of runs.

    ```python
    table = pandas.DataFrame(quorum.results("runs/talk").records())
    ```

    Args:
        folder: of a sweep, the `out` of `run`, or a single run.

    Returns:
        A row a run, what is missing, and what cannot be read.

    Raises:
        UserError: there is no such folder, or it holds no runs.
    """
    runs = Path(folder)
    return alone(runs) if is_run(runs) else answer(Results, read_results(runs))


@checked_arguments
def trace(run: Folder | RunResult | Row, *, plugins: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read the events of a run, whole or as a killed run left it.

    ```python
    events = pandas.DataFrame(quorum.trace(result))
    ```

    Args:
        run: a result of `run`, a row of `results`, or the folder of a run, or the file of its trace.
        plugins: modules of extensions that have events of their own.

    Returns:
        A dictionary for each line of `trace.jsonl`, in order; the guide describes each event (`docs/events.md`).

    Raises:
        UserError: there is no trace, or it is damaged, of another version, or has an event of a missing plug-in.
    """
    load_plugins(plugins)
    folder = run.folder if isinstance(run, RunResult | Row) else Path(run)
    return [stamped.plain() for stamped in read_whole_trace(folder).events]


@checked_arguments
def compare(
    *folders: Folder,
    by: str | Sequence[str] = (),
    across: str | None = None,
    metrics: str | Sequence[str] = (),
    baseline: str | None = None,
    statistic: str = "mean",
    accept_versions: bool = False,
    curves: bool = False,
) -> Comparison:
    """Compare metrics by a factor across another: estimates with 95 % intervals, paired differences.

    ```python
    found = quorum.compare("runs/talk", by="topology", metrics="steps", baseline="individual")
    found.estimates["outcome.steps", "debate", 4].value
    ```

    Args:
        folders: of sweeps, or of runs.
        by: factors whose levels are compared: topology, agents, model, env, arm, or any key of the configuration.
        across: the factor across which they are; None: `n` where it varies; `none`: no factor.
        metrics: what is compared; empty: what the sweeps name, or success, completion and steps.
        baseline: the level from which differences are taken; None: none are.
        statistic: `mean`, `median` or `iqm`.
        accept_versions: pool runs of different versions of the code, or of prompts and plug-ins.
        curves: also the score along the steps, read from the traces.

    Returns:
        Estimates by metric, level and value of `across`, differences, and the runs that count.

    Raises:
        UserError: the runs do not have what is asked for, or cannot be compared.
    """
    if not folders:
        raise UserError("compare(): name the folder of a sweep, or of runs")
    question = Question(names(by), across, names(metrics), baseline, statistic, accept_versions, curves)
    return answer(Comparison, _compare([read_results(Path(folder)) for folder in folders], question))
