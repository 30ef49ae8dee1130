"""What the plans for a task have violated when they are over: one rule for what is expected and for what has happened.

A constraint is violated when no attempt that the group has made at its task satisfied it. Where each was satisfied by
some attempt and no attempt came off, it is the joint condition. A group that has made no attempt, and one of whose
plans failed, never came in place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from maeil.tasks import Constraint


def violated(tries: Sequence[Collection[Constraint]], *, succeeded: bool, failed: bool) -> frozenset[Constraint]:
    """Return the constraints that a group of plans has violated.

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
