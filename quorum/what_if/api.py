"""Methods of `quorum.Result` and `quorum.Results` that branch runs and blame them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from quorum.configuration.arguments import checked_arguments
from quorum.configuration.budgets import require_budgets
from quorum.configuration.plugins import load_plugins
from quorum.conversions import Folder, answer, names, paths, swept
from quorum.episode import runner
from quorum.installation.extension_errors import extension_errors
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.what_if.blame.answer import MOST_RERUNS, SEARCH, Blame
from quorum.what_if.blame.answer import Question as BlameQuestion
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.command import ManyRuns, blame_folder
from quorum.what_if.blame.ending import Success
from quorum.what_if.branch.branches import BranchGrid
from quorum.what_if.branch.change import edits_of_minds, instant_of, read_change
from quorum.what_if.branch.parent import Parent

At = Annotated[int, Field(ge=0)] | str
"""A branch point: a step, or `STEP:TIME`."""

_log = logging.getLogger(__name__)


class _Runs:
    """A folder of runs, with the method that finds the cause of their failure."""

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
        """Find the decision that made a run fail, as `quorum blame` does; in a folder, for each failed run.

        ```python
        print(result.blame(method="rules"))
        ```

        Args:
            method: `search` by re-runs, `rules`, or the procedure of a reader, such as `reader:bisection`.
            reference: the mind or model that corrects decisions, or `self`; empty: the usual one.
            success: what counts as a success: `success`, `steps<=60` or `score>=3`.
            margin: steps beyond its limit after which an unfinished run has failed; None: four times its limit.
            shares: whether to divide the failure among the agents.
            shares_from: step from which the reference decides for the shares.
            draws: samples of each correction, if the team or the reference uses models.
            budget_reruns: play at most this many episodes of a run.
            budget_calls: make at most this many calls of paid models.
            budget_usd: spend at most this much, in US dollars.
            plugins: modules that register components.
            config_dir: a folder, or several, with more options of the groups.

        Returns:
            The verdict on a run, or the verdicts on all failed runs; `print` shows either as the verb does.

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


class Result(_Runs):
    """Methods of one run."""

    __slots__ = ()

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
    ) -> Any:
        """Continue the run from a chosen step with something changed, as `quorum branch` does.

        ```python
        other = result.branch(at=12, mind="agent_2=heuristic")
        ```

        Args:
            words: what changes from the branch point on, `KEY=VALUE`.
            at: the branch point, a step or `STEP:TIME`; None with `drop`: the thought that sends the message.
            mind: `AGENT=MIND`: other minds.
            say: `AGENT:TEXT`: what participants say in their next turn.
            plan: `AGENT:ACTIONS`: what agents plan next, as JSON.
            drop: ids of messages that are not delivered.
            world: a change of the world, as JSON.
            out: folder for results.
            plugins: modules that register components.
            config_dir: a folder, or several, with more options of the groups.

        Returns:
            The branch. Notices that the verb prints are logged as warnings.

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
            _log.warning("%s had no effect: no turn for it came", what)
        return answer(type(self), result)


class Results(_Runs):
    """Methods of the runs of one folder."""

    __slots__ = ()

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
            words: a grid of what changes from the branch points on, `KEY=VALUES`.
            at: the branch points, each a step or `STEP:TIME`.
            mind: as for `Result.branch`; so are `say`, `plan`, `drop` and `world`.
            say: see `mind`.
            plan: see `mind`.
            drop: see `mind`.
            world: see `mind`.
            draws: samples of each branch.
            control: whether each run also continues without a change.
            out: folder for results.
            name: name of the sweep, and of its folder in `out`; None for the usual one.
            budget_usd: spend at most this much on the whole sweep, in US dollars. Paid models need one of the budgets.
            budget_tokens: use at most this many tokens in the whole sweep.
            budget_calls: make at most this many calls of language models in the whole sweep.
            plugins: modules that register components.
            config_dir: a folder, or several, with more options of the groups.
            progress: show progress on standard error.

        Returns:
            The sweep; `quorum.compare(result.folder)` gives the gain of each change.

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
