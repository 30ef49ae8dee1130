"""The skills of the Gaussian squeeze."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maeil.actions import Vocabulary
from maeil.mind import Mind
from maeil.world import World
from quorum.agents.prompting.examples import Example
from quorum.agents.skills.contract import Briefing, Gates, Merge, WorldSkills
from quorum.agents.skills.speaker import Speaker


class SqueezeSkills(WorldSkills):
    """What minds know of the Gaussian squeeze."""

    tasks = False

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that searches the best sum."""
        from quorum.agents.skills.squeeze.rules import SearchingTeam

        return SearchingTeam(len(world.agents)).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the rule that everybody picks."""
        from quorum.agents.skills.squeeze.rules import SqueezeGates

        return SqueezeGates()

    def briefing(self) -> Briefing:
        """Return all rounds."""
        from quorum.agents.skills.squeeze.briefing import SqueezeBriefing

        return SqueezeBriefing()

    def merge(self) -> Merge:
        """Return the median of the picks."""
        from quorum.agents.skills.squeeze.rules import median

        return median

    def example(self, world: World) -> Example:
        """Return an answer in its own actions."""
        from quorum.agents.skills.squeeze.example import squeeze_example

        return squeeze_example(world)

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that searches the peak by its own picks."""
        from quorum.agents.skills.squeeze.speaker import SqueezeSpeaker

        return SqueezeSpeaker()


skills = SqueezeSkills("squeeze")
