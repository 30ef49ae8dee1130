"""The minds' skills for the corridor, one module per role. A world may have only some of them, or none."""

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
        """Return the gates: no agent may walk further than the end."""
        return CorridorGates()

    def briefing(self) -> Briefing:
        """Return the briefing with each agent's position."""
        return CorridorBriefing()

    def speaker(self) -> Speaker[Any]:
        """Return the rules of the simulated model."""
        return CorridorSpeaker()
