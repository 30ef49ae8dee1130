"""Room: the share of the possible gain that an arm achieves.

On a board, the **room** is the advantage of the reference with full knowledge over the silent team, and the **gain** is
the advantage of the arm over the silent team. If the reference is no better, the board has no room. The share of the
room is the ratio of the sums over the boards with room, since boards with next to no room would dominate a mean of
ratios.

Its interval is that of the sign-flip test, as for differences: a share is rejected if gain - share * room is not
symmetric about 0 over boards. So it ends at quantiles of the ratio over all sets of boards (Hartigan 1969, Using
Subsample Values as Typical Values; for normal values it would be the interval of Fieller 1954).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

import numpy as np

from quorum.comparison.statistics.flips import ratio_interval
from quorum.comparison.statistics.intervals import Estimate, Floats

_Board = TypeVar("_Board", bound=tuple[object, ...])


@dataclass(frozen=True, slots=True)
class RoomClosed:
    """The share of the room that an arm closes.

    Attributes:
        share: 0 for the silent team, 1 for the reference; NaN if no board has room. No interval over fewer than six
            boards with room.
        without: number of boards without room: the reference is no better there than the silent team.
    """

    share: Estimate
    without: int

    @property
    def boards(self) -> int:
        """Number of boards with room."""
        return self.share.boards


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
    there = room > 0
    gains, rooms = gain[there], room[there]
    value = float(gains.sum() / rooms.sum()) if len(rooms) else math.nan
    low, high = ratio_interval(gains, rooms)
    share = Estimate(value, low, high, len(rooms), len(rooms))
    return RoomClosed(share, int((~there).sum()))
