"""The decisive mistake: the earliest decision whose correction turns failure into success (Who&When)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from maeil.trace import Instant
from quorum.experiments.blame.attempts import Attempts, BudgetSpent, Tally
from quorum.experiments.blame.correction import Correction
from quorum.experiments.blame.decisions import Decision, Decisions

MOST_AFTER = 24
"""Candidates that are tested behind the first one that flips, to tell how many others do."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A correction that turns failure into success.

    Attributes:
        decision: that is corrected.
        correction: the change.
        tally: of its draws.
        persists: whether the reference has to decide for the agent from then on: to correct the turn alone is not
            enough, or cannot be said.
    """

    decision: Decision
    correction: Correction
    tally: Tally
    persists: bool


@dataclass(slots=True)
class Decisive:
    """What the search has found.

    Attributes:
        saved: whether the run succeeds when the reference decides for all from the start; None: not played.
        last_chance: index of the last decision from whose instant on the reference still saves the run, deciding for
            all; None: there is none, or it was not looked for.
        flips: in the order of their decisions.
        tested: candidates of which at least the turn alone was corrected, or could not be.
        skipped: candidates behind the last chance, which were not tested.
        left: candidates that were not tested as earlier ones flip.
        why_cut: why the search has ended early; empty where it has not.
    """

    saved: bool | None = None
    last_chance: int | None = None
    flips: list[Flip] = field(default_factory=list)
    tested: int = 0
    skipped: int = 0
    left: int = 0
    why_cut: str = ""


def find_decisive(
    decisions: Decisions, players: Sequence[str], attempts: Attempts, *, own: bool, exhaustive: bool
) -> Decisive:
    """Search the decisions of a failed run.

    First the reference decides for all from an instant on, and the last instant at which that still saves the run is
    found by bisection: that it saves the run at an earlier instant, too, is assumed, and so is that a decision later
    than it cannot be decisive, where candidates are not tested all. Then each candidate's turn alone is corrected, in
    order; where that flips none, the reference takes its agent over from the candidate on.

    With fresh copies of the own minds as reference a candidate is a place where a mind left its own ways, so both
    corrections are tried at each before the next one: the beginning of what persists comes before its later turns.

    Args:
        decisions: of the run.
        players: participants for whom the reference decides.
        attempts: plays the corrections.
        own: whether the reference is a fresh copy of each agent's own mind.
        exhaustive: whether candidates are also tested behind the last chance, and `MOST_AFTER` behind the first flip;
            else only up to the first that flips, and to the last chance.
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
    ways: list[list[Callable[[Decision], Correction | None]]] = [[turn, takeover]] if own else [[turn], [takeover]]
    for way in ways:
        first = len(candidates)
        for place, decision in enumerate(candidates):
            if place - first >= MOST_AFTER:
                found.left = len(candidates) - place
                break
            found.tested += way[0] is turn
            for correct in way:
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
    """Find the last decision from whose instant on the reference still saves the run, by bisection."""
    instants = sorted({(one.t, one.t_hat): index for index, one in reversed(list(enumerate(every)))}.items())
    low, high = -1, len(instants)  # it saves at low (the start does), and does not at high
    while high - low > 1:
        middle = (low + high) // 2
        (t, t_hat), _ = instants[middle]
        if attempts.flips(Correction(Instant(t, t_hat), tuple(players))):
            low = middle
        else:
            high = middle
    return instants[low][1] if low >= 0 else None
