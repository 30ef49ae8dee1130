"""`quorum blame RUN|SWEEP`: the verdict on one run, or on all failed runs of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.episode.episode_folder import PARTIAL
from quorum.episode.substitute import estimated
from quorum.runs.run_folder import is_run, require_folder, runs_inside
from quorum.runs.summary import aligned
from quorum.what_if.blame.answer import SEARCH, Blame, Question
from quorum.what_if.blame.judge import PROCEDURES, judge
from quorum.what_if.blame.search import blame
from quorum.what_if.blame.verdict import RULES
from quorum_base.user_errors import UserError, choices_hint

METHODS = (SEARCH, RULES, *PROCEDURES)
_QUARTERS = ("first", "second", "third", "last")


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """The results for the runs of a folder.

    Attributes:
        folder: the folder.
        found: results of the failed runs.
        successes: names of the other runs.
        refused: names of runs that cannot be blamed, and why.
    """

    folder: Path
    found: tuple[Blame, ...]
    successes: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """How often verdicts name each agent, each kind of mistake, and each quarter of the run."""
        named = [one for one in self.found if one.verdict.agent is not None]
        return {
            "agent": Counter(str(one.verdict.agent) for one in named),
            "kind": Counter(one.verdict.kind for one in named if one.verdict.kind),
            "quarter": Counter(_quarter(one) for one in named),
        }

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "runs": [one.to_json() for one in self.found],
            "successes": list(self.successes),
            "refused": dict(self.refused),
            "counts": {what: dict(count.most_common()) for what, count in self.counts.items()},
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Return it as text: a line for each run, then the counts."""
        rows = [("run", "agent", "step", "kind", "re-runs", "")]
        for one in self.found:
            verdict = one.verdict
            step = "-" if verdict.t is None else str(verdict.t)
            why = verdict.reason if verdict.agent is None else ""
            rows.append((one.run.name, verdict.agent or "-", step, verdict.kind or "-", str(verdict.reruns), why))
        if len(rows) > 1:
            yield from aligned(rows)
        for what, count in self.counts.items():
            if count:
                yield f"by {what}: " + ", ".join(f"{name} {number}" for name, number in count.most_common())
        nobody = sum(one.verdict.agent is None for one in self.found)
        yield (
            f"{self.folder}: {len(self.found)} failed runs, {nobody} of them without a single decisive mistake; "
            f"{len(self.successes)} successes; {len(self.refused)} that cannot be blamed"
        )
        for name, reason in self.refused:
            yield f"reported without blame: {name}: {reason}"


def _quarter(one: Blame) -> str:
    share = (one.verdict.t or 0) / max(one.ending.steps, 1)
    return _QUARTERS[min(int(4 * share), 3)]


def estimate_folder(folder: Path, question: Question) -> dict[str, Any]:
    """Estimate the cost of the search, for a run or for all failed runs of a folder, as JSON-ready data.

    Raises:
        UserError: as `blame_folder`, or the method plays nothing.
    """
    if question.method != SEARCH:
        raise UserError(f"--dry-run --method {question.method}: only the search is estimated", "Set a budget.")
    found = blame_folder(folder, question, partial(blame, dry=True))
    runs = found.found if isinstance(found, ManyRuns) else (found,) if found.failed else ()
    spent = sum((one.spent for one in runs), Spent())
    return {"runs": len(runs), "reruns": sum(one.reruns for one in runs), **estimated(spent)}


def blame_folder(
    folder: Path, question: Question, search: Callable[[Path, Question], Blame] = blame
) -> Blame | ManyRuns:
    """Blame a run, or all failed runs of a folder, on one budget of calls and money.

    Args:
        folder: folder of the run or of the runs.
        question: the question.
        search: answers the question if its method is the search.

    Raises:
        UserError: there is no such method or folder, the folder holds no runs, or none of them can be blamed.
    """
    if question.method not in METHODS:
        hint = choices_hint(question.method, "Methods", METHODS)
        raise UserError(f"--method {question.method}: there is no such method", hint)
    answer = search if question.method == SEARCH else judge
    require_folder(folder)
    if is_run(folder):
        return answer(folder, question)
    runs = [path for path in runs_inside(folder) if PARTIAL not in path.name and not path.is_symlink()]
    if not runs:
        raise UserError(f"{folder}: it holds no finished runs", "Give the folder of a run or of a sweep.")
    found, successes, refused, hints = [], [], [], []
    budget = question.budget
    for run in runs:
        try:
            one = answer(run, replace(question, budget=budget))
        except UserError as error:
            refused.append((run.name, error.message.partition("\n")[0]))
            hints.append(error.hint)
            continue
        budget = budget.less(one.spent)
        if one.failed:
            found.append(one)
        else:
            successes.append(run.name)
    if len(refused) == len(runs):
        name, reason = refused[0]
        raise UserError(f"{folder}: none of its {len(runs)} runs can be blamed; {name}: {reason}", hints[0])
    return ManyRuns(folder, tuple(found), tuple(successes), tuple(refused))
