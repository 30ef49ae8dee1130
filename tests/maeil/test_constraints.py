"""The event of a state reports all of the state, with the literal counts where the world gives none."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from maeil.constraints import _change
from maeil.plans import Task
from maeil.tasks import TaskState
from maeil.trace.events import ConstraintChange

STATE = TaskState(Task("deliver", "block_3"), 2, 3, 4, 5, 1, dependency=True)


@pytest.mark.parametrize(("literal", "reported"), [(None, (2, 3, True)), ((7, 8, False), (7, 8, False))])
def test_a_change_of_a_task_tells_every_field_of_its_state(
    literal: tuple[int, int, bool] | None, reported: tuple[int, int, bool]
) -> None:
    state = TaskState(STATE.task, 2, 3, 4, 5, 1, dependency=True, literal=literal)
    assert asdict(_change(state)) == {**asdict(state), "literal": reported}
    assert [field.name for field in fields(ConstraintChange)] == [field.name for field in fields(TaskState)]
