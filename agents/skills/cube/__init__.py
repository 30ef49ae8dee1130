"""The skills of CUBE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maeil.actions import Vocabulary
from maeil.extensions.repair.rules import RepairRules
from maeil.mind import Mind
from maeil.world import World
from quorum.agents.prompting.examples import Example
from quorum.agents.skills.contract import Briefing, Effort, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class CubeSkills(WorldSkills):
    """What minds know of CUBE, in both of its vocabularies."""

    rolls_out = True

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the greedy team."""
        from quorum.agents.skills.cube.heuristic import GreedyTeam
        from quorum.agents.skills.cube.wording import Wording

        return GreedyTeam(len(world.agents), Wording.of(world.vocabulary.names)).minds

    def one_team(self, world: World) -> Sequence[Mind]:
        """Return the team of the CUBE page, which delivers one block after the other."""
        from quorum.agents.skills.cube.one_team import OneTeamMind
        from quorum.agents.skills.cube.wording import Wording

        return [OneTeamMind(Wording.of(world.vocabulary.names)) for _ in world.agents]

    def negotiator(
        self, world: World, noise: float, patience: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Mind]:
        """Return a negotiator for each random stream."""
        from quorum.agents.skills.cube.negotiator import Negotiator
        from quorum.agents.skills.cube.wording import Wording

        wording = Wording.of(world.vocabulary.names)
        return [Negotiator(noise, patience, generator, wording=wording) for generator in generators]

    def planner(self, world: World, effort: Effort, generator: np.random.Generator) -> Sequence[Mind]:
        """Return the team that carries out a schedule of all deliveries."""
        from quorum.agents.skills.cube.planner.team import PlannedTeam

        return PlannedTeam(len(world.agents), world.vocabulary, effort, generator).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002 - they read both
        """Return the rules of teams that can move their blocks."""
        from quorum.agents.skills.cube.gates import CubeGates

        return CubeGates(rollout)

    def repair(self, world: World) -> RepairRules:
        """Return the published rules of thumb for pushes that meet at a left face."""
        from quorum.agents.skills.cube.repair import CubeRepair
        from quorum.agents.skills.cube.wording import Wording

        return CubeRepair(Wording.of(world.vocabulary.names))

    def briefing(self) -> Briefing:
        """Return the board, and the blocks that are left with their distances."""
        from quorum.agents.skills.cube.briefing import CubeBriefing

        return CubeBriefing()

    def example(self, world: World) -> Example:
        """Return an answer in its own actions."""
        from quorum.agents.skills.cube.example import cube_example

        return cube_example(world)

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that does what a negotiator would do."""
        from quorum.agents.skills.cube.speaker import CubeSpeaker

        return CubeSpeaker()


skills = CubeSkills("cube")
