"""The open world: skills of minds for Crafter with teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crafter_env import CrafterObservation
from maeil.actions import Vocabulary
from maeil.mind import Mind, Observation
from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, beyond, example_plan
from quorum.agents.skills.contract import Briefing, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class CrafterSkills(WorldSkills):
    """The minds' skills for the open world."""

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that climbs the technology tree."""
        from quorum.open_world.heuristic import ClimbingTeam

        return ClimbingTeam(len(world.agents)).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the gates: quorums must meet, and inventories must not become negative."""
        from quorum.open_world.gates import CrafterGates

        return CrafterGates()

    def briefing(self) -> Briefing:
        """Return a briefing with the agents' observations and inventories."""
        from quorum.open_world.briefing import CrafterBriefing

        return CrafterBriefing()

    def example(self, world: World) -> Example:
        """Return an example with iron that takes several agents, and with land explored alone."""
        facts = world.prompt_facts()
        number, cell = beyond(len(world.agents)), beyond(facts["size"][0] * facts["size"][1])
        hands = min(facts["agents"]["iron"], len(world.agents))
        iron = f"iron_{cell}"
        joint = example_plan(
            world,
            Task("collect", iron),
            "the nearest iron",
            {"action": "navigate", "target": "iron", "id": cell},
            {"action": "collect", "resource": "iron", "target": cell, "steps": 9},
        )
        with_me = "; come and collect it with me" if hands > 1 else ""
        who = ", ".join(f"agent_{number + k}" for k in range(hands))
        return Example(
            f"Iron takes {f'{hands} of us' if hands > 1 else 'one of us'} with a stone_pickaxe, which I have.",
            f"I am at cell {cell + 2} with a stone_pickaxe, and go to {iron}{with_me}.",
            joint,
            others=(joint,) * (hands - 1),
            order=f"{who}: collect {iron}, try 9 times.",
            report=f"I am at cell {cell + 2} with a stone_pickaxe, and see {iron}.",
            alone=example_plan(world, None, "to see more", {"action": "navigate", "target": "cell", "id": cell + 3}),
            number=number,
        )

    def places(self, seen: Observation) -> Mapping[str, tuple[float, float]]:
        """Return the position of each visible teammate, as fractions of the rows and columns."""
        assert isinstance(seen, CrafterObservation)
        cols, rows = seen.size
        return {mate.agent: (mate.cell[1] / rows, mate.cell[0] / cols) for mate in seen.teammates}

    def stands(self, world: World, thing: str) -> bool | None:
        """Return whether a cell still matches its name; None for names that denote no cell: `tree`, `cow_17`."""
        from quorum.open_world.statements import cell_stands

        return cell_stands(world, thing)

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that climbs the technology tree."""
        from quorum.open_world.speaker import CrafterSpeaker

        return CrafterSpeaker()


skills = CrafterSkills("crafter")
