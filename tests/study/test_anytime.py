"""Looks at any time: what the evidence is by hand, that the interval belongs to it, and that few boards are right."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quorum.study import anytime
from quorum.study.anytime import LIMIT, Plan, anytime_interval, evidence, evidence_path, futile

PLAN = Plan(0.5, 1.0)
PLANS = (PLAN, Plan(-0.5, 1.0), Plan(0.5, 1.0, directed=False), Plan(0.05, 4.0), None)
FLOATS = st.floats(-5, 5).map(lambda value: round(value, 2))
BINARY = st.sampled_from([-1.0, 0.0, 1.0])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("sizes", [[1, 1, 1, 1, 1, 1, 1, 1], [3, 0, 2, 9, 0.1, 7, 7, 5], [0, 0, 1, 0, 1, 1, 1, 1]])
def test_over_all_signs_the_mean_of_what_is_owned_stays_what_it_was(plan: Plan | None, sizes: list[float]) -> None:
    """The bets are fair whatever the sizes; so 20 is reached by at most one sign pattern of 20."""
    values = np.array(list(product((-1, 1), repeat=8))) * np.array(sizes)
    for share, unit in ((False, 1), (True, 9)):
        path = evidence_path(values / unit, plan, share=share)
        np.testing.assert_allclose(path.mean(axis=0), 1.0, rtol=1e-6)
        assert (path.max(axis=1) >= LIMIT).mean() <= 0.05


def test_the_first_bets_are_those_of_the_plan() -> None:
    sizes, parts = 0.5 * np.array([0.25, 0.5, 1, 2]), np.array([0.04, 0.04, 0.9, 0.02])
    up, down = parts @ (1 + np.tanh(sizes * 3)), parts @ (1 - np.tanh(sizes * 3))
    assert evidence_path(np.array([3.0]), PLAN)[0] == pytest.approx(0.75 * up + 0.25 * down)
    assert evidence_path(np.array([-3.0]), PLAN)[0] == pytest.approx(0.75 * down + 0.25 * up)


def test_no_bet_is_for_more_than_it_takes_to_reach_the_limit() -> None:
    path = evidence_path(np.array([3.0] * 30), PLAN)
    reached = int(np.argmax(path >= LIMIT))
    assert path[reached] == pytest.approx(LIMIT)
    lost = evidence_path(np.array([3.0] * reached + [-3.0]), PLAN)
    assert lost[-1] == pytest.approx(2 * path[reached - 1] - LIMIT)


@given(st.lists(FLOATS, min_size=7, max_size=25), st.sampled_from(PLANS), st.integers(-3, 3))
@example([-2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, -2.0], None, 2)  # its evidence jumps at 0
def test_the_interval_leaves_out_0_where_the_evidence_against_it_is_enough(
    values: list[float], plan: Plan | None, shift: int
) -> None:
    differences = np.array(values) + shift
    low, high = anytime_interval(differences, plan)
    if not math.isnan(low) and evidence(differences, plan) < LIMIT:
        assert low - 1e-6 <= 0 <= high + 1e-6
    elif not math.isnan(low):
        assert not low + 1e-6 < 0 < high - 1e-6


@given(st.lists(BINARY, min_size=1, max_size=30), st.sampled_from(PLANS))
@example([-1.0] * 7, None)  # 0 is rejected, and so is what lies beyond it
def test_shares_always_have_an_interval_within_their_bounds_that_belongs_to_the_evidence(
    values: list[float], plan: Plan | None
) -> None:
    low, high = anytime_interval(np.array(values), plan, share=True)
    assert -1 <= low <= high <= 1
    assert (low <= 1e-6 and high >= -1e-6) == (evidence(np.array(values), plan, share=True) < LIMIT)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.sampled_from(PLANS), st.sampled_from([-0.6, 0.0, 0.2]))
def test_a_bet_on_the_mean_of_shares_is_placed_before_its_board_is_seen(
    before: list[float], plan: Plan | None, centre: float
) -> None:
    """So what is owned is a straight line over the next board, and stays the same for one at the centre."""
    owned = [evidence_path(np.array([*before, last]), plan, centre, share=True)[-1] for last in (-1.0, centre, 1.0)]
    at_centre = owned[0] + (owned[2] - owned[0]) * (centre + 1) / 2
    assert owned[1] == pytest.approx(at_centre)
    assert owned[1] == pytest.approx(evidence_path(np.array(before), plan, centre, share=True)[-1])


@pytest.mark.parametrize("share", [False, True])
def test_the_interval_only_shrinks(share: bool) -> None:
    values = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], p=[0.1, 0.4, 0.5], size=60)
    ends = np.array([anytime_interval(values[:boards], PLAN, share=share) for boards in range(10, 61, 10)])
    assert (np.diff(ends[:, 0]) >= -1e-6).all()
    assert (np.diff(ends[:, 1]) <= 1e-6).all()
    assert ends[-1, 0] <= values.mean() <= ends[-1, 1]


def test_units_and_directions_change_nothing() -> None:
    values = np.random.default_rng(4).normal(0.5, 1, 40)
    low, high = anytime_interval(values, PLAN)
    assert anytime_interval(7 * values, Plan(3.5, 7.0)) == pytest.approx((7 * low, 7 * high), rel=1e-4)
    assert anytime_interval(-values, Plan(-0.5, 1.0)) == pytest.approx((-high, -low), rel=1e-4)
    assert evidence(-values, Plan(-0.5, 1.0)) == pytest.approx(evidence(values, PLAN))


@pytest.mark.parametrize("plan", PLANS)
def test_few_boards_and_boards_that_agree_have_no_end(plan: Plan | None) -> None:
    for values in ([], [3.0], [1.0, 2.0, 3.0, 4.0]):
        assert np.isnan(anytime_interval(np.array(values), plan)).all()
        assert evidence(np.array(values), plan) < LIMIT
    assert evidence(np.zeros(50), plan) == pytest.approx(1)
    assert np.isnan(anytime_interval(np.ones(50), None)).all()
    assert evidence(np.ones(50), plan) >= (LIMIT if plan is not PLANS[3] else 1)


def test_a_study_is_futile_once_the_planned_effect_is_ten_times_less_likely() -> None:
    random = np.random.default_rng(5)
    none, some = random.normal(0, 1, (200, 100)), random.normal(0.5, 1, (200, 100))
    assert futile(none, PLAN)[:, -1].mean() > 0.9
    assert futile(some, PLAN)[:, -1].mean() < 0.1
    assert futile(-some, PLAN)[:, -1].mean() < 0.1
    likelihood = np.cumprod([1 + np.tanh(0.5 * -1), 1 + np.tanh(0.5 * 0), 1 + np.tanh(0.5 * 1)])
    assert (likelihood > anytime._FUTILE).all()
    assert not futile(np.array([-1.0, 0.0, 1.0]), PLAN).any()


@pytest.mark.parametrize(("effect", "deviation"), [(0, 1), (math.nan, 1), (1, 0), (1, math.nan)])
def test_a_plan_without_an_effect_or_a_deviation_is_refused(effect: float, deviation: float) -> None:
    with pytest.raises(ValueError, match="a plan needs"):
        Plan(effect, deviation)
