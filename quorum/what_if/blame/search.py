"""Blame by re-runs: which agent, which step, which kind of mistake, and how certain the verdict is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import orjson

from maeil.outcomes import Outcome
from maeil.trace import Instant
from maeil.world import DrawsLots, Limited, closing_world, keeps_luck_apart
from quorum.agents.llm.spending import Spent
from quorum.episode.call_ledger import CallLedger, spent_in
from quorum.episode.episode_folder import EpisodeFolder
from quorum.installation.version import __version__
from quorum.runs.finished import read_paid
from quorum.runs.run_folder import RunFolder
from quorum.storage.files import require_file, write_all
from quorum.storage.outputs import require_writable
from quorum.what_if.blame.answer import SEARCH, Blame, Question
from quorum.what_if.blame.attempts import Attempts, Budget, Journal
from quorum.what_if.blame.decisions import SUSPICION, WORDS, Decision, Decisions, decisions_of, kind_of
from quorum.what_if.blame.ending import FINISHED, Ending, ending_of
from quorum.what_if.blame.reference import Reference
from quorum.what_if.blame.reruns import Correction, Reruns
from quorum.what_if.blame.shares import Shares, find_shares
from quorum.what_if.blame.trials import Experiment
from quorum.what_if.blame.verdict import LATE, Blamed, Cause, Verdict
from quorum.what_if.branch.parent import Parent
from quorum.what_if.failures import find_failures
from quorum_base.inside import list_inside
from quorum_base.user_errors import UserError

_SHADOWS, _SHADOW = ".shadows", "shadow"
BLAME = "blame.json"
"""File in the folder of a run that holds the result."""
LATEST = 4
"""A run that does not finish within this many times its limit has failed."""


def blame(
    run: Path, question: Question, started: Callable[[Correction], None] = lambda _: None, *, dry: bool = False
) -> Blame:
    """Find the decision that made a run fail, and save the result in the folder of the run.

    Args:
        run: its folder.
        question: the question.
        started: called before each re-run.
        dry: whether to search in memory, with the simulated model instead of paid models, at their prices, and save
            nothing: the result estimates the cost.

    Raises:
        UserError: the run cannot be branched, its world has no goals and the question no bound, the reference cannot
            take over, or the folder is not writable.
    """
    parent = Parent.open(run)
    ending = ending_of(parent.episode.trace)
    reference = replace(Reference.of(parent, question.by, question.config_dir), stands_in=dry)
    if question.success.met(ending):
        return Blame.of_success(run, question, reference.label, ending)
    _check(reference, question, ending, limited=not dry)
    if dry:
        return _found(reference, question, ending, Journal(None, {}), started)
    folder = parent.episode.folder
    require_file(folder / BLAME, "Move it away, or copy the run to your own folder.")
    if reference.asks:
        require_writable(_paid_folder(parent), str(folder), "Copy the run to your own folder, and blame the copy.")
    with closing(Journal(folder, _asked(parent, reference))) as journal:
        found = _found(reference, question, ending, journal, started)
    write_all(folder, {BLAME: orjson.dumps(found.to_json(), option=orjson.OPT_INDENT_2) + b"\n"})
    return found


def _check(reference: Reference, question: Question, ending: Ending, *, limited: bool) -> None:
    parent = reference.parent
    if question.success == FINISHED and not ending.goals and ending.outcome != Outcome.FAILURE:
        raise UserError(
            f"{parent.run}: its outcome is {ending.outcome}, and its world has no goals",
            "To ask why its score was not better: --success 'score>=X'.",
        )
    if question.since > parent.episode.steps:
        raise UserError(f"--shares-from {question.since}: the run ends after step {parent.episode.steps}")
    if question.margin is not None and question.success != FINISHED:
        raise UserError(f"--margin {question.margin}: {question.success.text} has its own bound")
    if limited and reference.asks and question.budget.unlimited:
        raise UserError(
            f"{parent.run}: its re-runs call paid language models",
            "Set a limit: --budget-calls N, --budget-tokens N or --budget-usd X. --dry-run estimates the cost.",
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
    budget, limit, deadline = question.budget, parent.configuration.max_steps, _deadline(reference, question)
    decisions, shadow = _asked_of(reference, budget, journal)
    reruns = Reruns(reference, _paid_folder(parent), (f"max_steps={deadline}",) if deadline > limit else ())
    attempts = Attempts(
        play=reruns.play,
        name=reruns.name,
        left=reruns.left,
        success=question.success,
        longest=deadline,
        budget=budget,
        journal=journal,
        expected=expected_spending(reference, deadline - limit) if reference.asks else lambda _: Spent(),
        started=started,
        shadow=shadow,
    )
    asks = _asks_models(reference)
    with closing_world(parent.episode.world()) as world:  # the re-runs make their own worlds
        idle = world.idle
    lots = isinstance(world, DrawsLots)
    kinds = partial(
        kind_of,
        failures=find_failures(parent.episode.trace),
        agents=reference.participants,
        idle=idle.action,
    )
    experiment = Experiment(
        decisions,
        reference.players,
        attempts,
        order=sorted(decisions.candidates, key=lambda one: SUSPICION.index(kinds(one))),
        idle=idle.model_dump(mode="json"),
        draws=question.draws if asks or lots else 1,
        luck=lots and question.draws > 1,
        exact=not asks and not lots,
        costs=reference.asks,
    )
    thoughts = parent.episode.story.thoughts
    goes_on = thoughts and deadline > limit and ending.outcome not in (Outcome.FAILURE, Outcome.ENDED)
    last = Instant(thoughts[-1].start.t, thoughts[-1].start.t_hat) if goes_on else None
    experiment.run(last)
    since, shares = Instant(question.since), None
    if question.shares and experiment.late is None:
        shares = find_shares(reference.players, attempts, since)
    sets = shares.sets if shares is not None else ()
    return Blame(
        run=parent.run,
        question=question,
        reference=reference.label,
        ending=ending,
        failed=True,
        verdict=verdict_of(experiment, sets, reruns, kinds, limit),
        deadline=deadline,
        decisions=len(decisions.every),
        candidates=len(decisions.candidates),
        shares=shares,
        sets=tuple(reruns.command(Correction(since, names)) for names in sets),
        exact=experiment.exact,
        notes=tuple(_notes(reference, decisions, experiment, shares)),
        reruns=len(attempts.known),
        calls=attempts.spent.answers,
        usd=attempts.spent.usd,
        tokens=attempts.spent.tokens,
    )


def _deadline(reference: Reference, question: Question) -> int:
    """Return the step by which the task must be finished: beyond the limit of the run, if its world allows that."""
    limit = reference.parent.configuration.max_steps
    if question.success != FINISHED or not isinstance(reference.parent.episode.world(), Limited):
        return limit
    return LATEST * limit if question.margin is None else limit + question.margin


def _asks_models(reference: Reference) -> bool:
    """Whether the team or the reference uses a model, simulated or not, so that draws of a re-run differ."""
    return reference.parent.configuration.uses_models or reference.configuration(reference.players).uses_models


def _asked_of(reference: Reference, budget: Budget, journal: Journal) -> tuple[Decisions, Spent]:
    """Let the reference decide in all turns, and return its decisions and their cost, including earlier commands.

    It spends at most half of the budget. Answers are kept next to the re-runs; those of earlier commands, which may
    have been killed or had a smaller budget, are reused.
    """
    if not reference.costs:
        return journal.decisions or decisions_of(reference), Spent()
    most = budget.half
    limited = reference.within(most.usd, most.tokens, most.calls)
    if not reference.on_disk:
        books = CallLedger(limited, None)
        asked, spending = decisions_of(reference, books), books.spending
        return asked, Spent(spending.calls, spending.tokens, spending.usd)
    kept = _paid_folder(reference.parent) / _SHADOWS / journal.question
    before = [kept / name for name in list_inside(kept.parent, kept.name)]
    if (decisions := journal.decisions) is None:
        with closing(CallLedger(limited, EpisodeFolder(kept, _SHADOW).path, before)) as books:
            decisions = decisions_of(reference, books)
        if decisions.asked:
            journal.keep(decisions)
    attempts = [kept / name for name in list_inside(kept.parent, kept.name)]
    return decisions, sum(map(read_paid, attempts), Spent())


def _paid_folder(parent: Parent) -> Path:
    """Return the folder next to the run that keeps its paid re-runs."""
    folder = parent.episode.folder.resolve()
    return folder.with_name(f"{folder.name}.blame")


def expected_spending(reference: Reference, later: int) -> Callable[[Correction], Spent]:
    """Return a function that estimates the cost of a re-run.

    It is the cost of the run itself from the branch point on, plus that of a mean step for each of the `later` steps
    beyond its limit.
    """
    episode = reference.parent.episode
    asked = [(thought.start.t, thought.start.t_hat, spent_in(thought.calls)) for thought in episode.story.thoughts]
    whole, share = sum((spent for _, _, spent in asked), Spent()), later / max(episode.steps, 1)
    more = Spent(ceil(share * whole.answers), ceil(share * whole.tokens), share * whole.usd)

    def after(correction: Correction) -> Spent:
        return sum((spent for t, t_hat, spent in asked if correction.at.has_come(t, t_hat)), more)

    return after


def verdict_of(
    experiment: Experiment,
    sets: Sequence[tuple[str, ...]],
    reruns: Reruns,
    kinds: Callable[[Decision], str],
    limit: int,
) -> Verdict:
    """Return the verdict of an experiment.

    Args:
        experiment: the experiment, as far as it was played.
        sets: minimal sets of agents that save the run.
        reruns: return the command of each correction.
        kinds: names the kind of a mistake.
        limit: step limit of the run.
    """
    attempts, label = experiment.attempts, reruns.reference.label
    nothing = Verdict(SEARCH, None, None, reruns=len(attempts.known), calls=attempts.spent.answers)
    if experiment.late is not None:
        late = f"late: the run would have finished after {experiment.late} steps, and its limit is {limit}"
        return replace(nothing, kind=LATE, reason=f"{late}; to ask why it was late: --margin 0")
    *chances, none = experiment.posterior()
    nobody = None if experiment.why_cut else none
    causes, unknown, untried, agents = [], 0.0, 0, dict.fromkeys(reruns.reference.players, 0.0)
    for suspect, chance in zip(experiment.suspects, chances, strict=True):
        if len(who := {one.agent for one in suspect.decisions}) == 1:
            agents[who.pop()] += chance
        corrected, placebo, correction = suspect.corrected, suspect.placebo, suspect.correction()
        if not corrected.draws or correction is None:
            unknown, untried = unknown + chance, untried + 1
        else:
            blamed = tuple(Blamed(one.agent, one.t, one.t_hat, kinds(one)) for one in suspect.decisions)
            command = reruns.command(replace(correction, luck=experiment.luck), experiment.draws)
            causes.append(Cause(blamed, chance, corrected, placebo, command))
    causes.sort(key=lambda one: (-round(one.probability, 6), one.decisions[0].t, one.decisions[0].t_hat))
    found = replace(nothing, causes=tuple(causes), agents=agents, nobody=nobody, untried=untried, unknown=unknown)
    best = causes[0] if causes else None
    if best is not None and best.probability > max(none, unknown):
        names = " and ".join(map(str, best.decisions))
        if len(best.decisions) > 1:
            reason = f"no single decision: {names} must be corrected together"
            return replace(found, probability=best.probability, reason=reason)
        one = best.decisions[0]
        reason = f"it {WORDS[one.kind]}; the run succeeds when {label} decides this turn"
        return replace(
            found, agent=one.agent, t=one.t, t_hat=one.t_hat, kind=one.kind, probability=best.probability, reason=reason
        )
    agent, chance = max(agents.items(), key=lambda pair: pair[1])
    sure = chance > 0.5 and not experiment.why_cut
    if sure and any(one.corrected.wins and one.decisions[0].agent == agent for one in causes):
        return replace(found, agent=agent, probability=chance, reason="no single turn of this agent is probable enough")
    if experiment.why_cut:
        reason = f"the budget ended the search: {experiment.why_cut}"
    elif sets:
        reason = f"no single decision: the run succeeds when {label} decides for {' and '.join(sets[0])} throughout"
    elif any(cause.placebo.wins for cause in causes):
        reason = "no single decision: placebos save the run as well as corrections do"
    elif any(cause.corrected.wins for cause in causes):
        reason = f"no single decision is probable enough: {label} differs too often, or too many corrections save it"
    elif experiment.saved:
        reason = f"none of the single decisions tried: the run succeeds when {label} decides for all"
    else:
        reason = f"not the team's decisions: {label} does not save the run either"
    # Give no probability: that of none also covers mistakes that the reference would have made as well.
    return replace(found, reason=reason)


def _notes(reference: Reference, decisions: Decisions, experiment: Experiment, shares: Shares | None) -> list[str]:
    found = []
    limit, bound = (reference.parent.episode.trace.start.board.get(key) for key in ("max_steps", "lower_bound"))
    if isinstance(limit, int) and isinstance(bound, int) and bound > limit:
        found.append(f"no team could finish: the board needs at least {bound} steps, and the limit is {limit}")
    candidates = len(decisions.candidates)
    if not candidates:
        own = reference.own
        why = "every agent did what a fresh copy of its mind would do" if own else "it would have decided the same"
        found.append(f"{reference.label} would have changed nothing: {why}; try --reference MIND")
    if not decisions.asked:
        found.append(f"the budget ended before {reference.label} had decided all turns")
    if experiment.why_cut:
        found.append(f"the experiment ended early: {experiment.why_cut}")
    world = reference.parent.episode.world()
    if not isinstance(world, Limited):
        found.append("the world cannot continue beyond its step limit, so a late run counts as failed")
    if not keeps_luck_apart(world):
        found.append("the world has luck: a change also shifts the random draws of others, so a saved run may be luck")
    elif isinstance(world, DrawsLots) and not experiment.luck:
        found.append("each re-run has the luck of the run: --draws K draws it again, the same in both arms")
    if not experiment.exact and shares is not None and shares.success:
        found.append("the shares rest on one draw of each coalition")
    if shares is not None and shares.why_cut:
        found.append(f"the shares of the agents are unknown: {shares.why_cut}")
    return found
