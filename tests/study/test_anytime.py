"""Bets on the mean of differences: fair whatever their distribution, with an interval that belongs to the test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.study import anytime
from quorum.study.anytime import LIMIT, Plan, anytime_interval, evidence, evidence_path, futile
from quorum_base.user_errors import UserError

PLAN = Plan(0.5, 1.0)
PLANS = (PLAN, Plan(-0.5, 1.0), Plan(0.5, 1.0, directed=False), Plan(0.05, 4.0), None)
BOUND = 5.0
FLOATS = st.floats(-2, 2).map(lambda value: round(value, 2))
BINARY = st.sampled_from([-1.0, 0.0, 1.0])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("values", [(-1.0, 1.0), (-1.0, 9.0), (9.0, -1.0), (0.0, 0.0), (-3.0, 0.1)])
def test_whatever_the_distribution_a_bet_on_its_true_mean_gains_nothing_on_average(
    plan: Plan | None, values: tuple[float, float]
) -> None:
    """Over all studies of eight boards, each of two values with the chances that make the mean `centre`."""
    first = 0.9
    chances = np.array([first, 1 - first])
    centre = float(chances @ values)
    places = np.arange(2**8)[:, None] >> np.arange(8) & 1
    path = evidence_path(np.array(values)[places], 9.0, plan, np.full(2**8, centre))
    weights = chances[places].prod(axis=1)
    np.testing.assert_allclose(weights @ path, 1.0, rtol=1e-6)
    assert weights @ (path.max(axis=1) >= LIMIT) <= 0.05


def test_nine_boards_of_minus_1_and_one_of_9_are_seldom_significant_at_any_look() -> None:
    drawn = np.random.default_rng(1).choice([-1.0, 9.0], p=[0.9, 0.1], size=(2_000, 150))
    for plan in (None, Plan(-1.0, 3.0)):
        assert (evidence_path(drawn, 9.0, plan).max(axis=1) >= LIMIT).mean() <= 0.05


def test_the_first_bets_are_those_of_the_plan_and_never_stake_more_than_all() -> None:
    sizes, parts = np.array([0.25, 0.5, 1, 2]), np.array([0.04, 0.04, 0.9, 0.02])
    step = 3.0 / BOUND * np.tanh(0.5 * sizes * BOUND)
    up, down = parts @ (1 + step), parts @ (1 - step)
    assert evidence_path(np.array([3.0]), BOUND, PLAN)[0] == pytest.approx(0.75 * up + 0.25 * down)
    assert evidence_path(np.array([-3.0]), BOUND, PLAN)[0] == pytest.approx(0.75 * down + 0.25 * up)
    assert (evidence_path(np.array([-BOUND] * 40 + [BOUND] * 40), BOUND, Plan(9.0, 1.0)) > 0).all()


@pytest.mark.parametrize("plan", PLANS)
def test_a_difference_beyond_the_bound_is_refused(plan: Plan | None) -> None:
    with pytest.raises(UserError, match=r"a difference of 5\.1 exceeds the range of its metric, 5"):
        evidence(np.array([1.0, -5.1]), BOUND, plan)


@given(st.lists(st.one_of(FLOATS, BINARY), min_size=1, max_size=30), st.sampled_from(PLANS), st.integers(-3, 3))
def test_the_interval_lies_within_the_bounds_and_leaves_out_0_where_the_evidence_against_it_is_enough(
    values: list[float], plan: Plan | None, shift: int
) -> None:
    differences = np.array(values) + shift
    low, high = anytime_interval(differences, BOUND, plan)
    assert -BOUND <= low <= high <= BOUND
    assert (low <= 1e-6 and high >= -1e-6) == (evidence(differences, BOUND, plan) < LIMIT)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.sampled_from(PLANS), st.sampled_from([-0.6, 0.0, 0.2]))
def test_a_bet_is_placed_before_its_board_is_seen(before: list[float], plan: Plan | None, centre: float) -> None:
    """So what is owned is a straight line over the next board, and stays the same for one at the centre."""
    owned = [evidence_path(np.array([*before, last]), 1.0, plan, centre)[-1] for last in (-1.0, centre, 1.0)]
    at_centre = owned[0] + (owned[2] - owned[0]) * (centre + 1) / 2
    assert owned[1] == pytest.approx(at_centre)
    assert owned[1] == pytest.approx(evidence_path(np.array(before), 1.0, plan, centre)[-1])


@pytest.mark.parametrize("bound", [1.0, 4.0])
def test_the_interval_only_shrinks(bound: float) -> None:
    values = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], p=[0.1, 0.4, 0.5], size=60)
    ends = np.array([anytime_interval(values[:boards], bound, PLAN) for boards in range(10, 61, 10)])
    assert (np.diff(ends[:, 0]) >= -1e-6).all()
    assert (np.diff(ends[:, 1]) <= 1e-6).all()
    assert ends[-1, 0] <= values.mean() <= ends[-1, 1]


@pytest.mark.parametrize("plan", [PLAN, None])
def test_units_and_directions_change_nothing(plan: Plan | None) -> None:
    values = np.clip(np.random.default_rng(4).normal(0.5, 1, 40), -BOUND, BOUND)
    low, high = anytime_interval(values, BOUND, plan)
    larger, other = (Plan(3.5, 7.0), Plan(-0.5, 1.0)) if plan else (None, None)
    assert anytime_interval(7 * values, 7 * BOUND, larger) == pytest.approx((7 * low, 7 * high), rel=1e-4)
    assert anytime_interval(-values, BOUND, other) == pytest.approx((-high, -low), rel=1e-4)
    assert evidence(-values, BOUND, other) == pytest.approx(evidence(values, BOUND, plan))


@pytest.mark.parametrize("plan", PLANS)
def test_few_boards_are_no_evidence_and_equal_ones_are(plan: Plan | None) -> None:
    assert np.isnan(anytime_interval(np.array([]), BOUND, plan)).all()
    for values in ([], [3.0], [1.0, 2.0]):
        assert evidence(np.array(values), BOUND, plan) < LIMIT
    assert evidence(np.zeros(50), BOUND, plan) == pytest.approx(1)
    assert evidence(np.ones(150), BOUND, plan) >= (LIMIT if plan is not PLANS[3] else 1)


def test_a_wider_range_takes_more_boards() -> None:
    """One board at the bound could outweigh all others, so n boards of 1 say little about a range of more than n."""
    needed = [int(np.argmax(evidence_path(np.ones(400), bound, PLAN) >= LIMIT)) for bound in (1.0, 5.0, 50.0)]
    assert needed == sorted(needed)
    assert needed[0] > 0
    assert needed[2] >= 50


def test_a_study_is_futile_once_the_planned_effect_is_ten_times_less_likely() -> None:
    random = np.random.default_rng(5)
    none, some = random.normal(0, 1, (200, 100)), random.normal(0.5, 1, (200, 100))
    assert futile(none, PLAN)[:, -1].mean() > 0.9
    assert futile(some, PLAN)[:, -1].mean() < 0.1
    assert futile(-some, PLAN)[:, -1].mean() < 0.1
    assert math.exp(3 * -(0.5**2) / 2) > anytime._FUTILE
    assert not futile(np.array([0.0, 0.0, 0.0]), PLAN).any()


@pytest.mark.parametrize(("effect", "deviation"), [(0, 1), (math.nan, 1), (1, 0), (1, math.nan)])
def test_a_plan_without_an_effect_or_a_deviation_is_refused(effect: float, deviation: float) -> None:
    with pytest.raises(ValueError, match="a plan needs"):
        Plan(effect, deviation)
