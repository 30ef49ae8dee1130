"""The decisive mistake: the earliest decision whose correction turns failure into success (Who&When)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from maeil.trace import Instant
from quorum.experiments.blame.attempts import Attempts, BudgetSpent, Tally
from quorum.experiments.blame.decisions import Decision, Decisions
from quorum.experiments.blame.reruns import Correction

MOST_AFTER = 24
"""Candidates to test after the first one that flips."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A correction that turns failure into success.

    Attributes:
        decision: the corrected decision.
        correction: the change.
        tally: successes among its draws.
        persists: whether the reference has to decide for the agent from then on, since to correct the turn alone is not
            enough or not possible.
    """

    decision: Decision
    correction: Correction
    tally: Tally
    persists: bool


@dataclass(slots=True)
class Decisive:
    """The result of a search.

    Attributes:
        saved: whether the run succeeds if the reference decides for all from the start; None: not played.
        last_chance: index of the last decision at which the reference still saves the run by deciding for all; None:
            there is none, or it was not searched.
        flips: in the order of their decisions.
        skipped: candidates after the last chance, which were not tested.
        left: candidates that were not tested because earlier ones flip.
        why_cut: why the search ended early; empty if it did not.
    """

    saved: bool | None = None
    last_chance: int | None = None
    flips: list[Flip] = field(default_factory=list)
    skipped: int = 0
    left: int = 0
    why_cut: str = ""


def find_decisive(
    decisions: Decisions, players: Sequence[str], attempts: Attempts, *, own: bool, exhaustive: bool
) -> Decisive:
    """Search the decisions of a failed run.

    First the reference decides for all, and bisection finds the last branch point at which this still saves the run.
    The search assumes that it saves the run at earlier points too; unless it is exhaustive, it also assumes that no
    later decision is decisive. Then it corrects each candidate's turn alone, in order; if none flips the run, the
    reference takes over the agent of each candidate from there on.

    If the reference is a fresh copy of each agent's own mind, a candidate is a place where a mind deviates from itself.
    Then the search tries both corrections of a candidate before the next one, as the start of a lasting mistake comes
    before its later turns.

    Args:
        decisions: of the run.
        players: participants for whom the reference decides.
        attempts: plays the corrections.
        own: whether the reference is a fresh copy of each agent's own mind.
        exhaustive: whether to test candidates after the last chance, and `MOST_AFTER` after the first flip; else the
            search stops at the first flip, and at the last chance.
    """
    found = Decisive()
    try:
        _search(decisions, players, attempts, found, own=own, exhaustive=exhaustive)
    except BudgetSpent as spent:
        found.why_cut = str(spent)
    found.flips.sort(key=lambda flip: decisions.every.index(flip.decision))
    return found


def _search(
    decisions: Decisions, players: Sequence[str], attempts: Attempts, found: Decisive, *, own: bool, exhaustive: bool
) -> None:
    found.saved = attempts.flips(Correction(Instant(0), tuple(players)))
    candidates = decisions.candidates
    if found.saved:
        found.last_chance = _last_chance(decisions.every, players, attempts)
    if not exhaustive:
        instants = [(one.t, one.t_hat) for one in decisions.every]
        last = instants[found.last_chance] if found.last_chance is not None else None
        kept = [one for one in candidates if last is not None and (one.t, one.t_hat) <= last]
        found.skipped = len(candidates) - len(kept)
        candidates = tuple(kept)
    turn, takeover = Decision.correction, Decision.takeover
    rounds: list[list[Callable[[Decision], Correction | None]]] = [[turn, takeover]] if own else [[turn], [takeover]]
    for kinds in rounds:
        first = len(candidates)
        for place, decision in enumerate(candidates):
            if place - first >= MOST_AFTER:
                found.left = len(candidates) - place
                break
            for correct in kinds:
                correction = correct(decision)
                if correction is None or decision.agent not in players:
                    continue
                tally = attempts.tally(correction)
                if tally.flips:
                    first = min(first, place)
                    found.flips.append(Flip(decision, correction, tally, persists=correct is Decision.takeover))
                    break
            if found.flips and not exhaustive:
                return
        if found.flips:
            return


def _last_chance(every: Sequence[Decision], players: Sequence[str], attempts: Attempts) -> int | None:
    """Find the last decision at which the reference still saves the run by deciding for all."""
    instants = sorted({(one.t, one.t_hat): index for index, one in reversed(list(enumerate(every)))}.items())
    low, high = -1, len(instants)  # it saves the run at low (the start), and does not at high
    while high - low > 1:
        middle = (low + high) // 2
        (t, t_hat), _ = instants[middle]
        if attempts.flips(Correction(Instant(t, t_hat), tuple(players))):
            low = middle
        else:
            high = middle
    return instants[low][1] if low >= 0 else None
