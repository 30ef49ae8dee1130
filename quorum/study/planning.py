"""How many boards and draws a study needs, before paying for it: from a pilot, or from a stated effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quorum.comparison.draws import variance_components
from quorum.comparison.formats import Table
from quorum.comparison.statistics.flips import about_boards
from quorum.comparison.statistics.intervals import Floats
from quorum.runs import read_results
from quorum.study.analysis import SOLO, compare_arms
from quorum.study.arms import arms_of
from quorum.study.power import MOST_BOARDS, Sampler, binary, boards_for_half_width, boards_for_power
from quorum.study.question import BEST_OF, TREATMENT, EffectFile
from quorum.study.study import Study
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.estimate import Forecast
from quorum.sweeps.pilots import Pilots
from quorum_base.user_errors import UserError, choices_hint

_PILOT = range(1_000_000, 1_000_008)
"""Boards of a pilot, which no study analyses."""
_STATE = "State what you expect: --expect EFFECT,DEVIATION."
_YES_OR_NO = "outcome.success"
_PILOT_DRAWS = 2
_DRAWS = (1, 2, 4)
"""Numbers of draws per board to choose from."""
Design = tuple[int, int, Forecast]
"""A number of boards, of draws of each board in each arm, and their expected cost."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of an effect.

    Attributes:
        file: its definition.
        effect: mean difference over boards.
        between: standard deviation over boards of their true differences.
        within: standard deviation of the difference of one draw of a board; 0 if draws are not known separately.
        boards: number of boards of the pilot that shows this; 0 if it is stated, and taken as known.
    """

    file: EffectFile
    effect: float
    between: float
    within: float = 0.0
    boards: int = 0

    def deviation(self, draws: int) -> float:
        """Return the standard deviation of the differences over boards with this many draws each."""
        return math.sqrt(self.between**2 + self.within**2 / draws)

    def studies(self, draws: int, *, yes_or_no: bool) -> Sampler:
        """Return a function that draws studies with this many draws of each board.

        All arms vary equally over draws, so that other draws of the treatment differ from it as much as those of the
        effect's arms do. If their spread is not known, they have all of the deviation: no noise floor is higher.

        Args:
            draws: number of draws.
            yes_or_no: whether a difference is -1, 0 or 1.
        """
        shared = TREATMENT in (self.file.plus, self.file.minus)

        def draw(random: np.random.Generator, studies: int, boards: int) -> tuple[Floats, Floats]:
            effect, between, within = self._compatible(random, studies, draws)
            if yes_or_no:
                one, other = (binary(random, studies, boards, *of) for of in ((effect, between + within), (0, within)))
                return one, other
            own = effect + np.sqrt(between) * random.normal(size=(studies, boards))
            plus, minus, again, equal = np.sqrt(within / 2) * random.normal(size=(4, studies, boards))
            return own + plus - minus, again - (plus if shared else equal)

        return draw

    def _compatible(self, random: np.random.Generator, studies: int, draws: int) -> tuple[Floats, Floats, Floats]:
        """Draw an effect and the variances between boards and of draws for each study, each shape (studies, 1) or ().

        They have the posterior distribution, given the pilot, for normal differences and the reference prior (Box and
        Tiao 1973, Bayesian Inference in Statistical Analysis, chapter 5): Student's t, and scaled inverse chi-squares.
        """
        if not self.boards:
            return np.array(self.effect), np.array(0.0), np.array(self.deviation(draws) ** 2)
        shape = studies, 1
        freedom = self.boards * (_PILOT_DRAWS - 1)
        within = self.within**2 * freedom / random.chisquare(freedom, shape)
        means = self.deviation(_PILOT_DRAWS) ** 2 * (self.boards - 1) / random.chisquare(self.boards - 1, shape)
        effect = self.effect + np.sqrt(means / self.boards) * random.normal(size=shape)
        return effect, np.maximum(means - within / _PILOT_DRAWS, 0.0), within / draws


def expect(study: Study, name: str | None, *, quiet: bool) -> Expected:
    """Return what is expected of an effect: as stated, else from a pilot, which is played if necessary.

    Args:
        study: the study.
        name: name of the effect; None: the one that answers the question.
        quiet: whether to show no progress.

    Raises:
        UserError: there is no such effect, a pilot cannot play its arms, or has too few runs or no difference.
    """
    request, files = study.request, {one.name: one for one in study.question.effects}
    if name not in {None, *files}:
        raise UserError(f"--for {name}: the question has no such effect", choices_hint(str(name), "Effects", files))
    file = files[name or next(iter(files))]
    if request.expected is not None:
        return Expected(file, *request.expected)
    names = file.plus, file.minus
    for arm in names:
        if arm not in study.arms or study.arms[arm].donors:
            reason = study.skipped.get(arm, "it is made from other arms")
            raise UserError(f"--plan: a pilot cannot play the arm {arm} of {file.name}: {reason}", _STATE)
    arms = {name: study.arms[name].drawn(_PILOT_DRAWS) for name in names}
    pilot = replace(study, arms=arms, request=replace(request, name=f"{study.name}-pilot"))
    run_sweep_command(replace(pilot.request_of(arms, _PILOT), retry_failed=True), quiet=quiet)
    groups = compare_arms(pilot, read_results(pilot.folder), _PILOT).groups
    plus, minus = (groups[arm, None].cells(study.metrics[0]) if (arm, None) in groups else {} for arm in names)
    both = [board for board in plus.keys() & minus.keys() if len(plus[board]) == len(minus[board]) == _PILOT_DRAWS]
    if len(both) < 2:  # one board shows no spread
        raise UserError(f"the pilot in {pilot.folder} has too few runs that count", f"Run the command again. {_STATE}")
    drawn = np.array([np.subtract(plus[board], minus[board]) for board in both])
    if drawn.mean() == 0:
        raise UserError(f"the pilot of {len(both)} boards shows no difference in {study.metrics[0]}", _STATE)
    between, within = variance_components(drawn, [None] * len(both))
    return Expected(file, float(drawn.mean()), math.sqrt(max(0.0, between)), math.sqrt(within), len(both))


def designs(study: Study, expected: Expected, *, power: float, half_width: float | None) -> list[Design]:
    """Return the boards that each number of draws needs to reach the goal, with the expected cost of all arms.

    Args:
        study: the study; its arguments name the model whose prices count.
        expected: what is expected of the effect.
        power: share of studies that should find it.
        half_width: target for the interval, instead of power; None: use power.

    Raises:
        UserError: the effect is impossible, or takes more boards than are simulated.
    """
    found, pilots = [], Pilots()
    possible = abs(expected.effect) <= expected.deviation(1) ** 2 + expected.effect**2 <= 1
    if study.metrics[0] == _YES_OR_NO and not (possible or expected.boards):
        numbers = f"the mean {expected.effect:g} and the deviation {expected.between:g}"
        raise UserError(f"{_YES_OR_NO}: differences of -1, 0 and 1 cannot have {numbers}", _STATE)
    for draws in _DRAWS if expected.within else (len(study.treatment.draws),):
        deviation = expected.deviation(draws)
        if half_width is not None:
            boards: int | None = boards_for_half_width(deviation, half_width)
        else:
            studies = expected.studies(draws, yes_or_no=study.metrics[0] == _YES_OR_NO and draws == 1)
            about = about_boards(expected.effect, deviation, power)
            boards = boards_for_power(studies, about, power, tests_with(study, expected.file))
        if boards is None:
            continue
        again = dict(arms_of(study.question, replace(study.treatment, draws=tuple(range(draws)))))
        arms = {name: arm for name, arm in again.items() if name in study.arms and not arm.donors}
        found.append((boards, draws, show_plan(study.request_of(arms, range(boards)), pilots)))
    if not found:
        raise UserError(
            f"--plan: {MOST_BOARDS:,} boards do not give a power of {power:g} for {expected.file.name}: its effect,"
            f" {expected.effect:+.3g}, is too small or too uncertain",
            _STATE,
        )
    return found


def tests_with(study: Study, effect: EffectFile) -> int:
    """Return by how many tests Holm's method multiplies the p-value of an effect if no other effect is significant.

    It tests the effect that answers the question alone.
    """
    first, *others = study.question.effects
    arms = {*study.arms, *((BEST_OF,) if SOLO in study.arms else ())}
    return 1 if effect == first else sum({other.plus, other.minus} <= arms for other in others)


def table(study: Study, expected: Expected, found: Sequence[Design], wanted: str) -> Table:
    """Return the designs as a table."""
    rows = []
    for boards, draws, cost in found:
        numbers = draws, boards, cost.planned, cost.answers, cost.tokens
        usd = "unknown" if cost.usd is None else f"{cost.usd:,.2f}"
        rows.append((*(f"{number:,.0f}" for number in numbers), usd))
    basis, scatter = "as stated", f"{expected.between:.3g} between boards"
    if expected.boards:
        basis = f"averaged over what a pilot of {expected.boards} boards with {_PILOT_DRAWS} draws each leaves open"
        scatter += f", {expected.within:.3g} between draws"
    caption = (
        f"{expected.file.name} is found if its p, times {tests_with(study, expected.file)}, is at most 0.05, and if it"
        f" is above the noise floor. Expected: {expected.effect:+.3g} with a standard deviation of {scatter} ({basis})."
        " All arms except `shuffled`, which costs as much as the treatment."
    )
    simulated = any(cost.simulated or cost.stands_in for *_, cost in found)
    return Table(
        f"boards and draws for {wanted}",
        ("draws", "boards", "runs", "calls", "tokens", "USD"),
        tuple(rows),
        f"{caption} Calls and tokens are those of the simulated model." if simulated else caption,
    )
