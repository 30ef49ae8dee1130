"""When a study stops adding boards: two forms of condition, and messages for all others."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.configuration.cell import Cell
from quorum.study.anytime import Plan
from quorum.study.until import Until, largest_difference
from quorum_base.user_errors import UserError

PLAN = Plan(-5.0, 10.0)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("half_width(steps) < 3", Until("outcome.steps", 3.0)),
        (" half_width( outcome.completion )<.05 ", Until("outcome.completion", 0.05)),
        ("significant(steps)", Until("outcome.steps")),
    ],
)
def test_both_forms_are_read(text: str, condition: Until) -> None:
    assert Until.parse(text) == condition


@pytest.mark.parametrize(
    "text", ["", "steps < 3", "half_width(steps) > 3", "half_width(steps) < 0", "half_width(steps) < x", "significant"]
)
def test_other_text_is_answered_with_the_two_forms(text: str) -> None:
    with pytest.raises(UserError, match=r"(?s)--until '.*half_width\(METRIC\) < NUMBER.*significant\(METRIC\)"):
        Until.parse(text)


def test_an_unknown_metric_is_answered_with_the_nearest_names() -> None:
    with pytest.raises(UserError, match=r"(?s)no metric stepz.*Did you mean 'steps'"):
        Until.parse("significant(stepz)")


@pytest.mark.parametrize(("metric", "largest"), [("outcome.steps", 40), ("outcome.success", 1), ("plans.stability", 1)])
def test_the_range_of_a_metric_is_that_of_a_rate_or_its_limit_in_the_configuration(metric: str, largest: float) -> None:
    assert largest_difference(metric, Cell.compose(["max_steps=40"]).configuration) == largest


def test_a_metric_without_a_range_is_refused_and_those_with_one_are_named() -> None:
    with pytest.raises(UserError, match=r"(?s)outcome.score has no known range.*outcome.success.*steps_or_limit"):
        largest_difference("outcome.score", Cell.compose([]).configuration)


def test_a_study_goes_on_until_its_condition_holds() -> None:
    differences = np.clip(np.random.default_rng(1).normal(-5, 10, 160), -40, 40)
    significant, narrow = Until("outcome.steps"), Until("outcome.steps", 4.0)
    for until in (significant, narrow):
        looks = [until.holds(differences[:boards], 40.0, PLAN) for boards in range(0, 161, 10)]
        assert not looks[0]
        assert looks == sorted(looks)
        assert looks[-1]
    assert not significant.hopeless(differences, PLAN)


def test_only_significance_of_a_planned_effect_is_ever_hopeless() -> None:
    nothing = np.random.default_rng(2).normal(0, 10, 120)
    assert Until("outcome.steps").hopeless(nothing, PLAN)
    assert not Until("outcome.steps").hopeless(nothing, None)
    assert not Until("outcome.steps", 1.0).hopeless(nothing, PLAN)
