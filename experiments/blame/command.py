"""`quorum blame RUN|SWEEP`: the verdict on one run, or on all failed runs of a folder, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from maeil.user_errors import UserError, choices_hint
from quorum.experiments.blame.decisions import WORDS
from quorum.experiments.blame.judge import PROCEDURES, judge
from quorum.experiments.blame.search import SEARCH, Blame, Claim, Question, blame
from quorum.experiments.blame.shares import Share
from quorum.experiments.blame.verdict import RULES
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.run_folder import is_run, require_folder, runs_inside

METHODS = (SEARCH, RULES, *PROCEDURES)
_QUARTERS = ("first", "second", "third", "last")
_MOST_SHOWN = 8


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
        """Return it as text: a line for each run, then the counts."""
        rows = [("run", "agent", "step", "kind", "re-runs", "")]
        for one in self.found:
            verdict = one.verdict
            step = "-" if verdict.t is None else str(verdict.t)
            why = verdict.reason if verdict.agent is None else ""
            rows.append((one.run.name, verdict.agent or "-", step, verdict.kind or "-", str(verdict.reruns), why))
        if len(rows) > 1:
            yield from _table(rows)
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


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def blame_folder(folder: Path, question: Question) -> Blame | ManyRuns:
    """Blame a run, or all failed runs of a folder, on one budget of calls and money.

    Raises:
        UserError: there is no such method or folder, the folder holds no runs, or none of them can be blamed.
    """
    if question.method not in METHODS:
        hint = choices_hint(question.method, "Methods", METHODS)
        raise UserError(f"--method {question.method}: there is no such method", hint)
    answer = blame if question.method == SEARCH else judge
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
        budget = budget.less(one.calls, one.usd)
        if one.failed:
            found.append(one)
        else:
            successes.append(run.name)
    if len(refused) == len(runs):
        name, reason = refused[0]
        raise UserError(f"{folder}: none of its {len(runs)} runs can be blamed; {name}: {reason}", hints[0])
    return ManyRuns(folder, tuple(found), tuple(successes), tuple(refused))


def lines(blame: Blame) -> Iterator[str]:
    """Return the result for a run as text, line by line."""
    end = blame.ending
    goals = f", {end.reached} of {end.goals} goals" if end.goals else f", score {end.score:g}"
    yield f"{blame.run}: {end.outcome} after {end.steps} steps{goals}"
    if not blame.failed:
        yield f"a success ({blame.question.success.text}): nobody is to blame"
        yield "to ask why it was not better: --success 'steps<=N' or 'score>=X'"
        return
    yield f"verdict: {_verdict(blame)}"
    if blame.question.method == SEARCH:
        yield (
            f"{blame.decisions} decisions, {blame.candidates} of which {blame.reference} would have made differently; "
            f"{blame.reruns} re-runs" + (f", {blame.calls} calls, {blame.usd:.4f} USD" if blame.calls else "")
        )
    elif blame.calls:
        yield f"{blame.calls} calls of {blame.reference}"
    yield from _claims(blame.claims)
    yield from _shares(blame)
    for note in blame.notes:
        yield f"notice: {note}"


def _verdict(blame: Blame) -> str:
    verdict = blame.verdict
    if verdict.agent is None:
        return verdict.reason
    where = verdict.agent if verdict.t is None else f"{verdict.agent} at step {verdict.t}"
    where += "" if verdict.t_hat is None else f" (time {verdict.t_hat:g})"
    if not blame.claims:
        return f"{where}: {verdict.reason} [{verdict.method}]"
    tally = blame.claims[0].flip.tally
    low, high = tally.interval
    how = "exact" if blame.exact else f"{tally.wins} of {tally.draws} draws, 95 % interval {low:.2f} to {high:.2f}"
    sure = f"confidence {verdict.confidence:g}, {how}" if verdict.confidence is not None else "one draw: --draws K"
    return f"{where}: {WORDS.get(verdict.kind, verdict.kind)} [{verdict.kind}] ({sure})"


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    if claims:
        yield "corrections that make it a success, the earliest first:"
    for claim in claims[:_MOST_SHOWN]:
        one = claim.flip.decision
        how = "from then on" if claim.flip.persists else "this turn"
        yield f"  {one.agent} at {one.instant}: {WORDS[claim.kind]} ({how})"
        yield f"    {claim.command}"
    if len(claims) > _MOST_SHOWN:
        yield f"  and {len(claims) - _MOST_SHOWN} more: --json has all"


def _shares(blame: Blame) -> Iterator[str]:
    found = blame.shares
    if found is None or not found.success:
        return
    how = "all coalitions" if found.exact else "sampled, with 95 % intervals"
    yield f"shares of the agents if {blame.reference} decides for them from step {found.at} on ({how}):"
    rows = [("  agent", "success", blame.question.success.measure)]
    for name, success, graded in zip(found.players, found.success, found.graded, strict=True):
        rows.append((f"  {name}", _share(success, exact=found.exact), _share(graded, exact=found.exact)))
    yield from _table(rows)
    for names, command in list(zip(found.sets, blame.sets, strict=True))[:_MOST_SHOWN]:
        yield f"  enough together: {', '.join(names)}"
        yield f"    {command}"
    if len(found.sets) > _MOST_SHOWN:
        yield f"  and {len(found.sets) - _MOST_SHOWN} more sets: --json has all"


def _share(share: Share, *, exact: bool) -> str:
    return f"{share.value:+.3f}" if exact else f"{share.value:+.3f} [{share.low:+.3f}, {share.high:+.3f}]"
