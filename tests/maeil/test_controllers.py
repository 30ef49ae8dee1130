from __future__ import annotations

import pytest

from maeil import ActionEnd, ActionStatus
from maeil.controllers import SUCCESS, Repeat, failed


@pytest.mark.parametrize("ticks", [1, 3])
def test_a_primitive_is_given_for_its_ticks_and_then_the_action_succeeds(ticks: int) -> None:
    controller = Repeat(7, ticks)
    given = []
    while controller.status() is None:
        assert controller.status() is None, "to be asked twice changes nothing"
        given.append(controller.act())
    controller.close()
    assert given == [7] * ticks
    assert controller.status() == SUCCESS == ActionEnd(ActionStatus.SUCCESS)


def test_a_failure_names_its_reason_with_the_numbers_behind_it() -> None:
    assert failed("too_few_agents", 1, "of", 3) == ActionEnd(ActionStatus.FAILED, "too_few_agents 1 of 3")
