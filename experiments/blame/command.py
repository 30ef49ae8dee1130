"""`quorum blame RUN|SWEEP`: one run, or all of a folder, and what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.user_errors import UserError
from quorum.experiments.blame import show
from quorum.experiments.blame.search import Blame, Question, blame
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.run_folder import is_run, no_such_folder, runs_inside

QUANTILES = ("first", "second", "third", "last")
"""Quarters of a run, by the share of its steps."""


@dataclass(frozen=True, slots=True)
class OneRun:
    """What was found of a run.

    Attributes:
        found: it.
    """

    found: Blame

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return self.found.plain()

    def lines(self) -> Iterator[str]:
        """Tell it."""
        return show.lines(self.found)


@dataclass(frozen=True, slots=True)
class ManyRuns:
    """What was found of the runs of a folder.

    Attributes:
        folder: it.
        found: of each failed run that could be blamed.
        successes: names of runs that are none.
        refused: why others could not be blamed, by name.
    """

    folder: Path
    found: tuple[Blame, ...]
    successes: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """How often verdicts name each agent, kind, and quarter of the run."""
        named = [one for one in self.found if one.verdict.agent is not None]
        return {
            "agent": Counter(str(one.verdict.agent) for one in named),
            "kind": Counter(one.verdict.kind for one in named),
            "quarter": Counter(_quarter(one) for one in named),
        }

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "runs": [one.plain() for one in self.found],
            "successes": list(self.successes),
            "refused": dict(self.refused),
            "counts": {what: dict(count.most_common()) for what, count in self.counts.items()},
        }

    def lines(self) -> Iterator[str]:
        """Tell it: a line a run, then the counts."""
        rows = [("run", "agent", "step", "kind", "re-runs", "")]
        for one in self.found:
            verdict = one.verdict
            step = "-" if verdict.t is None else str(verdict.t)
            why = verdict.reason if verdict.agent is None else ""
            rows.append((one.run.name, verdict.agent or "-", step, verdict.kind or "-", str(verdict.reruns), why))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if len(rows) > 1:
            for row in rows:
                yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for what, count in self.counts.items():
            if count:
                yield f"by {what}: " + ", ".join(f"{name} {number}" for name, number in count.most_common())
        nobody = sum(one.verdict.agent is None for one in self.found)
        yield (
            f"{self.folder}: {len(self.found)} failed runs blamed, {nobody} of them on no single decision; "
            f"{len(self.successes)} successes; {len(self.refused)} not to be blamed"
        )
        for name, reason in self.refused:
            yield f"not blamed: {name}: {reason}"


def _quarter(one: Blame) -> str:
    share = (one.verdict.t or 0) / max(one.ending.steps, 1)
    return QUANTILES[min(int(4 * share), 3)]


def blame_folder(folder: Path, question: Question) -> OneRun | ManyRuns:
    """Blame a run, or all failed runs of a folder.

    Raises:
        UserError: there is no such folder, it holds no runs, or none of its runs can be blamed.
    """
    if not folder.exists():
        raise no_such_folder(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: it is a file", f"Give the folder of a run: {folder.parent}.")
    if is_run(folder):
        return OneRun(blame(folder, question))
    runs = [path for path in runs_inside(folder) if PARTIAL not in path.name and not path.is_symlink()]
    if not runs:
        raise UserError(f"{folder}: it holds no runs that are finished", "Give the folder of a run or of a sweep.")
    found, successes, refused, hints = [], [], [], []
    for run in runs:
        try:
            one = blame(run, question)
        except UserError as error:
            refused.append((run.name, error.message.partition("\n")[0]))
            hints.append(error.hint)
            continue
        if one.failed:
            found.append(one)
        else:
            successes.append(run.name)
    if len(refused) == len(runs):
        name, reason = refused[0]
        raise UserError(f"{folder}: none of its {len(runs)} runs can be blamed; {name}: {reason}", hints[0])
    return ManyRuns(folder, tuple(found), tuple(successes), tuple(refused))
