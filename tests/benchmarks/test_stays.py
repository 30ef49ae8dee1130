"""What counts as a stay of a value."""

from __future__ import annotations

import sys

import pytest

from benchmarks.stays import ROUNDS, WALKS, Walk
from quorum.configuration.leaves import leaves
from quorum.configuration.secrets import refuse_secrets


def _walk() -> Walk:
    return Walk(lambda value: value == ROUNDS, lambda place: place[1] == "nowhere")


def test_a_function_that_holds_the_value_is_one_stay_and_one_that_holds_another_is_none() -> None:
    walk = _walk()
    sys.setprofile(walk)
    try:
        for rounds in (ROUNDS, ROUNDS):
            list(leaves({"topology": {"rounds": rounds}}))
        refuse_secrets({"n": 1})
    finally:
        sys.setprofile(None)
    assert walk.stays == {("quorum/configuration/leaves.py", "leaves"): True}
    assert walk.figures() == "1 stays in 1 files, 1 returns"


def test_the_way_ends_where_the_value_arrives() -> None:
    walk = Walk(lambda value: value == ROUNDS, lambda place: place[1] == "leaves")
    sys.setprofile(walk)
    try:
        list(leaves({"rounds": ROUNDS}))
    finally:
        sys.setprofile(None)
    assert not walk.under_way


@pytest.mark.conformance
@pytest.mark.parametrize("name", sorted(WALKS))
def test_both_values_arrive(name: str) -> None:
    walk = WALKS[name]()
    assert not walk.under_way
    assert len(walk.stays) > 10
