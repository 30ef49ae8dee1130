"""The functions for Python programs and notebooks. The command line is built from the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from quorum.answers import Comparison, Result, Results
from quorum.comparison import Question
from quorum.comparison import compare as _compare
from quorum.configuration.arguments import checked_arguments
from quorum.configuration.cell import Cell
from quorum.configuration.effects import EffectCheck, refuse
from quorum.configuration.plugins import load_plugins
from quorum.conversions import Folder, answer, names, paths, swept
from quorum.episode.runner import Result as RunResult
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import extension_errors
from quorum.runs import Row, read_results
from quorum.runs.run_folder import read_whole_trace
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
    """Run one episode and save its trace and metrics.

    ```python
    result = quorum.run("n=4", "seed=3", "topology=debate", "agents=negotiator")
    result.outcome, result.metrics["outcome.steps"], result.folder
    ```

    Args:
        overrides: `KEY=VALUE` arguments that change the defaults.
        out: folder for results.
        strict: reject keys without effect on the chosen minds.
        plugins: modules that register components.
        config_dir: one folder or several with more group options.

    Returns:
        The outcome, the metrics, and the folder with the trace.

    Raises:
        UserError: the configuration is not valid, `out` cannot be written, a language model refuses requests, or a
            plugin's code is wrong: the message names its line, the cause is its exception, and the folder of an episode
            that was running says `error`.
        KeyboardInterrupt: the user stopped the episode.
    """
    load_plugins(plugins)
    with extension_errors():
        cell = Cell.compose(overrides, paths(config_dir))
        if strict:
            refuse(EffectCheck(overrides, paths(config_dir)).look_at(cell))
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
    """Run the missing episodes of a grid; repeating the call continues where it stopped.

    ```python
    done = quorum.sweep("n=2,4", "agents=negotiator", "topology=individual,debate", "seed=range(0,5)", name="talk")
    done.failed, done.left
    ```

    The episodes run in worker processes, which import the modules named by `plugins`, but never the calling
    program.

    Args:
        words: the grid as `KEY=VALUES`; also `experiment=NAME`, `engine=NAME`, `engine.KEY=VALUE`.
        out: folder for results.
        name: name of the sweep and of its folder in `out`; None for the default name.
        retry_failed: run cells again that ended in an error.
        limit: maximum number of missing cells to run.
        budget_usd: spend at most this much on the whole sweep, in US dollars.
        budget_tokens: use at most this many tokens in the whole sweep.
        budget_calls: make at most this many model calls in the whole sweep.
        accept_versions: continue a sweep with results of other code versions.
        strict: reject keys without effect on the chosen minds.
        skip_invalid: run the valid cells even if others are invalid.
        plugins: modules that register components.
        config_dir: one folder or several with more group options.
        progress: show the progress on standard error.
        cancel: stops the sweep from another thread.

    Returns:
        The folder, the cells that ran, remain or failed, and the spending.

    Raises:
        UserError: the grid is not valid, or no cell can run any more.
        KeyboardInterrupt: the user stopped the sweep; running episodes finish first.
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
        folder: folder of a sweep or of a single run, or the `out` of `run`.

    Returns:
        One row per run, the missing cells, and the runs that cannot be read.

    Raises:
        UserError: there is no such folder, or it holds no runs.
    """
    return answer(Results, read_results(Path(folder)))


@checked_arguments
def trace(run: Folder | RunResult | Row, *, plugins: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read the events of a run, even if it was killed.

    ```python
    events = pandas.DataFrame(quorum.trace(result))
    ```

    Args:
        run: a result of `run`, a row of `results`, the folder of a run, or its trace file.
        plugins: modules of extensions that define their own events.

    Returns:
        A dictionary for each line of `trace.jsonl`, in order; the guide describes each event (`docs/events.md`).

    Raises:
        UserError: there is no trace, or it is damaged, of another version, or has an event of a missing plugin.
    """
    load_plugins(plugins)
    folder = run.folder if isinstance(run, RunResult | Row) else Path(run)
    return [stamped.to_json() for stamped in read_whole_trace(folder).events]


@checked_arguments
def compare(
    *folders: Folder,
    by: str | Sequence[str] = (),
    across: str | None = None,
    metrics: str | Sequence[str] = (),
    baseline: str | None = None,
    statistic: str = "mean",
    accept_versions: bool = False,
) -> Comparison:
    """Compare metrics by a factor across another: estimates with 95 % intervals, paired differences.

    ```python
    found = quorum.compare("runs/talk", by="topology", metrics="steps", baseline="individual")
    found.estimates["outcome.steps", "debate", 4].value
    ```

    Args:
        folders: folders of sweeps or of runs.
        by: factors whose levels to compare: topology, agents, model, env, arm, or any configuration key.
        across: the factor across which to compare; None: `n` if it varies; `none`: no factor.
        metrics: metrics to compare; empty: those that the sweeps name, or success, completion and steps.
        baseline: the level to compute differences from; None: no differences.
        statistic: `mean`, `median` or `iqm`.
        accept_versions: pool runs of different versions of the code, prompts or plugins.

    Returns:
        Estimates by metric, level and value of `across`, differences, and the included runs.

    Raises:
        UserError: the runs lack a requested factor or metric, or cannot be compared.
    """
    if not folders:
        raise UserError("compare(): name the folder of a sweep, or of runs")
    question = Question(names(by), across, names(metrics), baseline, statistic, accept_versions)
    return answer(Comparison, _compare([read_results(Path(folder)) for folder in folders], question))
