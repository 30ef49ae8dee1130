"""Blame by re-runs: which agent, which step, which kind of mistake, and how sure the verdict is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from maeil.failures import find_failures
from maeil.inside import list_inside
from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.agents.llm.spending import Spent
from quorum.experiments.blame.answer import SEARCH, Blame, Claim, Question
from quorum.experiments.blame.attempts import Attempts, Budget, Journal
from quorum.experiments.blame.decisions import WORDS, Decisions, decisions_of, kind_of
from quorum.experiments.blame.decisive import Decisive, Flip, find_decisive
from quorum.experiments.blame.ending import Ending, ending_of
from quorum.experiments.blame.reference import Reference
from quorum.experiments.blame.reruns import Correction, Reruns
from quorum.experiments.blame.shares import Shares, find_shares
from quorum.experiments.blame.verdict import Verdict
from quorum.experiments.branch.parent import Parent
from quorum.experiments.common.files import require_file, write_all
from quorum.experiments.common.outputs import require_writable
from quorum.experiments.common.version import __version__
from quorum.experiments.episode.call_books import CallBooks, spent_in
from quorum.experiments.episode.episode_folder import EpisodeFolder
from quorum.experiments.results.finished import read_paid
from quorum.experiments.results.run_folder import RunFolder

_SHADOWS, _SHADOW = ".shadows", "shadow"
BLAME = "blame.json"
"""The file in the folder of a run that holds the result."""


def estimate(run: Path, question: Question) -> Blame:
    """Search as `blame` does, in memory and with the simulated model in place of paid ones; nothing is kept.

    What this spends, at their prices, is an estimate of what the search with them would spend.

    Raises:
        UserError: as `blame`.
    """
    parent = Parent.open(run)
    ending = ending_of(parent.episode.trace)
    reference = replace(Reference.of(parent, question.by, question.config_dir), stands_in=True)
    if question.success.met(ending):
        return Blame(run, question, reference.label, ending, failed=False, verdict=_nobody("the run is a success"))
    _check(reference, question, limited=False)
    with TemporaryDirectory() as folder, closing(Journal(Path(folder), {})) as journal:
        return _found(reference, question, ending, journal, lambda _: None)


def blame(run: Path, question: Question, started: Callable[[Correction], None] = lambda _: None) -> Blame:
    """Find the decision that made a run fail, and keep the result in the folder of the run.

    Args:
        run: its folder.
        question: the question.
        started: called before each re-run.

    Raises:
        UserError: the run cannot be branched, the reference cannot take over, or the folder is not writable.
    """
    parent = Parent.open(run)
    ending = ending_of(parent.episode.trace)
    reference = Reference.of(parent, question.by, question.config_dir)
    if question.success.met(ending):
        reason = f"the run is a success: {question.success.text}"
        return Blame(run, question, reference.label, ending, failed=False, verdict=_nobody(reason))
    _check(reference, question)
    folder = parent.episode.folder
    require_file(folder / BLAME, "Move it away; or copy the run to your own folder.")
    if reference.asks:
        require_writable(_paid_folder(parent), str(folder), "Copy the run to your own folder, and blame that.")
    with closing(Journal(folder, _asked(parent, reference))) as journal:
        found = _found(reference, question, ending, journal, started)
    write_all(folder, {BLAME: orjson.dumps(found.plain(), option=orjson.OPT_INDENT_2) + b"\n"})
    return found


def _check(reference: Reference, question: Question, *, limited: bool = True) -> None:
    parent = reference.parent
    if question.since > parent.episode.steps:
        raise UserError(f"--shares-from {question.since}: the run ends after step {parent.episode.steps}")
    if limited and reference.asks and question.budget.unlimited:
        raise UserError(
            f"{parent.run}: its re-runs ask paid language models",
            "Set a limit: --budget-calls N, --budget-tokens N or --budget-usd X. --dry-run estimates what it takes.",
        )


def _asked(parent: Parent, reference: Reference) -> dict[str, Any]:
    """Return everything but the correction that determines how a re-run ends."""
    after = reference.configuration(reference.players)
    meta = RunFolder(parent.episode.folder).meta()
    run = [meta.hash, sorted((meta.files or {}).items())]
    return {"after": after.identity(), "by": reference.label, "run": run, "code": __version__}


def _found(
    reference: Reference, question: Question, ending: Ending, journal: Journal, started: Callable[[Correction], None]
) -> Blame:
    parent = reference.parent
    budget, exact = question.budget, not reference.asks
    decisions, shadow = _asked_of(reference, budget, journal)
    reruns = Reruns(reference, _paid_folder(parent))
    attempts = Attempts(
        play=reruns.play,
        name=reruns.name,
        left=reruns.left,
        success=question.success,
        longest=_longest(parent),
        budget=budget,
        journal=journal,
        expected=_expected(reference) if reference.asks else lambda _: Spent(),
        started=started,
        draws=1 if exact else question.draws,
        shadow=shadow,
    )
    players = reference.players
    decisive = find_decisive(decisions, players, attempts, own=reference.own, exhaustive=exact)
    claims = _claims(reference, decisive.flips)
    since, shares = Instant(question.since), None
    if question.shares:
        shares = find_shares(players, attempts, since, pairs=question.pairs, seed=0)
    sets = shares.sets if shares is not None else ()
    return Blame(
        run=parent.run,
        question=question,
        reference=reference.label,
        ending=ending,
        failed=True,
        verdict=_verdict(claims, decisive, sets, attempts, reference),
        decisions=len(decisions.every),
        candidates=len(decisions.candidates),
        claims=claims,
        shares=shares,
        sets=tuple(_command(reference, Correction(since, names)) for names in sets),
        exact=exact,
        notes=tuple(_notes(reference, decisions, decisive, shares)),
        reruns=len(attempts.known),
        calls=attempts.calls,
        usd=attempts.spent.usd,
        tokens=attempts.spent.tokens,
    )


def _asked_of(reference: Reference, budget: Budget, journal: Journal) -> tuple[Decisions, Spent]:
    """Ask the reference in all turns, and return what it decides and what that has cost, earlier commands included.

    It takes at most half of the budget. Answers are kept next to the re-runs; those of earlier commands, which may have
    been killed or had a smaller budget, are given back.
    """
    if not reference.costs:
        return journal.decisions or decisions_of(reference), Spent()
    most = budget.half
    limited = reference.within(most.usd, most.tokens, most.calls)
    if not reference.on_disk:
        books = CallBooks(limited, None)
        asked, spending = decisions_of(reference, books), books.spending
        return asked, Spent(spending.calls, spending.tokens, spending.usd)
    kept = _paid_folder(reference.parent) / _SHADOWS / journal.question
    before = [kept / name for name in list_inside(kept.parent, kept.name)]
    if (decisions := journal.decisions) is None:
        with closing(CallBooks(limited, EpisodeFolder(kept, _SHADOW).path, before)) as books:
            decisions = decisions_of(reference, books)
        if decisions.asked:
            journal.keep(decisions)
    attempts = [kept / name for name in list_inside(kept.parent, kept.name)]
    return decisions, sum(map(read_paid, attempts), Spent())


def _paid_folder(parent: Parent) -> Path:
    """Return the folder, next to the run, that keeps its paid re-runs."""
    folder = parent.episode.folder.resolve()
    return folder.with_name(f"{folder.name}.blame")


def _longest(parent: Parent) -> int:
    """Return the steps that count for an unfinished episode: the limit of its board, else its own steps."""
    limit = parent.episode.trace.start.board.get("max_steps")
    return limit if isinstance(limit, int) else parent.episode.steps


def _expected(reference: Reference) -> Callable[[Correction], Spent]:
    """Return a function that estimates what a re-run spends: what the run itself has from that branch point on."""
    thoughts = reference.parent.episode.story.thoughts
    asked = [(thought.start.t, thought.start.t_hat, spent_in(thought.calls)) for thought in thoughts]

    def after(correction: Correction) -> Spent:
        return sum((spent for t, t_hat, spent in asked if correction.at.has_come(t, t_hat)), Spent())

    return after


def _command(reference: Reference, correction: Correction, draws: int = 1) -> str:
    config_dir = str(reference.config_dir) if reference.config_dir is not None else None
    return correction.command(str(reference.parent.run), reference.edits(correction.minds), config_dir, draws)


def _claims(reference: Reference, flips: Sequence[Flip]) -> tuple[Claim, ...]:
    if not flips:
        return ()
    failures = find_failures(reference.parent.episode.trace)
    idle = reference.parent.episode.world().idle.action
    names = reference.participants
    return tuple(
        Claim(
            flip, kind_of(flip.decision, failures, names, idle), _command(reference, flip.correction, flip.tally.draws)
        )
        for flip in flips
    )


def _nobody(reason: str, attempts: Attempts | None = None) -> Verdict:
    reruns, calls = (len(attempts.known), attempts.calls) if attempts is not None else (0, 0)
    return Verdict(SEARCH, None, None, reruns=reruns, calls=calls, reason=reason)


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
        how = "decides for it from then on" if first.flip.persists else "decides this turn"
        reason = f"it {WORDS[first.kind]}; the run succeeds when {reference.label} {how}"
        tally = first.flip.tally
        sure = tally.wins / tally.draws if tally.draws > 1 or not reference.asks else None
        return Verdict(
            SEARCH, one.agent, one.t, one.t_hat, first.kind, sure, len(attempts.known), attempts.calls, reason
        )
    if decisive.why_cut:
        return _nobody(f"the budget ended the search: {decisive.why_cut}", attempts)
    if sets and len(sets[0]) > 1:
        return _nobody(f"no single agent: {' and '.join(sets[0])} must be corrected together", attempts)
    if decisive.saved:
        return _nobody(f"no single decision: the run succeeds when {reference.label} decides for all", attempts)
    return _nobody(f"not the decisions of the team, as {reference.label} does not save the run either", attempts)


def _notes(reference: Reference, decisions: Decisions, decisive: Decisive, shares: Shares | None) -> list[str]:
    found = []
    limit, bound = (reference.parent.episode.trace.start.board.get(key) for key in ("max_steps", "lower_bound"))
    if isinstance(limit, int) and isinstance(bound, int) and bound > limit:
        found.append(f"no team could finish: the board needs at least {bound} steps, and the limit is {limit}")
    candidates = len(decisions.candidates)
    if not candidates:
        own = reference.own
        why = "every agent did what a fresh copy of its mind does" if own else "it would have decided the same"
        found.append(f"{reference.label} would have changed nothing: {why}; try --reference MIND")
    elif not reference.own and 2 * candidates > len(decisions.every):
        found.append(
            f"{reference.label} would have decided {candidates} of {len(decisions.every)} turns differently: the "
            "earliest correction that flips need not be the mistake; --reference self finds where a mind deviates from "
            "itself"
        )
    if not decisions.asked:
        found.append(f"the budget ended before {reference.label} was asked about all turns")
    if decisive.why_cut:
        found.append(f"the search for a decision ended early: {decisive.why_cut}")
    if decisive.skipped:
        found.append(
            f"{decisive.skipped} decisions after the last one at which {reference.label} still saves the run were not "
            "tested, as they cannot be decisive unless the run can be saved later again"
        )
    if reference.asks and shares is not None and shares.success:
        found.append("the shares rest on one draw of each coalition")
    if decisive.left:
        found.append(f"{decisive.left} later candidates were not tested: they cannot be the earliest that flips")
    if shares is not None and shares.why_cut:
        found.append(f"the shares of the agents are not known: {shares.why_cut}")
    return found
