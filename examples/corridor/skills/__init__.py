"""What minds know of the corridor: one module a role. A world may have few of them, or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corridor.skills.briefing import CorridorBriefing
from corridor.skills.gates import CorridorGates
from corridor.skills.speaker import CorridorSpeaker
from corridor.skills.walking import walk
from maeil import Mind, Vocabulary, World
from quorum.agents.skills import Briefing, CommandedMind, Gates, Speaker, WorldSkills


class CorridorSkills(WorldSkills):
    """The rules of `agents=heuristic`, of the simulated model, and of planners of joint plans such as LLaMAC."""

    prompts = Path(__file__).parents[1] / "prompts"

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return minds that walk to the end at once."""
        return [CommandedMind(lambda view: walk(view.observation)) for _ in world.agents]

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the rule that nobody walks further than what is left."""
        return CorridorGates()

    def briefing(self) -> Briefing:
        """Return how far everybody is."""
        return CorridorBriefing()

    def speaker(self) -> Speaker[Any]:
        """Return the rules of the simulated model."""
        return CorridorSpeaker()
