"""Whether a question can be asked of a team: nothing can be found in a team that acts like chance or like an echo."""

from __future__ import annotations

from collections.abc import Mapping

from maeil.metrics import Metric
from quorum.agents.simulated import FLOORS
from quorum.comparison.differences import Cells, Pairing, differences
from quorum.comparison.statistics.flips import FEWEST, LEVEL
from quorum.study.question import TREATMENT

_WITHOUT_MIND = {*FLOORS, "idle", "reference"}
"""The arms without the team's minds; those of floors have the floors' names."""


def floors_not_exceeded(cells: Mapping[str, Cells], metric: Metric) -> list[str]:
    """Return the floors from which no arm differs; empty if the question can be asked, or if too few boards tell.

    It can be asked if some arm with the team's minds differs from every floor that was played, in the main metric. That
    is the least to ask, so p is not corrected for the number of arms. Where all arms end alike, as in a world that is
    too hard or too easy for the team, none differs.

    Args:
        cells: the values of each arm, by board.
        metric: their metric.
    """
    floors = [arm for arm in FLOORS if arm in cells]
    if not floors or len(cells.get(TREATMENT, ())) < FEWEST:
        return []
    found: set[str] = set()
    for arm in cells.keys() - _WITHOUT_MIND:
        pairs = [Pairing(floor, None, cells[arm], cells[floor]) for floor in floors]
        own = {one.level for one in differences(metric, pairs) if one.p <= LEVEL}
        if len(own) == len(floors):
            return []
        found |= own
    return [floor for floor in floors if floor not in found] or floors
