"""Whether a question can be asked of a team: nothing can be found in a team that acts like chance or like an echo."""

from __future__ import annotations

from quorum.comparison.differences import Pairing, differences
from quorum.comparison.statistics.flips import FEWEST, LEVEL
from quorum.study.analysis import Analysis
from quorum.study.question import TREATMENT

FLOORS = ("chance", "echo")
"""The arms in which no mind answers."""
_WITHOUT_MIND = {*FLOORS, "idle", "reference"}


def not_told_from(analysis: Analysis) -> list[str]:
    """Return the floors from which no arm differs; empty if the question can be asked, or if too few boards tell.

    It can be asked if some arm with the team's minds differs from every floor that was played, in the main metric. That
    is the least to ask, so p is not corrected for the number of arms. Where all arms end alike, as in a world that is
    too hard or too easy for the team, none differs.
    """
    cells = {arm: group.cells(analysis.metric.name) for (arm, _), group in analysis.comparison.groups.items()}
    floors = [arm for arm in FLOORS if arm in cells]
    if not floors or len(cells.get(TREATMENT, ())) < FEWEST:
        return []
    told: set[str] = set()
    for arm in cells.keys() - _WITHOUT_MIND:
        pairs = [Pairing(floor, None, cells[arm], cells[floor]) for floor in floors]
        own = {found.level for found in differences(analysis.metric, pairs) if found.p <= LEVEL}
        if len(own) == len(floors):
            return []
        told |= own
    return [floor for floor in floors if floor not in told] or floors
