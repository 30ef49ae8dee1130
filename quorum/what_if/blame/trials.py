"""The experiment on a failed run: correct suspects, and give them placebos as controls.

A placebo changes the turn but keeps its intent: the agent waits a step or two before or after its own plan, or a
message gets a full stop. If re-runs have luck, a placebo may also leave the turn as it is and change only the draw.
A correction that saves the run is varied in the same way, so that both arms are equally large and equally disturbed: a
correction that saves a run only just, or by chance, rarely does so again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import orjson

from maeil.mind import Act
from maeil.trace import Instant
from quorum.what_if.blame.attempts import Attempts, BudgetSpent
from quorum.what_if.blame.decisions import Choice, Decision, Decisions
from quorum.what_if.blame.posterior import ANYWAY, NOBODY, UNTRIED, Tally, posterior
from quorum.what_if.blame.reruns import REFUSED, Correction
from quorum.what_if.branch.branch_minds import ScriptedAnswer

PLACEBOS = 4
"""Minimum number of placebos for each suspect whose correction saves the run, and of variants of its correction."""
JOINT = 0.2
"""Share of pairs in the prior probability of a cause."""
PAIRED = 12
"""Number of most suspicious decisions whose pairs are all tried if no single correction saves the run."""
HELD = 5
"""Number of most suspicious saving decisions that are corrected again with later ones held."""
ENOUGH = 0.8
"""Probability at which a paid experiment ends."""


@dataclass(slots=True, eq=False)
class Suspect:
    """A possible cause.

    Attributes:
        decisions: one decision, or several together, in the order of time.
        corrected: successes of re-runs with the decisions of the reference.
        placebo: successes of re-runs with a change that keeps the intent.
    """

    decisions: tuple[Decision, ...]
    corrected: Tally = UNTRIED
    placebo: Tally = UNTRIED

    @property
    def cleared(self) -> bool:
        """Whether its placebos save the run as often as its corrections."""
        corrected, placebo = self.corrected, self.placebo
        return placebo.wins > 0 and corrected.wins * placebo.draws <= placebo.wins * corrected.draws

    @property
    def saves(self) -> bool:
        """Whether its corrections save the run, and more often than its placebos."""
        return self.corrected.wins > 0 and not self.cleared

    def correction(self) -> Correction | None:
        """Return the change to the decisions of the reference; None if it cannot be scripted."""
        return _together([decision.correction() for decision in self.decisions])

    def variants(self, idle: dict[str, Any], *, corrected: bool) -> list[Correction]:
        """Return changes that keep the intent of the decisions as played, or of their corrections.

        Args:
            idle: the action of waiting one step, in the format of the trace.
            corrected: whether to vary the corrections.
        """
        parts = []
        for decision in self.decisions:
            choice = decision.other if corrected else decision.own
            base = decision.correction() if corrected else Correction(decision.instant)
            parts.append(_variants(decision, choice, base, idle))
        return [found for variant in zip(*parts, strict=True) if (found := _together(variant)) is not None]


def _together(parts: Sequence[Correction | None]) -> Correction | None:
    """Join changes of several turns; later ones wait for their step."""
    words: list[ScriptedAnswer] = []
    drops: list[int] = []
    first = parts[0]
    for part in parts:
        if part is None or first is None:
            return None
        later = part.at.t if part.at.t > first.at.t else 0
        words += [replace(one, since=later) for one in part.words]
        drops += part.drops
    return Correction(first.at, words=tuple(words), drops=tuple(drops)) if first is not None else None


def _variants(
    decision: Decision, choice: Choice, base: Correction | None, idle: dict[str, Any]
) -> list[Correction | None]:
    """Return `PLACEBOS` changes of a turn that keep the intent of a choice; None for missing ones.

    Args:
        decision: the decision of the turn.
        choice: the choice to vary.
        base: the change that makes this choice; None if it cannot be scripted.
        idle: the action of waiting one step, in the format of the trace.
    """
    words: list[ScriptedAnswer] = []
    if base is None:
        return [None] * PLACEBOS
    if Act.PLAN in decision.acts:
        own = list(choice.actions or ())
        plans = [plan for steps in (1, 2) for plan in ([idle] * steps + own, own + [idle] * steps)]
        plans = plans if own else [[idle], [idle, idle]]  # without a new plan, the agent waits and then decides again
        words = [ScriptedAnswer(decision.agent, actions=orjson.dumps(plan).decode()) for plan in plans]
    elif len(choice.says) == 1:
        words = [ScriptedAnswer(decision.agent, text=choice.says[0] + "." * more) for more in range(1, 5)]
    kept = [[one for one in base.words if (one.text is None) != (word.text is None)] for word in words]
    found = [replace(base, words=(*others, word)) for others, word in zip(kept, words, strict=True)]
    return [*found, *[None] * (PLACEBOS - len(found))]


@dataclass
class Experiment:
    """The experiment on a run.

    Attributes:
        decisions: the decisions of the run.
        players: participants for whom the reference decides.
        attempts: plays changes.
        order: the decisions that differ, the most suspicious first.
        idle: the action of waiting one step, in the format of the trace.
        draws: samples of each correction.
        luck: whether each sample redraws the luck of the world, with the same luck in both arms.
        exact: whether the same change always ends the same way, so that one draw is enough.
        costs: whether re-runs cost money.
    """

    decisions: Decisions
    players: Sequence[str]
    attempts: Attempts
    order: Sequence[Decision]
    idle: dict[str, Any]
    draws: int = 1
    luck: bool = False
    exact: bool = True
    costs: bool = False
    late: int | None = None
    """Step at which the run would have finished by itself; None: it did not finish, as far as it was played."""
    saved: bool | None = None
    """Whether the run succeeds if the reference decides for all from the start; None: not played."""
    joint: list[Suspect] = field(default_factory=list)
    """Sets of decisions that were tried."""
    why_cut: str = ""
    """Why the experiment ended early; empty if it did not."""

    @cached_property
    def singles(self) -> list[Suspect]:
        """Each decision that differs and that the reference can make."""
        return [Suspect((one,)) for one in self.order if one.agent in self.players]

    def run(self, last: Instant | None) -> None:
        """Play everything that the budget allows.

        Args:
            last: the last turn of the run, from which to continue beyond its limit; None: do not.
        """
        try:
            if last is None or not self._is_late(last):
                self._play()
        except BudgetSpent as spent:
            self.why_cut = str(spent)

    def _is_late(self, last: Instant) -> bool:
        ends = [self.attempts.ending(self._sample(Correction(last), draw)) for draw in range(self.draws)]
        steps = sorted(end.steps for end in ends if self.attempts.success.met(end))
        if 2 * len(steps) > self.draws:
            self.late = steps[len(steps) // 2]
        return self.late is not None

    def _play(self) -> None:
        self.saved = self.attempts.success.met(self.attempts.ending(Correction(Instant(0), tuple(self.players))))
        for suspect in self.singles:
            self._try(suspect)
            if self.costs and max(self.posterior()[:-1]) >= ENOUGH:
                return
        saving = [one for one in self.singles if one.corrected.wins]
        self._hold(sorted(saving[:HELD], key=_when))
        if self.saved is not False and not any(one.saves for one in self.suspects):
            for pair in combinations(self.singles[:PAIRED], 2):
                self._try(Suspect(tuple(one.decisions[0] for one in sorted(pair, key=_when))))

    def _hold(self, saving: Sequence[Suspect]) -> None:
        """Correct each suspect again while a later one stays as played, and keep the worst result.

        A correction that saves the run only without the later decision has avoided that decision and fixed nothing.
        """
        for first, later in combinations(saving, 2):
            if not first.saves:
                continue
            played = later.decisions[0].scripted(later.decisions[0].own)
            same = (first.decisions[0].agent, first.decisions[0].t) == (later.decisions[0].agent, later.decisions[0].t)
            if played is not None and not same and (held := _together([first.correction(), played])) is not None:
                found = sum(self._drawn([self._sample(held, number) for number in range(self.draws)]), UNTRIED)
                if found.wins * first.corrected.draws < first.corrected.wins * found.draws:
                    first.corrected = found

    def _try(self, suspect: Suspect) -> None:
        """Correct a suspect; if that saves the run, play placebos, and variants of the correction if they do not."""
        correction = suspect.correction()
        if correction is None:
            return
        for trial in self._drawn([self._sample(correction, draw) for draw in range(self.draws)]):
            suspect.corrected += trial
        if suspect not in self.singles and suspect.corrected.draws:
            self.joint.append(suspect)
        if suspect.corrected.wins:
            changes = suspect.variants(self.idle, corrected=False)
            same = Correction(suspect.decisions[0].instant)
            drawn = [*changes, same] if not self.exact else changes
            many = max(self.draws, PLACEBOS) if not self.exact else len(changes)
            plays = [self._sample(drawn[number % len(drawn)], number) for number in range(many)]
            for trial in self._drawn([one for one in dict.fromkeys(plays) if one != same]):
                suspect.placebo += trial
            more = 0 if suspect.cleared else max(PLACEBOS + 1 - self.draws, 0)
            changes = suspect.variants(self.idle, corrected=True)[:more]
            for trial in self._drawn([self._sample(one, number) for number, one in enumerate(changes)]):
                suspect.corrected += trial

    def _sample(self, correction: Correction, number: int) -> Correction:
        return replace(correction, draw=number % self.draws, luck=self.luck)

    def _drawn(self, changes: Sequence[Correction]) -> Iterator[Tally]:
        for change in changes:
            end = self.attempts.ending(change)
            if end.outcome != REFUSED:
                yield Tally(int(self.attempts.success.met(end)), 1)

    @property
    def suspects(self) -> list[Suspect]:
        """All suspects, including untried ones."""
        return [*self.singles, *self.joint]

    def posterior(self) -> list[float]:
        """Return the probability of each suspect, and last the probability of none."""
        same = len(self.decisions.every) - len(self.decisions.candidates)
        return chances(self.singles, self.joint, same, exact=self.exact)


def chances(
    singles: Sequence[Suspect],
    joint: Sequence[Suspect],
    same: int,
    *,
    exact: bool,
    nobody: float = NOBODY,
    anyway: tuple[float, float] = ANYWAY,
) -> list[float]:
    """Return the probability of each suspect, and last the probability of none.

    A suspect is no cause if its placebos save the run as often as its corrections, or if it is exact that its
    correction does not.

    Args:
        singles: all decisions that differ.
        joint: pairs that were tried.
        same: number of turns that the reference decides in the same way.
        exact: whether the same change always ends the same way.
        nobody: prior probability of none.
        anyway: see `posterior`.
    """
    parts = ((singles, (1 - nobody) * (1 - JOINT)), (joint, (1 - nobody) * JOINT))
    prior = [
        0.0 if one.cleared or (exact and one.corrected.draws and not one.corrected.wins) else whole / len(part)
        for part, whole in parts
        for one in part
    ]
    return posterior([(one.corrected, one.placebo) for one in (*singles, *joint)], prior, same, anyway)


def _when(suspect: Suspect) -> tuple[int, float]:
    return suspect.decisions[0].t, suspect.decisions[0].t_hat
