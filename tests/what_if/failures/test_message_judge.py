"""Effects of hand-made arms: their parts add up, the first is tested alone, each is held against the noise floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest

from maeil.metrics import METRICS, Metric
from quorum.comparison.differences import Cells
from quorum.study.analysis import Judged, best_of, judge
from quorum.study.noise import NoiseVerdict
from quorum.study.question import load_question

SCORE, STEPS = METRICS["outcome.score"], METRICS["outcome.steps_or_limit"]
TALK = load_question("talk").effects
SILENT = [3, 0, 5, 2, 4, 1, 6, 2]
"""Scores of the silent team on eight boards, one run each."""


def cells(scores: Sequence[float], *more: Sequence[float]) -> Cells:
    """Return the runs of an arm by board, each draw of which has its own scores."""
    return {(board,): runs for board, runs in enumerate(map(list, zip(scores, *more, strict=True)))}


def plus(gains: Sequence[float]) -> Cells:
    """Return the runs of an arm that scores so much more than the silent team on each board."""
    return cells([score + gain for score, gain in zip(SILENT, gains, strict=True)])


def talk(**arms: Cells) -> Judged:
    return judge(TALK, arms, SCORE)


def corrected(judged: Judged) -> dict[str, float]:
    return {effect.file.name: effect.difference.p_holm for effect in judged.effects}


def verdict(judged: Judged, name: str) -> NoiseVerdict:
    return next(effect.verdict for effect in judged.effects if effect.file.name == name)


@pytest.mark.parametrize("seed", range(3))
def test_on_every_board_talk_is_its_turns_its_envelope_and_its_content(seed: int) -> None:
    drawn = np.random.default_rng(seed).integers(0, 20, (4, 2, 8)).tolist()
    arms = dict(zip(("treatment", "silent", "mute", "null"), (cells(*draws) for draws in drawn), strict=True))
    boards = [{arm: {(board,): values[board,]} for arm, values in arms.items()} for board in range(8)]
    for some in (*boards, arms):
        means = {effect.file.name: effect.difference.mean.value for effect in talk(**some).effects}
        assert means["total"] == means["turns"] + means["envelope"] + means["content"]


def test_the_first_effect_is_tested_alone_and_the_others_are_corrected_by_holm() -> None:
    """Turns gain 1 on all eight boards, content on seven and loses 1 on the last; envelopes do nothing."""
    found = corrected(
        talk(
            silent=cells(SILENT),
            mute=plus([1] * 8),
            null=plus([1] * 8),
            treatment=plus([2] * 7 + [0]),
        )
    )
    assert found == {
        "total": 2 / 2**7,  # the last board does not differ
        "turns": 2 * 2 / 2**8,  # of two: no test without a board that differs could have been as small
        "envelope": 1.0,
        "content": 2 * 9 / 2**8,
    }


def test_without_the_arms_of_the_first_effect_no_other_is_tested_alone() -> None:
    found = corrected(talk(mute=cells(SILENT), null=plus([1] * 8), treatment=plus([2] * 8)))
    assert found == {"envelope": 2 * 2 / 2**8, "content": 2 * 2 / 2**8}


def test_effects_of_arms_that_were_not_played_are_left_out() -> None:
    arms = {"silent": cells(SILENT), "null": cells(SILENT), "truth": plus([1] * 8)}
    assert [effect.file.name for effect in talk(**arms).effects] == ["truth"]
    assert [effect.file.name for effect in talk(**arms, treatment=cells(SILENT)).effects] == [
        "total",
        "content",
        "truth",
        "truth instead",
    ]
    assert talk(treatment=cells(SILENT)).effects == ()


@pytest.mark.parametrize(
    ("noise", "expected"), [([1, -1] * 4, NoiseVerdict.FOUND), ([5, -4] * 4, NoiseVerdict.NOT_FOUND)]
)
def test_an_effect_counts_only_where_it_is_greater_than_equal_arms_differ(
    noise: list[int], expected: NoiseVerdict
) -> None:
    """An effect of 2 on each board is significant; whether draws alone can do as much is for `again` to say."""
    again = plus([2 + gap for gap in noise])
    found = talk(silent=cells(SILENT), treatment=plus([2] * 8), again=again)
    assert found.effects[0].difference.p == 2 / 2**8
    assert verdict(found, "total") is expected
    assert (found.floor < 2) == (expected is NoiseVerdict.FOUND)
    assert found.same is not None
    assert found.same.mean.value == fmean(noise)


def test_an_effect_that_boards_contradict_is_within_the_floor_however_large() -> None:
    gains = [20, -4, 20, -5, 20, -6, 20, -7]
    treatment = plus(gains)
    found = talk(silent=cells(SILENT), treatment=treatment, again=plus([gain + 1 for gain in gains]))
    assert found.effects[0].difference.p > 0.05
    assert found.effects[0].difference.mean.value > found.floor
    assert verdict(found, "total") is NoiseVerdict.NOT_FOUND


def test_without_runs_of_the_same_team_there_is_no_floor_and_the_verdict_rests_on_the_test() -> None:
    found = talk(silent=cells(SILENT), treatment=plus([2] * 8))
    assert found.same is None
    assert math.isnan(found.floor)
    assert verdict(found, "total") is NoiseVerdict.FOUND


def test_of_a_team_that_repeats_itself_the_floor_is_unknown_and_the_verdict_rests_on_the_test() -> None:
    treatment = plus([2] * 8)
    found = talk(silent=cells(SILENT), treatment=treatment, again=treatment)
    assert math.isnan(found.floor)
    assert verdict(found, "total") is NoiseVerdict.FOUND
    assert verdict(talk(silent=cells(SILENT), treatment=plus([1, -1] * 4), again=plus([1, -1] * 4)), "total") is (
        NoiseVerdict.NOT_FOUND
    )


@pytest.mark.parametrize("values", [[4.0], [1.0, 2.0], [3.0, 1.0, 2.0, 2.0], [5.0, 0.0, 0.0, 7.0, 3.0, 3.0]])
@pytest.mark.parametrize(("metric", "best"), [(SCORE, max), (STEPS, min)])
def test_the_best_of_some_tries_is_the_mean_over_all_choices_of_tries(
    values: list[float], metric: Metric, best: Callable[[Sequence[float]], float]
) -> None:
    for tries in range(1, len(values) + 1):
        chosen = [Fraction(best(some)) for some in combinations(values, tries)]
        assert best_of(values, tries, metric) == pytest.approx(float(sum(chosen) / len(chosen)), rel=1e-12)
