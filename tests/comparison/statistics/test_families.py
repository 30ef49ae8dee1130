"""Many tests at once, against the step-down procedure and against closed testing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.comparison.statistics.flips import holm, sign_flip_test, smallest_p

TESTS = st.lists(
    st.integers(1, 12).flatmap(lambda k: st.tuples(st.just(2.0 / 2**k), st.floats(2.0 / 2**k, 1))), max_size=5
)


def test_holm_on_a_hand_made_family() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float], level: float) -> None:
    rejected = set()
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if (len(p_values) - rank) * p_values[place] > level:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(p_values)) if p <= level} == rejected


def test_rows_that_cannot_reject_do_not_use_up_the_correction() -> None:
    p_values, boards = [0.02, 0.25, 0.5, 0.25], [10, 3, 2, 3]
    assert holm(p_values)[0] == 0.08
    assert holm(p_values, [smallest_p(k) for k in boards])[0] == 0.02


@given(TESTS)
def test_it_never_goes_below_the_p_value_nor_above_holms(tests: list[tuple[float, float]]) -> None:
    least, p_values = [t[0] for t in tests], [t[1] for t in tests]
    for p, ours, reference in zip(p_values, holm(p_values, least), holm(p_values), strict=True):
        assert p <= ours <= reference


@given(TESTS, st.sampled_from([0.01, 0.05, 0.2]))
def test_it_rejects_only_what_closed_testing_rejects(tests: list[tuple[float, float]], level: float) -> None:
    """A row is found where every set of rows that has it is: by its least p, times those that could reach it."""
    least, p_values = [t[0] for t in tests], [t[1] for t in tests]

    def found(rows: tuple[int, ...]) -> bool:
        smallest = min(p_values[row] for row in rows)
        return smallest * sum(least[row] <= smallest for row in rows) <= level

    sets = [rows for size in range(1, len(tests) + 1) for rows in combinations(range(len(tests)), size)]
    for row, adjusted in enumerate(holm(p_values, least)):
        assert (adjusted <= level) == all(found(rows) for rows in sets if row in rows)


def test_the_chance_of_any_false_finding_stays_below_the_level() -> None:
    random = np.random.default_rng(4)
    boards = (3, 4, 6, 7, 10)
    least = [smallest_p(k) for k in boards]
    false = [
        min(holm([sign_flip_test(random.choice((-1.0, 1.0), k)) for k in boards], least)) <= 0.05 for _ in range(1_000)
    ]
    assert np.mean(false) <= 0.05 + 3 * (0.05 * 0.95 / 1_000) ** 0.5
