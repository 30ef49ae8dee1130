"""A chooser goes by the rules, by a draw among near options, or at random."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from quorum.agents.skills import Chooser

COSTS = {"near": 3, "also near": 3, "next": 4, "far": 9}


def drawn(temperature: float, times: int = 4000) -> Counter[str]:
    chooser = Chooser(np.random.default_rng(0), temperature=temperature)
    return Counter(chooser.least(COSTS, COSTS.__getitem__) for _ in range(times))


def test_without_a_temperature_it_takes_the_first_of_the_cheapest() -> None:
    assert drawn(0, 20) == {"near": 20}


@pytest.mark.parametrize("temperature", [0.5, 1, 3])
def test_options_are_drawn_by_a_softmax_of_their_costs(temperature: float) -> None:
    weights = {option: np.exp(-cost / temperature) for option, cost in COSTS.items()}
    found = drawn(temperature)
    for option, weight in weights.items():
        assert found[option] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03), option


def test_poor_choices_come_at_their_rate_and_from_all_options() -> None:
    chooser = Chooser(np.random.default_rng(0), poor=0.3)
    assert sum(chooser.is_poor() for _ in range(2000)) / 2000 == pytest.approx(0.3, abs=0.04)
    assert {chooser.any_of("abc") for _ in range(50)} == set("abc")
