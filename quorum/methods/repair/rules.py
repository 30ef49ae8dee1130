"""The notice shown in a repair, and the rule that decides which constraints a task's plans violated.

Source of the method: COOP2-Repair (arXiv 2603.00349 v2).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from maeil.judging import Advice, Violation
from maeil.mind import PlanView
from maeil.tasks import Constraint

REPAIR_WORDS = (
    "A repair interrupts the usual talk of the team: before plans begin, a check has found that some of them will come "
    "to nothing. Only those concerned take part."
)
"""The prompt's explanation of how the team talks during a repair."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The information shown to the participants of a repair.

    Attributes:
        failures: the constraints that are expected to be violated.
        plans: the judged plans of all agents, by agent, each with the world task that it serves.
        channel: the participants, ascending.
        replan: whether each must commit a new plan; otherwise it may resume its current one.
        advice: an assignment; None if there is none or none should be shown.
    """

    failures: tuple[Violation, ...]
    plans: Mapping[int, PlanView]
    channel: tuple[int, ...]
    replan: bool
    advice: Advice | None = None


def violated(tries: Sequence[Collection[Constraint]], *, succeeded: bool, failed: bool) -> frozenset[Constraint]:
    """Return the constraints that the plans for a task have violated once they are over.

    The same rule covers predicted and actual violations. A constraint is violated if no attempt of the group at its
    task satisfied it. If some attempt satisfied each constraint but none succeeded, the joint condition is violated. If
    the group made no attempt and one of its plans failed, it never got into position, which violates the spatial
    constraint.

    Args:
        tries: the constraints missing in each failed attempt at the task that involved a member of the group.
        succeeded: whether an attempt of the group succeeded.
        failed: whether one of its plans failed or timed out.
    """
    if succeeded:
        return frozenset()
    if tries:
        common = frozenset(tries[0]).intersection(*tries[1:])
        return common or frozenset({Constraint.JOINT})
    return frozenset({Constraint.SPATIAL}) if failed else frozenset()
