"""The event of a state reports all of the state, with the literal counts where the world gives none."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

import pytest

from maeil.constraints import _change, missing
from maeil.plans import Task
from maeil.tasks import TaskState
from maeil.trace.events import ConstraintChange

ENOUGH = TaskState(Task("deliver", "block_3"), 2, 2, 2, 2, 2, dependency=True)
STATE = TaskState(Task("deliver", "block_3"), 2, 3, 4, 5, 1, dependency=True)


@pytest.mark.parametrize(("literal", "reported"), [(None, (2, 3, 2)), ((7, 8, 5), (7, 8, 5))])
def test_a_change_of_a_task_tells_every_field_of_its_state(
    literal: tuple[int, int, int] | None, reported: tuple[int, int, int]
) -> None:
    state = TaskState(STATE.task, 2, 3, 4, 5, 1, dependency=True, literal=literal)
    assert asdict(_change(state)) == {**asdict(state), "literal": reported}
    assert [field.name for field in fields(ConstraintChange)] == [field.name for field in fields(TaskState)]


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (replace(ENOUGH, dependency=False, participation=1, spatial=0), ("dependency", "participation", "spatial")),
        (replace(ENOUGH, participation=1, spatial=1, temporal=1), ("participation", "spatial", "temporal")),
        (replace(ENOUGH, spatial=1, temporal=1, joint=1), ("spatial", "temporal")),
        (replace(ENOUGH, temporal=1, joint=1), ("temporal",)),
        (replace(ENOUGH, joint=1), ("joint",)),
        (ENOUGH, ()),
    ],
)
def test_what_comes_first_is_the_cause(state: TaskState, found: tuple[str, ...]) -> None:
    assert missing(state) == found
