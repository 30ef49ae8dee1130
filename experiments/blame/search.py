"""Blames a run: which agent, which step, which kind of mistake, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from maeil.failures import find_failures
from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.blame.attempts import Attempts, Budget
from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.decisions import Decisions, decisions_of
from quorum.experiments.blame.decisive import Decisive, Flip, find_decisive
from quorum.experiments.blame.ending import COMPLETED, Ending, Success, ending_of
from quorum.experiments.blame.journal import Journal
from quorum.experiments.blame.kinds import WORDS, kind_of
from quorum.experiments.blame.reference import Reference
from quorum.experiments.blame.rerun import Reruns
from quorum.experiments.blame.teamwork import Teamwork, find_teamwork
from quorum.experiments.blame.verdict import Verdict
from quorum.experiments.branch.parent import Parent
from quorum.experiments.common.files import write_whole
from quorum.experiments.common.version import __version__
from quorum.experiments.results.run_folder import RunFolder

METHOD = "search"
BLAME = "blame.json"
"""The file in the folder of a run that holds what was found."""
MOST_RERUNS = 2000
"""Episodes that are played in memory for a run, where nothing else is said."""
USUAL_BUDGET = Budget(reruns=MOST_RERUNS)
PAIRS = 10
"""Pairs of orders that are drawn for shares of large teams."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a run.

    Attributes:
        by: who decides in the place of others; see `Reference.of`.
        success: what counts as a success.
        budget: what the answer may take.
        draws: samples of what follows a correction, where models are asked that draw their answers.
        since: step from which on the reference decides for coalitions.
        pairs: pairs of orders that are drawn for shares of large teams.
        config_dir: folder with more options of the groups.
        shares: whether the shares of agents and the sets are looked for.
    """

    by: tuple[str, ...] = ()
    success: Success = COMPLETED
    budget: Budget = USUAL_BUDGET
    draws: int = 1
    since: int = 0
    pairs: int = PAIRS
    config_dir: Path | None = None
    shares: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """A flip as it is told.

    Attributes:
        flip: it.
        kind: of the mistake.
        command: that plays it again.
    """

    flip: Flip
    kind: str
    command: str

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        one = self.flip.decision
        where = {"agent": one.agent, "t": one.t, "t_hat": one.t_hat, "kind": self.kind}
        tally = self.flip.tally
        low, high = tally.interval
        drawn = {"draws": tally.draws, "wins": tally.wins, "low": low, "high": high} if tally.draws > 1 else {}
        return {**where, "persists": self.flip.persists, **drawn, "command": self.command}


@dataclass(frozen=True, slots=True)
class Blame:
    """What was found of a run.

    Attributes:
        run: its folder.
        question: that was asked.
        reference: who decided in the place of others.
        ending: of the run itself.
        failed: whether it is no success.
        verdict: agent, step and kind.
        decisions: that were made in it.
        candidates: those that the reference would have made otherwise.
        decisive: what the search for a single mistake has found.
        claims: each correction of one decision that flips, in their order.
        teamwork: shares and sets; None where they were not looked for.
        sets: a command for each set.
        exact: whether what goes on from an instant follows from it: no model is asked that draws its answers.
        notes: what is to be known of all this.
        reruns: episodes that were played for it, now or before.
        calls: answers that were paid for.
        usd: what they have cost.
    """

    run: Path
    question: Question
    reference: str
    ending: Ending
    failed: bool
    verdict: Verdict
    decisions: int = 0
    candidates: int = 0
    decisive: Decisive | None = None
    claims: tuple[Claim, ...] = ()
    teamwork: Teamwork | None = None
    sets: tuple[str, ...] = ()
    exact: bool = True
    notes: tuple[str, ...] = ()
    reruns: int = 0
    calls: int = 0
    usd: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "run": self.run.resolve().name,
            "verdict": self.verdict.plain(),
            "failed": self.failed,
            "success": self.question.success.text,
            "reference": self.reference,
            "ending": self.ending.plain(),
            "decisions": self.decisions,
            "candidates": self.candidates,
            "flips": [claim.plain() for claim in self.claims],
            "teamwork": self.teamwork.plain() if self.teamwork is not None else None,
            "set_commands": list(self.sets),
            "exact": self.exact,
            "notes": list(self.notes),
            "reruns": self.reruns,
            "calls": self.calls,
            "usd": self.usd,
            "version": __version__,
        }


def blame(run: Path, question: Question, told: Callable[[Correction], None] = lambda _: None) -> Blame:
    """Find out which decision made a run fail. What is found is kept in its folder.

    Args:
        run: its folder.
        question: what is asked.
        told: called before each re-run.

    Raises:
        UserError: the run cannot be branched, the reference cannot take over, or nothing can be written there.
    """
    parent = Parent.open(run)
    ending = ending_of(parent.episode.trace)
    reference = Reference.of(parent, question.by, question.config_dir)
    if question.success.met(ending):
        reason = f"the run is a success: {question.success.text}"
        return Blame(run, question, reference.label, ending, failed=False, verdict=_nobody(reason))
    _check(parent, reference, question)
    with Journal(parent.episode.folder, _asked(parent, reference)) as journal:
        found = _found(reference, question, ending, journal, told)
    write_whole(parent.episode.folder / BLAME, orjson.dumps(found.plain(), option=orjson.OPT_INDENT_2) + b"\n")
    return found


def _check(parent: Parent, reference: Reference, question: Question) -> None:
    if question.since > parent.episode.steps:
        raise UserError(f"--from {question.since}: the run ends after step {parent.episode.steps}")
    if reference.asks and question.budget.calls is None and question.budget.usd is None:
        raise UserError(
            f"{parent.run}: to play on from its instants asks language models that are paid for",
            "Say how much that may take: --budget-calls N or --budget-usd X.",
        )


def _asked(parent: Parent, reference: Reference) -> dict[str, Any]:
    """Return all that decides how a re-run ends beside its correction."""
    after = reference.configuration(reference.players)
    meta = RunFolder(parent.episode.folder).meta()
    run = [meta.hash, sorted((meta.files or {}).items())]
    return {"after": after.identity(), "by": reference.label, "run": run, "code": __version__}


def _found(
    reference: Reference, question: Question, ending: Ending, journal: Journal, told: Callable[[Correction], None]
) -> Blame:
    parent = reference.parent
    budget, exact = question.budget, not reference.asks
    paid = (budget.calls, budget.usd) if reference.costs else (None, None)
    decisions = journal.decisions
    if decisions is None or not decisions.asked:
        decisions = decisions_of(reference, *paid)
        if reference.costs and decisions.asked:
            journal.keep(decisions)
    attempts = Attempts(
        play=Reruns(reference, _beside(parent)).play,
        success=question.success,
        longest=_longest(parent),
        budget=budget,
        journal=journal,
        expected=_expected(parent) if reference.asks else lambda _: 0,
        shadow_calls=decisions.calls,
        shadow_usd=decisions.usd,
        told=told,
        draws=1 if exact else question.draws,
    )
    players = reference.players
    decisive = find_decisive(decisions, players, attempts, own=reference.own, exhaustive=exact)
    claims = _claims(parent, reference, decisive.flips)
    teamwork = None
    if question.shares:
        teamwork = find_teamwork(players, attempts, Instant(question.since), pairs=question.pairs, seed=0)
    sets = teamwork.sets if teamwork is not None else ()
    since = Instant(question.since)
    return Blame(
        run=parent.run,
        question=question,
        reference=reference.label,
        ending=ending,
        failed=True,
        verdict=_verdict(claims, decisive, sets, attempts, reference),
        decisions=len(decisions.every),
        candidates=len(decisions.candidates),
        decisive=decisive,
        claims=claims,
        teamwork=teamwork,
        sets=tuple(_command(reference, Correction(since, names)) for names in sets),
        exact=exact,
        notes=tuple(_notes(parent, reference, decisions, decisive, teamwork)),
        reruns=len(attempts.known),
        calls=attempts.calls,
        usd=attempts.usd,
    )


def _beside(parent: Parent) -> Path:
    """Return the folder beside a run in which re-runs are kept that were paid for."""
    folder = parent.episode.folder.resolve()
    return folder.with_name(f"{folder.name}.blame")


def _longest(parent: Parent) -> int:
    """Return the steps that an unfinished episode is counted with: the limit of its board, else those it has taken."""
    limit = parent.episode.trace.start.board.get("max_steps")
    return limit if isinstance(limit, int) else parent.episode.steps


def _expected(parent: Parent) -> Callable[[Correction], int]:
    """Return what tells how many answers a re-run will ask for: as many as the run itself from that instant on."""
    asked = [(thought.start.t, thought.start.t_hat, len(thought.calls)) for thought in parent.episode.story.thoughts]

    def after(correction: Correction) -> int:
        return sum(calls for t, t_hat, calls in asked if correction.at.has_come(t, t_hat))

    return after


def _command(reference: Reference, correction: Correction, draws: int = 1) -> str:
    config_dir = str(reference.config_dir) if reference.config_dir is not None else None
    return correction.command(str(reference.parent.run), reference.edits(correction.minds), config_dir, draws)


def _claims(parent: Parent, reference: Reference, flips: Sequence[Flip]) -> tuple[Claim, ...]:
    if not flips:
        return ()
    failures = find_failures(parent.episode.trace)
    idle = parent.episode.world().idle.action
    names = reference.participants
    return tuple(
        Claim(
            flip, kind_of(flip.decision, failures, names, idle), _command(reference, flip.correction, flip.tally.draws)
        )
        for flip in flips
    )


def _nobody(reason: str, attempts: Attempts | None = None) -> Verdict:
    reruns, calls = (len(attempts.known), attempts.calls) if attempts is not None else (0, 0)
    return Verdict(METHOD, None, None, reruns=reruns, calls=calls, reason=reason)


def _verdict(
    claims: Sequence[Claim],
    decisive: Decisive,
    sets: Sequence[tuple[str, ...]],
    attempts: Attempts,
    reference: Reference,
) -> Verdict:
    if claims:
        first = claims[0]
        one = first.flip.decision
        how = "decides for it from there on" if first.flip.persists else "decides this turn"
        reason = f"it {WORDS[first.kind]}; the run succeeds when {reference.label} {how}"
        tally = first.flip.tally
        sure = tally.wins / tally.draws if tally.draws > 1 or not reference.asks else None
        return Verdict(
            METHOD, one.agent, one.t, one.t_hat, first.kind, sure, len(attempts.known), attempts.calls, reason
        )
    if decisive.why_cut:
        return _nobody(f"the budget ended the search: {decisive.why_cut}", attempts)
    if sets and len(sets[0]) > 1:
        return _nobody(f"no single agent: {' and '.join(sets[0])} have to be corrected together", attempts)
    if decisive.saved:
        return _nobody(f"no single decision: the run succeeds when {reference.label} decides for all", attempts)
    return _nobody(
        f"not the team's decisions, as far as {reference.label} knows better: it does not save the run", attempts
    )


def _notes(
    parent: Parent,
    reference: Reference,
    decisions: Decisions,
    decisive: Decisive,
    teamwork: Teamwork | None,
) -> list[str]:
    found = []
    limit, bound = (parent.episode.trace.start.board.get(key) for key in ("max_steps", "lower_bound"))
    if isinstance(limit, int) and isinstance(bound, int) and bound > limit:
        found.append(f"no team could finish: the board needs {bound} steps at least, and the limit is {limit}")
    candidates = len(decisions.candidates)
    if not candidates:
        own = reference.own
        why = "every agent did what a fresh copy of its mind does" if own else "it would have decided all turns alike"
        found.append(f"{reference.label} would have changed nothing: {why}; ask another one: --by MIND")
    elif not reference.own and 2 * candidates > len(decisions.every):
        found.append(
            f"{reference.label} would have decided {candidates} of {len(decisions.every)} turns otherwise: the "
            "earliest correction that flips need not be the mistake; --by self asks where a mind left its own ways"
        )
    if not decisions.asked:
        found.append(f"the budget ended before {reference.label} was asked of all turns")
    if decisive.why_cut:
        found.append(f"the search for a decision ended early: {decisive.why_cut}")
    if decisive.skipped:
        found.append(
            f"{decisive.skipped} decisions behind the last one at which {reference.label} still saves the run were not "
            "tested: it is assumed that none of them is decisive"
        )
    if reference.asks and teamwork is not None and teamwork.success:
        found.append("the shares rest on one draw of each coalition")
    if decisive.left:
        found.append(f"{decisive.left} later candidates were not tested: they cannot be the earliest that flips")
    if teamwork is not None and teamwork.why_cut:
        found.append(f"the shares of the agents are not known: {teamwork.why_cut}")
    return found
