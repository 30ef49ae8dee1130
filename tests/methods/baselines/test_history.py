"""The history in a prompt has its bound, and keeps the newest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.prompting.blocks import write_json
from quorum.methods.baselines.minds import History


@given(st.lists(st.integers(0, 3000), max_size=30), st.integers(0, 1500))
def test_it_keeps_as_many_of_the_newest_pairs_as_fit(sizes, tokens):
    history = History(tokens)
    for step, size in enumerate(sizes):
        history.add(step, "x" * size, {})
    kept = history.pairs
    assert sum(len(write_json(pair)) for pair in kept) <= 4 * tokens
    assert [pair["step"] for pair in kept] == list(range(len(sizes)))[len(sizes) - len(kept) :]
    if len(kept) < len(sizes):
        left_out = {"step": len(sizes) - len(kept) - 1, "state": "x" * sizes[-len(kept) - 1], "plans": {}}
        assert sum(len(write_json(pair)) for pair in [*kept, left_out]) > 4 * tokens


def test_three_thousand_tokens_are_twelve_thousand_characters():
    history = History(3000)
    for step in range(100):
        history.add(step, "x" * (1000 - len('{"plans":{},"state":"","step":00}')), {})
    assert [pair["step"] for pair in history.pairs] == list(range(88, 100))
