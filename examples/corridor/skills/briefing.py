"""The coordinator's view of the corridors."""

from __future__ import annotations

from corridor.skills.walking import left
from quorum.agents.coordination.joint import Sight as TeamSight
from quorum.agents.skills import Briefing


class CorridorBriefing(Briefing):
    """Shows the number of cells each agent has left, by index. This is the whole state, so there is no digest."""

    def state(self, sight: TeamSight) -> object:
        """Return the cells left."""
        return {"left": [left(seen) for seen in sight.agents]}
