"""What a coordinator is told of the squeeze: the whole history, so that there is no digest beside it."""

from __future__ import annotations

from llamac_env import SqueezeObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing


class SqueezeBriefing(Briefing):
    """All rounds: the reward and the sum of each; the picks by agent where the world shows them."""

    def state(self, sight: Sight) -> object:
        """Return the rounds."""
        seen = sight.global_observation
        assert isinstance(seen, SqueezeObservation)
        return seen.shown()
