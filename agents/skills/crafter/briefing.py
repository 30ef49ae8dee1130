"""What a coordinator is told of the open world."""

from __future__ import annotations

from crafter_env import CrafterObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing


class CrafterBriefing(Briefing):
    """What the agents see, by index; of past decisions the score, and each living agent's bag."""

    def state(self, sight: Sight) -> object:
        """Return the observations of all agents."""
        return sight.agents

    def digest(self, sight: Sight) -> object:
        """Return the score, and the items that each living agent holds."""
        seen = [observation for observation in sight.agents if isinstance(observation, CrafterObservation)]
        return {"score": seen[0].score, "bags": {o.agent: dict(o.inventory) for o in seen if o.alive}}
