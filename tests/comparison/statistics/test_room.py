"""The share of the room: means over all boards, and the interval of the sign-flip test; none without room."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quorum.comparison.statistics.flips import sign_flip_test
from quorum.comparison.statistics.room import room_closed

STEADY = np.array([9.0, 10, 11, 10, 9, 11])
"""Rooms that are significantly above 0."""


def test_the_share_is_the_ratio_of_means_over_all_boards_also_those_without_room() -> None:
    silent, reference = np.zeros(8), np.array([*STEADY, -2.0, 0.0])
    arm = np.array([5.0, 5, 6, 4, 5, 5, 7, -1])
    found = room_closed(arm, silent, reference, lower_is_better=False)
    assert found.share.value == pytest.approx(36 / 58)
    assert found.room.value == pytest.approx(58 / 8)
    assert found.share.boards == found.room.boards == 8


def test_of_a_metric_whose_lower_values_are_better_the_room_is_below() -> None:
    silent = np.full(6, 30.0)
    found = room_closed(silent - STEADY / 2, silent, silent - STEADY, lower_is_better=True)
    assert found.share.value == pytest.approx(0.5)
    assert found.room.value == pytest.approx(10)


def test_the_silent_team_closes_nothing_and_the_reference_all() -> None:
    random = np.random.default_rng(1)
    silent, reference = random.normal(0, 1, 20), random.normal(5, 1, 20)
    for arm, share in ((silent, 0.0), (reference, 1.0)):
        found = room_closed(arm, silent, reference, lower_is_better=False).share
        assert found.value == pytest.approx(share)
        assert math.isnan(found.low)
        assert math.isnan(found.high)


@pytest.mark.parametrize(
    "rooms",
    [np.ones(0), np.zeros(9), -STEADY, STEADY[:5], np.array([1.0, -1, 1, -1, 1, 1, 1, 1])],
    ids=["no boards", "none", "below 0", "five boards", "not significant"],
)
def test_without_significant_room_there_is_no_share(rooms: np.ndarray) -> None:
    found = room_closed(rooms + 1.0, np.zeros(len(rooms)), rooms, lower_is_better=False)
    assert math.isnan(found.share.value)
    assert math.isnan(found.share.low)
    assert found.share.boards == len(rooms)


@pytest.mark.parametrize("boards", [7, 18])
def test_the_interval_is_all_shares_that_the_sign_flip_test_does_not_reject(boards: int) -> None:
    random = np.random.default_rng(2)
    rooms = random.gamma(4, 5, boards)
    rooms[0] = -1.0
    gains = 0.5 * rooms + random.normal(0, 3, boards)
    found = room_closed(gains, np.zeros(boards), rooms, lower_is_better=False).share
    assert found.low < 0.5 < found.high
    for share in np.linspace(0.0, 1.2, 49):
        if min(abs(share - found.low), abs(share - found.high)) > 0.005:
            rejected = sign_flip_test(gains - share * rooms) <= 0.05
            assert rejected == (not found.low <= share <= found.high)


@pytest.mark.parametrize("size", [0.0, 0.5])
def test_boards_are_not_chosen_by_the_runs_that_are_analysed(size: float) -> None:
    """An arm equal to the silent team in law closes nothing, however much the silent team's luck makes the room."""
    random = np.random.default_rng(3)
    stated, wrong = [], 0
    for _ in range(400):
        arm, silent, reference = random.normal(0, 1, (3, 20))
        found = room_closed(arm, silent, reference + size, lower_is_better=False).share
        if not math.isnan(found.value):
            stated.append(found.value)
            wrong += size == 0 or found.low > 0 or found.high < 0
    assert wrong <= 400 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 400))
    assert len(stated) <= (40 if size == 0 else 250)
