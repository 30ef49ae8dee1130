"""The share of the room: sums over boards with room, others counted, and an interval that is the sign-flip test's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quorum.comparison.statistics.flips import sign_flip_test
from quorum.comparison.statistics.room import room_closed


def test_the_share_is_the_ratio_of_sums_over_the_boards_with_room() -> None:
    silent, reference = np.array([10.0, 20, 30, 40]), np.array([20.0, 20, 25, 80])
    found = room_closed(np.array([15.0, 99, 99, 50]), silent, reference, lower_is_better=False)
    assert found.share.value == pytest.approx((5 + 10) / (10 + 40))
    assert (found.boards, found.without) == (2, 2)


def test_of_a_metric_whose_lower_values_are_better_the_room_is_below() -> None:
    found = room_closed(np.array([15.0, 12.0]), np.array([20.0, 10.0]), np.array([10.0, 12.0]), lower_is_better=True)
    assert found.share.value == pytest.approx(0.5)
    assert found.without == 1


def test_the_silent_team_closes_nothing_and_the_reference_all() -> None:
    random = np.random.default_rng(1)
    silent, reference = random.normal(0, 1, 20), random.normal(5, 1, 20)
    for arm, share in ((silent, 0.0), (reference, 1.0)):
        assert room_closed(arm, silent, reference, lower_is_better=False).share.value == pytest.approx(share)


def test_without_room_there_is_no_share_and_over_few_boards_no_interval() -> None:
    ones = np.ones(3)
    nowhere = room_closed(ones, ones, ones, lower_is_better=False)
    assert math.isnan(nowhere.share.value)
    assert nowhere.without == 3
    five = room_closed(np.arange(5.0), np.zeros(5), np.full(5, 9.0), lower_is_better=False).share
    assert five.value == pytest.approx(10 / 45)
    assert math.isnan(five.low)
    assert math.isnan(five.high)


@pytest.mark.parametrize("boards", [7, 18])
def test_the_interval_is_all_shares_that_the_sign_flip_test_does_not_reject(boards: int) -> None:
    random = np.random.default_rng(2)
    rooms = random.gamma(4, 5, boards)
    gains = 0.5 * rooms + random.normal(0, 3, boards)
    found = room_closed(gains, np.zeros(boards), rooms, lower_is_better=False).share
    for share in np.linspace(0.1, 0.9, 41):
        if min(abs(share - found.low), abs(share - found.high)) > 0.005:
            rejected = sign_flip_test(gains - share * rooms) <= 0.05
            assert rejected == (not found.low <= share <= found.high)
