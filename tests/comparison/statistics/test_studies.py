"""What the statistics of studies claim, in simulated studies of known truth.

These are few studies, so only gross errors show; `python -m benchmarks.sequential` has the figures.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import sequential
from benchmarks.sequential import CASES, NULLS, PLANS, ROOMS, Case
from quorum.study.anytime import Plan
from quorum.study.power import power

pytestmark = pytest.mark.conformance
STUDIES = 400
ERROR = 3 * np.sqrt(0.05 * 0.95 / STUDIES)
SMALL = [case for case in CASES if 0.45 <= case.effect / case.deviation <= 0.84 and case.bound <= 4]
"""Effects that take some dozens of boards: those of smaller ones take minutes."""
WIDE = [case for case in CASES if case.bound > 4]
"""The same effects in ranges of ten standard deviations or more."""
by_name = pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("null", NULLS)
def test_a_look_after_every_board_keeps_the_error_at_5_percent(null: str, plan: str) -> None:
    assert sequential.error(null, PLANS[plan], STUDIES) <= 0.05 + ERROR


@by_name
@pytest.mark.parametrize("blocks", [10, None])
def test_at_the_planned_effect_the_fixed_boards_are_enough_and_for_success_two_thirds(
    case: Case, blocks: int | None
) -> None:
    fixed = case.boards()
    found = sequential.played(case, fixed, 1 if blocks is None else max(2, round(fixed / blocks)), STUDIES)
    assert found.boards <= (0.7 if case.bound == 1 else 1.05)
    assert found.found >= sequential.POWER - 0.045


@pytest.mark.parametrize("case", WIDE, ids=lambda case: case.name)
def test_in_a_wide_range_one_and_a_half_times_the_fixed_boards_are_not_enough(case: Case) -> None:
    assert sequential.played(case, case.boards(), 1, STUDIES).found < 0.5


@by_name
def test_the_planned_power_is_the_actual_one_within_two_points(case: Case) -> None:
    for wanted in (0.8, 0.9):
        boards = case.boards(wanted)
        actual = sequential.actual_power(case, boards, 5 * STUDIES)
        stated = power(case.studies, boards)
        assert actual == pytest.approx(stated, abs=0.02)
        if boards > 20:
            assert actual == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("boards", [6, 20])
@pytest.mark.parametrize("gains", [name for name in ROOMS if "skewed" not in name])
def test_the_interval_of_the_share_of_the_room_holds_the_truth(gains: str, boards: int) -> None:
    assert sequential.room_coverage(gains, boards, STUDIES) >= 0.95 - ERROR


@pytest.mark.parametrize("boards", [6, 10, 20, 40])
def test_equal_arms_are_called_an_effect_in_at_most_5_percent(boards: int) -> None:
    assert sequential.same_called_above(boards, STUDIES) <= 0.05 + ERROR


@pytest.mark.parametrize(
    ("null", "plan", "width"),
    [
        ("normal", Plan(0.4, 1.0, directed=False), 0.4),
        ("success: -1, 0 or 1", Plan(0.3, 0.6, directed=False), 0.3),
        ("Student's t, 2 degrees of freedom", None, 0.8),
    ],
)
def test_the_interval_holds_the_truth_where_its_width_stops_the_study(
    null: str, plan: Plan | None, width: float
) -> None:
    assert sequential.coverage(*NULLS[null], plan, 100, width) >= 0.89
