import itertools

import pytest

from maeil.errors import IllegalTransition
from maeil.stages import Stage, Trigger, after, may_send

TABLE = {
    ("R", "plan_committed"): "W",
    ("W", "all_ready"): "X",
    ("W", "message"): "I",
    ("X", "plan_ended"): "R",
    ("X", "message"): "I",
    ("W", "extension"): "I",
    ("X", "extension"): "I",
    ("I", "resumed"): "W",
    ("I", "replaced"): "W",
    ("R", "turn_over"): "O",
    ("X", "turn_over"): "O",
    ("I", "turn_over"): "O",
    ("O", "turn"): "R",
    ("O", "turn_with_plan"): "X",
}


@pytest.mark.parametrize(("stage", "trigger"), list(itertools.product(Stage, Trigger)))
def test_the_table_of_stages_has_these_changes_and_no_other(stage, trigger):
    if (stage, trigger) in TABLE:
        assert after(stage, trigger) == TABLE[stage, trigger]
    else:
        with pytest.raises(IllegalTransition):
            after(stage, trigger)


def test_only_reasoning_and_interrupted_agents_may_send():
    assert [stage.value for stage in Stage if may_send(stage)] == ["R", "I"]
