"""The published scores of hypotheses (Hypothetical Minds, arXiv 2407.07086), one rule a test."""

from __future__ import annotations

import pytest

from maeil import Task
from quorum.methods.predictions import Prediction
from quorum.methods.tom.hypotheses import ACTS, Act, Partner

A, B = Task("deliver", "block_0"), Task("deliver", "block_1")


def partner(*texts: str, kept: int = 5) -> Partner:
    found = Partner(1, kept=kept, alpha=0.3, threshold=0.7)
    for text in texts:
        found.add(text)
    return found


def values(of: Partner) -> list[float]:
    return [round(one.value, 4) for one in of.hypotheses]


def play(of: Partner, did: Task, *said: Task | None) -> None:
    """Let the hypotheses that predict say what comes next, and then something come."""
    of.predict({one.number: task for one, task in zip(of.predicting, said, strict=True)})
    of.observe(Act(0, did))


def test_a_hypothesis_is_born_with_the_value_0_and_is_not_valid() -> None:
    found = partner("first")
    assert values(found) == [0]
    assert found.valid is None


def test_a_value_goes_to_1_by_alpha_when_it_is_right_and_to_minus_1_when_it_is_wrong() -> None:
    found = partner("right", "wrong")
    play(found, A, A, B)
    assert values(found) == [0.3, -0.3]
    play(found, A, A, B)
    assert values(found) == [0.51, -0.51]  # 0.3 + 0.3 (1 - 0.3), -0.3 + 0.3 (-1 + 0.3)
    play(found, A, B, A)
    assert values(found) == [0.057, -0.057]


def test_a_prediction_of_no_task_is_wrong_when_a_task_is_taken_up() -> None:
    found = partner("idle")
    play(found, A, None)
    assert values(found) == [-0.3]


def test_a_tie_leaves_the_value_as_it_is() -> None:
    found = partner("said nothing", "right")
    found.predict({2: A})
    found.observe(Act(3, A))
    assert values(found) == [0, 0.3]
    found.observe(Act(4, B))  # nobody has predicted since
    assert values(found) == [0, 0.3]
    assert not found.awaited


def test_four_in_a_row_make_it_valid_above_the_threshold_and_a_failure_ends_that() -> None:
    found = partner("right", "wrong")
    for _ in range(3):
        play(found, A, A, B)
    assert (values(found)[0], found.valid) == (0.657, None)
    play(found, A, A, B)
    assert values(found)[0] == 0.7599
    assert found.valid is found.hypotheses[0]
    assert found.predicting == (found.hypotheses[0],)  # it alone is asked from now on
    play(found, B, A)
    assert found.valid is None
    assert found.predicting == found.hypotheses


def test_a_value_at_the_threshold_is_not_above_it() -> None:
    found = Partner(1, kept=5, alpha=0.5, threshold=0.5)
    found.add("right")
    play(found, A, A)
    assert (values(found), found.valid) == ([0.5], None)


def test_the_five_best_are_kept_and_the_latest() -> None:
    found = partner(*"abcde")
    play(found, A, A, A, B, A, A)  # c is wrong
    found.add("f")
    assert [one.text for one in found.hypotheses] == [*"abcdef"]
    found.add("g")
    assert [one.text for one in found.hypotheses] == [*"abdefg"]  # c was the sixth by its value
    found.add("h")
    assert [one.text for one in found.hypotheses] == [*"abdegh"]  # of equally good ones the later is kept
    assert [one.number for one in found.hypotheses] == [1, 2, 4, 5, 7, 8]


def test_all_that_are_kept_predict_and_are_scored_while_none_is_valid() -> None:
    found = partner(*"abcdef")
    play(found, A, A, B, A, B, A, B)
    assert values(found) == [0.3, -0.3] * 3


def test_whoever_refines_is_shown_those_above_0_the_best_first() -> None:
    found = partner(*"abc")
    play(found, A, A, B, A)
    play(found, A, B, B, A)
    found.add("d")
    assert [one.text for one in found.shown] == ["c"]  # a has come to -0.09, b to -0.51, d is new
    assert round(found.hypotheses[0].value, 4) == -0.09


def test_what_is_expected_is_by_the_best_and_of_equally_good_ones_by_the_latest() -> None:
    found = partner("a", "b")
    assert found.expected is None
    found.predict({1: A, 2: B})
    assert found.expected == Prediction(1, B)
    found.observe(Act(0, A))
    found.predict({1: A, 2: B})
    assert found.expected == Prediction(1, A)


def test_what_was_predicted_before_does_not_count_after_new_predictions() -> None:
    found = partner("a", "b")
    found.predict({1: A, 2: A})
    found.predict({2: B})
    found.observe(Act(0, B))
    assert values(found) == [0, 0.3]


def test_the_last_acts_alone_are_remembered() -> None:
    found = partner()
    assert found.last is None
    for t in range(ACTS + 2):
        found.observe(Act(t, A))
    assert [act.t for act in found.acts] == list(range(2, ACTS + 2))


@pytest.mark.parametrize("kept", [1, 2])
def test_fewer_may_be_kept(kept: int) -> None:
    assert len(partner(*"abcd", kept=kept).hypotheses) == kept + 1
