"""What a coordinator is told of the open world."""

from __future__ import annotations

from crafter_env import CrafterObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing
from quorum.agents.skills.crafter.team_sight import show_team


class CrafterBriefing(Briefing):
    """What the agents see, in one map; of past decisions the score, and the bags that hold something."""

    def state(self, sight: Sight) -> object:
        """Return what the team sees: `quorum.agents.skills.crafter.team_sight`."""
        return show_team([observation for observation in sight.agents if isinstance(observation, CrafterObservation)])

    def digest(self, sight: Sight) -> object:
        """Return the score, and the items that living agents hold, of those that hold any."""
        seen = [observation for observation in sight.agents if isinstance(observation, CrafterObservation)]
        return {"score": seen[0].score, "bags": {o.agent: dict(o.inventory) for o in seen if o.alive and o.inventory}}
