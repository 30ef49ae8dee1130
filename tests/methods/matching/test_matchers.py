"""Needs held against offers: by tasks, and by the characters of the words."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.methods.dytopo.descriptors import Descriptor, Need, Offer
from quorum.methods.dytopo.matchers import MATCHERS
from quorum_base.ngrams import count_ngrams


def says(offers: Offer | str = "", needs: Need | str = "") -> Descriptor:
    offers = Offer(offers) if isinstance(offers, str) else offers
    return Descriptor(offers, Need(needs) if isinstance(needs, str) else needs)


def scores(matcher: str, *descriptors: Descriptor) -> list[list[float]]:
    return MATCHERS[matcher](descriptors)


@pytest.mark.parametrize(
    ("wanted", "offered", "free", "score"),
    [
        (("block_1",), ("block_1", "block_2"), True, 1),
        (("block_1", "block_2"), ("block_2",), True, 0.5),
        (("block_1",), ("block_10",), True, 0),
        (("block_1",), ("block_1",), False, 0),
        ((), ("block_1",), True, 0),
        (("block_1", "block_1"), ("block_1",), True, 1),
    ],
)
def test_typed_scores_the_share_of_the_needed_tasks_that_one_who_is_free_offers(
    wanted: tuple[str, ...], offered: tuple[str, ...], free: bool, score: float
) -> None:
    found = scores("typed", says(needs=Need("hands", wanted)), says(Offer("hands", offered, free)))
    assert found[0][1] == score


def test_lexical_scores_equal_words_1_and_words_without_a_letter_in_common_0() -> None:
    found = scores("lexical", says(needs="Who pushes block_3?"), says("who  pushes BLOCK_3?"), says("zzzz"))
    assert found[0][1] == pytest.approx(1)
    assert found[0][2] == 0


def test_lexical_scores_the_same_block_higher_than_another_one() -> None:
    need = says(needs="block_3 takes 2 more to push.")
    near, far = says("I can push block_3, 4 steps away."), says("I can push block_7, 4 steps away.")
    _, same, other = scores("lexical", need, near, far)[0]
    assert same > other > 0


def test_lexical_reads_the_tasks_too_and_an_empty_need_matches_nothing() -> None:
    found = scores("lexical", says(needs=Need("", ("block_3",))), says(Offer("", ("block_3",))), says("x"))
    assert found[0][1] == pytest.approx(1)
    assert found[1] == [0, 0, 0]


def test_lexical_counts_are_the_same_in_every_process() -> None:
    counts = count_ngrams("Block_3!")
    assert counts.sum() == 8 + 7 + 6  # of 10 characters with the spaces around them
    assert np.flatnonzero(counts).tolist()[:4] == [87, 372, 607, 610]
