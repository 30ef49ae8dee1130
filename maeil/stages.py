"""The cognitive stages of an agent and the changes between them.

Source: EmCoop (arXiv 2603.00349, section on MAEIL) for R, W, X and I. O is for worlds in which agents take turns.
"""

from __future__ import annotations

from enum import StrEnum

from maeil.errors import IllegalTransition


class Stage(StrEnum):
    """An agent's stage in the loop: it reasons, waits, executes, is interrupted, or is off turn."""

    REASON = "R"
    WAIT = "W"
    EXECUTE = "X"
    INTERRUPTED = "I"
    OFF_TURN = "O"


class Trigger(StrEnum):
    """The cause of a stage change."""

    PLAN_COMMITTED = "plan_committed"
    ALL_READY = "all_ready"
    MESSAGE = "message"
    PLAN_ENDED = "plan_ended"
    RESUMED = "resumed"
    REPLACED = "replaced"
    EXTENSION = "extension"
    TURN_OVER = "turn_over"
    TURN = "turn"
    TURN_WITH_PLAN = "turn_with_plan"


TRANSITIONS: dict[tuple[Stage, Trigger], Stage] = {
    (Stage.REASON, Trigger.PLAN_COMMITTED): Stage.WAIT,
    (Stage.WAIT, Trigger.ALL_READY): Stage.EXECUTE,
    (Stage.WAIT, Trigger.MESSAGE): Stage.INTERRUPTED,
    (Stage.EXECUTE, Trigger.MESSAGE): Stage.INTERRUPTED,
    (Stage.EXECUTE, Trigger.PLAN_ENDED): Stage.REASON,
    (Stage.WAIT, Trigger.EXTENSION): Stage.INTERRUPTED,
    (Stage.EXECUTE, Trigger.EXTENSION): Stage.INTERRUPTED,
    (Stage.INTERRUPTED, Trigger.RESUMED): Stage.WAIT,
    (Stage.INTERRUPTED, Trigger.REPLACED): Stage.WAIT,
    (Stage.REASON, Trigger.TURN_OVER): Stage.OFF_TURN,
    (Stage.EXECUTE, Trigger.TURN_OVER): Stage.OFF_TURN,
    (Stage.INTERRUPTED, Trigger.TURN_OVER): Stage.OFF_TURN,
    (Stage.OFF_TURN, Trigger.TURN): Stage.REASON,
    (Stage.OFF_TURN, Trigger.TURN_WITH_PLAN): Stage.EXECUTE,
}
"""All legal changes. X -> W after a step is implied: an agent with a live plan simply stays in X."""


def after(stage: Stage, trigger: Trigger) -> Stage:
    """Return the next stage.

    Raises:
        IllegalTransition: the table does not allow this change.
    """
    try:
        return TRANSITIONS[stage, trigger]
    except KeyError:
        raise IllegalTransition(f"stage {stage.value} does not change on '{trigger.value}'") from None


_THINKING = (Stage.REASON, Stage.INTERRUPTED)


def may_send(stage: Stage) -> bool:
    """Return whether an agent in this stage may send messages, which is only while it reasons or is interrupted."""
    return stage in _THINKING
