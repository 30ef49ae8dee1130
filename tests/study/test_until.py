"""When a study stops adding boards: two forms of condition, and messages for all others."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.study.anytime import Plan
from quorum.study.until import Until
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


def test_a_study_goes_on_until_its_condition_holds() -> None:
    differences = np.random.default_rng(1).normal(-5, 10, 120)
    significant, narrow = Until("outcome.steps"), Until("outcome.steps", 4.0)
    for until in (significant, narrow):
        looks = [until.holds(differences[:boards], PLAN) for boards in range(0, 121, 10)]
        assert not looks[0]
        assert looks == sorted(looks)
        assert looks[-1]
    assert not significant.hopeless(differences, PLAN)


def test_only_significance_of_a_planned_effect_is_ever_hopeless() -> None:
    nothing = np.random.default_rng(2).normal(0, 10, 120)
    assert Until("outcome.steps").hopeless(nothing, PLAN)
    assert not Until("outcome.steps").hopeless(nothing, None)
    assert not Until("outcome.steps", 1.0).hopeless(nothing, PLAN)
