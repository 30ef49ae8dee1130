"""What a repair shows, and which constraints the plans for a task have violated.

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
"""What a prompt says about how the team talks in a repair."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a repair shows to those who take part.

    Attributes:
        failures: the constraints that are expected to be violated.
        plans: of all agents as they were judged, by agent, each with the task of the world that it serves.
        channel: who takes part, ascending.
        replan: whether each must commit a new plan; otherwise it may resume the one that it has.
        advice: an assignment; None where there is none, or none is to be shown.
    """

    failures: tuple[Violation, ...]
    plans: Mapping[int, PlanView]
    channel: tuple[int, ...]
    replan: bool
    advice: Advice | None = None


def violated(tries: Sequence[Collection[Constraint]], *, succeeded: bool, failed: bool) -> frozenset[Constraint]:
    """Return the constraints that the plans for a task have violated when they are over.

    It is one rule for what is expected and for what has happened. A constraint is violated when no attempt that the
    group has made at its task satisfied it. Where each was satisfied by some attempt and no attempt came off, it is the
    joint condition. A group that has made no attempt, and one of whose plans failed, never came in place.

    Args:
        tries: of each failed attempt at the task in which one of the group took part, what it was missing.
        succeeded: whether an attempt of the group came off.
        failed: whether one of its plans failed or timed out.
    """
    if succeeded:
        return frozenset()
    if tries:
        common = frozenset(tries[0]).intersection(*tries[1:])
        return common or frozenset({Constraint.JOINT})
    return frozenset({Constraint.SPATIAL}) if failed else frozenset()
