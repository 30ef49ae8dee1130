"""How many boards and draws a study needs, before paying for it: from a pilot, or from a stated effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quorum.comparison.differences import Cell, Cells
from quorum.comparison.draws import variance_components
from quorum.comparison.formats import Table
from quorum.comparison.statistics.flips import about_boards
from quorum.runs import read_results
from quorum.study.analysis import compare_arms
from quorum.study.arms import arms_of
from quorum.study.power import Sampler, binary, boards_for_half_width, boards_for_power, normal
from quorum.study.study import Study
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.estimate import Forecast
from quorum.sweeps.pilots import Pilots
from quorum_base.user_errors import UserError

_PILOT = range(1_000_000, 1_000_008)
"""Boards of a pilot, which no study analyses."""
_STATE = "State what you expect: --expect EFFECT,DEVIATION."
_YES_OR_NO = "outcome.success"
_FEWEST = 2
"""Fewest boards of a pilot that show the spread of boards."""
_DRAWS = (1, 2, 4)
"""Numbers of draws per board to choose from."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of the effect that answers a question.

    Attributes:
        effect: mean difference over boards.
        between: standard deviation over boards of their true differences.
        within: standard deviation of the difference of one draw of a board; 0 if draws are not known separately.
        basis: the source of these values, in words.
    """

    effect: float
    between: float
    within: float
    basis: str

    def deviation(self, draws: int) -> float:
        """Return the standard deviation of the differences over boards with this many draws each."""
        return math.sqrt(self.between**2 + self.within**2 / draws)


@dataclass(frozen=True, slots=True)
class Design:
    """Numbers of boards and draws that reach the goal.

    Attributes:
        boards: number of boards.
        draws: draws of each board, in each arm.
        forecast: their expected cost.
    """

    boards: int
    draws: int
    forecast: Forecast


def expect(study: Study, *, quiet: bool) -> Expected:
    """Return the expected effect: as stated, else from a pilot, which is played if necessary.

    Raises:
        UserError: an arm is not possible with the team, or the pilot has too few runs or shows no difference.
    """
    request = study.request
    if request.expected is not None:
        return Expected(*request.expected, 0.0, "as stated")
    first = study.question.effects[0]
    if missing := [name for name in (first.plus, first.minus) if name not in study.arms]:
        raise UserError(
            f"--plan: the arm {missing[0]} is not possible with this team: {study.skipped.get(missing[0])}", _STATE
        )
    arms = {name: replace(study.arms[name], draws=(0, 1)) for name in (first.plus, first.minus)}
    pilot = replace(study, arms=arms, request=replace(request, name=f"{study.name}-pilot"))
    run_sweep_command(replace(pilot.request_of(arms, _PILOT), retry_failed=True), quiet=quiet)
    groups = compare_arms(pilot, read_results(pilot.folder), _PILOT).groups
    plus, minus = (
        groups[arm, None].cells(study.metrics[0]) if (arm, None) in groups else {} for arm in (first.plus, first.minus)
    )
    both = whole_boards(plus, minus)
    if len(both) < _FEWEST:
        raise UserError(f"the pilot in {pilot.folder} has too few runs that count", f"Run the command again. {_STATE}")
    effect, between, within = components(plus, minus, both)
    if effect == 0:
        raise UserError(f"the pilot of {len(both)} boards shows no difference in {study.metrics[0]}", _STATE)
    return Expected(effect, between, within, f"a pilot of {len(both)} boards with 2 draws each")


def whole_boards(plus: Cells, minus: Cells) -> list[Cell]:
    """Return the boards on which both arms have several draws, and equally many."""
    return [cell for cell in plus.keys() & minus.keys() if len(plus[cell]) == len(minus[cell]) > 1]


def components(plus: Cells, minus: Cells, both: Sequence[Cell]) -> tuple[float, float, float]:
    """Return the mean difference and its standard deviations between and within boards (one-way variance analysis).

    Args:
        plus: the draws of one arm by board.
        minus: those of the other arm.
        both: the boards that count, at least two, with equally many draws each.
    """
    draws = np.array([np.subtract(plus[cell], minus[cell]) for cell in both])
    between, within = variance_components(draws, [None] * len(both))
    return float(draws.mean()), math.sqrt(max(0.0, between)), math.sqrt(within)


def designs(study: Study, expected: Expected, *, power: float, half_width: float | None) -> list[Design]:
    """Return the number of boards that each number of draws needs, with the expected cost.

    Args:
        study: the study; its arguments name the model whose prices count.
        expected: the expected effect that answers its question.
        power: share of studies that should find the effect.
        half_width: target for the interval, instead of power; None: use power.
    """
    found, pilots = [], Pilots()
    for draws in _DRAWS if expected.within else (len(study.treatment.draws),):
        deviation = expected.deviation(draws)
        if half_width is not None:
            boards = boards_for_half_width(deviation, half_width)
        else:
            boards = boards_for_power(
                _sampler(study, expected, draws), about_boards(expected.effect, deviation, power), power
            )
        again = dict(arms_of(study.question, replace(study.treatment, draws=tuple(range(draws)))))
        arms = {name: arm for name, arm in again.items() if name in study.arms and not arm.donors}
        found.append(Design(boards, draws, show_plan(study.request_of(arms, range(boards)), pilots)))
    return found


def _sampler(study: Study, expected: Expected, draws: int) -> Sampler:
    """Return a sampler of board differences: -1, 0 and 1 for the success of single draws, else normal.

    Raises:
        UserError: such differences are impossible.
    """
    deviation = expected.deviation(draws)
    if study.metrics[0] != _YES_OR_NO or draws > 1:
        return normal(expected.effect, deviation)
    try:
        return binary(expected.effect, deviation)
    except ValueError as error:
        raise UserError(f"{study.metrics[0]}: {error}", _STATE) from error


def table(expected: Expected, found: Sequence[Design], wanted: str) -> Table:
    """Return the designs as a table."""
    rows = tuple(
        (
            str(design.draws),
            str(design.boards),
            f"{design.forecast.planned:,}",
            f"{design.forecast.answers:,.0f}",
            f"{design.forecast.tokens:,.0f}",
            "unknown" if design.forecast.usd is None else f"{design.forecast.usd:,.2f}",
        )
        for design in found
    )
    scatter = f"{expected.between:.3g} between boards"
    scatter += f", {expected.within:.3g} between draws" if expected.within else ""
    caption = (
        f"For an effect of {expected.effect:+.3g} with a standard deviation of {scatter} ({expected.basis}). All arms"
        " except `shuffled`, which costs as much as the treatment."
    )
    simulated = any(design.forecast.simulated or design.forecast.stands_in for design in found)
    return Table(
        f"boards and draws for {wanted}",
        ("draws", "boards", "runs", "calls", "tokens", "USD"),
        rows,
        f"{caption} Calls and tokens are those of the simulated model." if simulated else caption,
    )
