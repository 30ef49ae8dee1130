"""The question about a run and its answer: the verdict, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quorum.agents.llm.spending import Spent
from quorum.configuration.option_folders import ConfigDir
from quorum.installation.version import __version__
from quorum.runs.summary import aligned
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.decisions import WORDS
from quorum.what_if.blame.ending import FINISHED, Ending, Success
from quorum.what_if.blame.shares import Shares
from quorum.what_if.blame.verdict import LATE, Verdict

SEARCH = "search"
MOST_RERUNS = 2000
"""Default number of episodes to play in memory for a run."""
USUAL_BUDGET = Budget(reruns=MOST_RERUNS)
LEAST = 0.005
"""Minimum probability at which the text shows a correction that did not save the run, or an agent."""
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Question:
    """The question about a run.

    Attributes:
        by: the reference policy; see `Reference.of`.
        success: what counts as a success.
        budget: limits of the search.
        draws: samples of each correction, if models answer or the world has luck.
        margin: steps beyond its limit after which an unfinished run has failed; None: four times its limit.
        since: step from which the reference decides for coalitions.
        config_dir: folders with more options of the groups.
        shares: whether to find the shares of agents and the minimal sets.
        method: `search`, `rules`, or the procedure of a reader.
    """

    by: tuple[str, ...] = ()
    success: Success = FINISHED
    budget: Budget = USUAL_BUDGET
    draws: int = 1
    margin: int | None = None
    since: int = 0
    config_dir: ConfigDir = ()
    shares: bool = True
    method: str = SEARCH


@dataclass(frozen=True, slots=True)
class Blame:
    """The result for a run.

    Attributes:
        run: its folder.
        question: the question.
        reference: name of the reference policy, or of the reader's model; empty for rules.
        ending: the ending of the run itself.
        failed: whether the run is not a success.
        verdict: agent, step and kind, and the posterior.
        deadline: step by which re-runs had to finish; 0 without re-runs.
        decisions: number of decisions in the run.
        candidates: number of decisions that the reference would have made differently.
        shares: shares of agents and minimal sets; None unless requested.
        sets: a command for each set.
        exact: whether re-runs are deterministic, without model calls and without luck in the world.
        notes: caveats.
        reruns: number of episodes played for it, by this command or an earlier one.
        calls: paid answers.
        usd: their cost.
        tokens: number of tokens that they read and wrote.
    """

    run: Path
    question: Question
    reference: str
    ending: Ending
    failed: bool
    verdict: Verdict
    deadline: int = 0
    decisions: int = 0
    candidates: int = 0
    shares: Shares | None = None
    sets: tuple[str, ...] = ()
    exact: bool = True
    notes: tuple[str, ...] = ()
    reruns: int = 0
    calls: int = 0
    usd: float = 0.0
    tokens: int = 0

    @classmethod
    def of_success(cls, run: Path, question: Question, reference: str, ending: Ending) -> Blame:
        """Return the result for a run that is a success."""
        verdict = Verdict(question.method, None, None, reason=f"the run is a success: {question.success.text}")
        return cls(run, question, reference, ending, failed=False, verdict=verdict)

    @property
    def spent(self) -> Spent:
        """Its cost."""
        return Spent(self.calls, self.tokens, self.usd)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "run": self.run.resolve().name,
            "verdict": self.verdict.to_json(),
            "failed": self.failed,
            "success": self.question.success.text,
            "reference": self.reference,
            "ending": self.ending.to_json(),
            "deadline": self.deadline,
            "decisions": self.decisions,
            "candidates": self.candidates,
            "teamwork": self.shares.to_json() if self.shares is not None else None,
            "set_commands": list(self.sets),
            "exact": self.exact,
            "notes": list(self.notes),
            "reruns": self.reruns,
            "calls": self.calls,
            "usd": self.usd,
            "tokens": self.tokens,
            "version": __version__,
        }


def _lines(blame: Blame) -> Iterator[str]:
    """Return the result for a run as text, line by line."""
    end = blame.ending
    goals = f", {end.reached} of {end.goals} goals" if end.goals else f", score {end.score:g}"
    yield f"{blame.run}: {end.outcome} after {end.steps} steps{goals}"
    if not blame.failed:
        yield f"a success ({blame.question.success.text}): nobody is to blame"
        yield "to ask why it was not better, give a stricter success: 'steps<=N' or 'score>=X'"
        return
    yield f"verdict: {_verdict(blame)}"
    if blame.question.method == SEARCH:
        differ = f"{blame.candidates} of which {blame.reference} would have made differently"
        tried = "" if blame.verdict.kind == LATE else f"{blame.decisions} decisions, {differ}; "
        paid = f", {blame.calls} calls, {blame.usd:.4f} USD" if blame.calls else ""
        yield f"{tried}{blame.reruns} re-runs{paid}"
    elif blame.calls:
        yield f"{blame.calls} calls of {blame.reference}"
    yield from _posterior(blame)
    yield from _shares(blame)
    for note in blame.notes:
        yield f"notice: {note}"


def _verdict(blame: Blame) -> str:
    verdict = blame.verdict
    sure = "" if verdict.probability is None else f" (probability {verdict.probability:.2f})"
    if verdict.agent is None:
        return verdict.reason + sure
    where = verdict.agent if verdict.t is None else f"{verdict.agent} at step {verdict.t}"
    where += "" if verdict.t_hat is None else f" (time {verdict.t_hat:g})"
    if not verdict.causes:
        return f"{where}: {verdict.reason} [{verdict.method}]"
    what = f"{WORDS[verdict.kind]} [{verdict.kind}]" if verdict.kind else verdict.reason
    return f"{where}: {what}{sure}"


def _posterior(blame: Blame) -> Iterator[str]:
    verdict = blame.verdict
    if not verdict.agents:
        return
    yield "probability, successes of corrected re-runs and of placebos, and the gain of the correction (95 % interval):"
    shown = [cause for cause in verdict.causes if cause.probability >= LEAST or cause.corrected.wins]
    for cause in shown[:_MOST_SHOWN]:
        names = " with ".join(f"{one}: {WORDS.get(one.kind, one.kind)}" for one in cause.decisions)
        corrected, placebo, (low, high) = cause.corrected, cause.placebo, cause.gain
        yield (
            f"  {cause.probability:.2f}  {names}; {corrected.wins} of {corrected.draws}, "
            f"{placebo.wins} of {placebo.draws}; {low:+.2f} to {high:+.2f}"
        )
        if corrected.wins:
            yield f"    {cause.command}"
    if len(shown) > _MOST_SHOWN:
        yield f"  and {len(shown) - _MOST_SHOWN} more: --json has all"
    if verdict.untried:
        yield f"  {verdict.unknown:.2f}  {verdict.untried} decisions that were not tried"
    if verdict.nobody is not None:
        yield f"  {verdict.nobody:.2f}  none of these"
    if len(likely := [f"{name} {chance:.2f}" for name, chance in verdict.agents.items() if chance >= LEAST]) > 1:
        yield f"  by agent: {', '.join(likely)}"
    if blame.exact:
        yield "each re-run is exact: no agent uses a model and the world has no luck, so one draw is enough"


def _shares(blame: Blame) -> Iterator[str]:
    found = blame.shares
    if found is None or not found.success:
        return
    yield f"shares of the agents if {blame.reference} decides for them from step {found.at} on:"
    rows = [("  agent", "success", blame.question.success.measure)]
    for name, success, graded in zip(found.players, found.success, found.graded, strict=True):
        rows.append((f"  {name}", f"{success:+.3f}", f"{graded:+.3f}"))
    yield from aligned(rows)
    for names, command in list(zip(found.sets, blame.sets, strict=True))[:_MOST_SHOWN]:
        yield f"  enough together: {', '.join(names)}"
        yield f"    {command}"
    if len(found.sets) > _MOST_SHOWN:
        yield f"  and {len(found.sets) - _MOST_SHOWN} more sets: --json has all"
