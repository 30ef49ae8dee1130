"""Room: the share of the possible gain that an arm achieves.

On a board, the **room** is the advantage of the reference with full knowledge over the silent team, and the **gain** is
the advantage of the arm over the silent team. The share of the room is the mean gain divided by the mean room, over all
boards that the three arms share. Boards on which the reference happens to be worse count as well: leaving them out
would keep the boards on which the silent team was unlucky, so that any arm would seem to gain.

Its interval consists of the shares for which the sign-flip test does not reject that the mean of gain - share * room is
0, as Fieller (1954, Some Problems in Interval Estimation) inverts Student's test. It has ends only if the room itself
is significantly above 0. No interval of a ratio with ends covers the truth without such a condition (Gleser and Hwang
1987, The Nonexistence of 100(1 - alpha) % Confidence Sets of Finite Expected Diameter), so there is no share otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

import numpy as np

from quorum.comparison.statistics.flips import LEVEL, ratio_interval, sign_flip_interval, sign_flip_test
from quorum.comparison.statistics.intervals import Estimate, Floats

_Board = TypeVar("_Board", bound=tuple[object, ...])


@dataclass(frozen=True, slots=True)
class RoomClosed:
    """The share of the room that an arm closes.

    Attributes:
        share: 0 for the silent team, 1 for the reference; NaN if the room is not significantly above 0. No interval if
            the gain is the same share of the room on every board.
        room: mean room over the boards, with the interval of a difference.
    """

    share: Estimate
    room: Estimate


def rooms_closed(
    cells: Mapping[str, Mapping[_Board, Sequence[float]]], silent: str, reference: str, *, lower_is_better: bool
) -> dict[str, RoomClosed]:
    """Return the share of the room that each other level closes, over boards that all three have; {} without both.

    Args:
        cells: the values of the runs of each board, by level.
        silent: name of the level without talk.
        reference: name of the level with full knowledge.
        lower_is_better: whether lower values of the metric are better.
    """
    found = {}
    for level in cells.keys() - {silent, reference} if {silent, reference} <= cells.keys() else ():
        three = cells[level], cells[silent], cells[reference]
        boards = sorted(set.intersection(*(set(own) for own in three)), key=repr)
        means = [np.array([fmean(own[board]) for board in boards]) for own in three]
        found[level] = room_closed(*means, lower_is_better=lower_is_better)
    return {level: found[level] for level in cells if level in found}


def room_closed(arm: Floats, silent: Floats, reference: Floats, *, lower_is_better: bool) -> RoomClosed:
    """Return the share of the room that an arm closes.

    Args:
        arm: mean of the arm on each board, shape (boards,).
        silent: mean of the silent team, same shape.
        reference: mean of the reference with full knowledge, or the optimum, same shape.
        lower_is_better: whether lower values of the metric are better.
    """
    sign = -1.0 if lower_is_better else 1.0
    gain, room = sign * (arm - silent), sign * (reference - silent)
    boards, mean = len(room), float(room.mean()) if len(room) else math.nan
    whole = Estimate(mean, *sign_flip_interval(room), boards, boards)
    if not mean > 0 or sign_flip_test(room) > LEVEL:
        return RoomClosed(Estimate(math.nan, math.nan, math.nan, boards, boards), whole)
    return RoomClosed(Estimate(float(gain.mean()) / mean, *ratio_interval(gain, room), boards, boards), whole)
