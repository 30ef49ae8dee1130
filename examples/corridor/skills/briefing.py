"""What a coordinator reads about the corridors."""

from __future__ import annotations

from corridor.skills.walking import left
from quorum.agents.coordination.joint import Sight as TeamSight
from quorum.agents.skills import Briefing


class CorridorBriefing(Briefing):
    """How many cells each agent has left, by index: all of the state, so that no digest is needed."""

    def state(self, sight: TeamSight) -> object:
        """Return the cells that are left."""
        return {"left": [left(seen) for seen in sight.agents]}
