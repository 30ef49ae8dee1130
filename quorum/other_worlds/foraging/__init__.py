"""The skills of level-based foraging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lbf_env import ForagingObservation
from maeil.actions import Vocabulary
from maeil.mind import Mind
from maeil.plans import Task
from maeil.world import World
from quorum.agents.coordination.joint import Sight
from quorum.agents.prompting.examples import Example, beyond, example_plan
from quorum.agents.skills.contract import Briefing, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class ForagingBriefing(Briefing):
    """Shows the field; for past decisions, the number of foods left and the sum of their levels."""

    def digest(self, sight: Sight) -> object:
        """Return the number of foods and the sum of their levels."""
        field = sight.global_observation
        assert isinstance(field, ForagingObservation)
        return {"foods": len(field.foods), "levels": sum(field.food_levels.values())}


class ForagingSkills(WorldSkills):
    """The minds' skills for level-based foraging."""

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that first loads the foods whose groups can be complete soonest."""
        from quorum.other_worlds.foraging.teams import HarvestTeam

        return HarvestTeam(world).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the gates: groups must have sufficient levels and wait for each other."""
        from quorum.other_worlds.foraging.gates import ForagingGates

        return ForagingGates()

    def briefing(self) -> Briefing:
        """Return the briefing with the field and its remaining foods."""
        return ForagingBriefing()

    def example(self, world: World) -> Example:
        """Return an example food that takes two agents, or the only one of a team."""
        number = beyond(max(len(world.agents), world.prompt_facts()["side"]))
        two = len(world.agents) > 1
        names = [f"food_{number + k}_{number + 1}" for k in (1, 4)]
        loads = [{"action": "load", "row": number + k, "col": number + 1, "patience": 10} for k in (1, 4)]
        plan, alone = (
            example_plan(world, Task("load", name), "the nearest food", load)
            for name, load in zip(names, loads, strict=True)
        )
        who = f"agent_{number} and agent_{number + 1}" if two else f"agent_{number}"
        return Example(
            f"{names[0]} has level {3 if two else 2}, I have {'2: it takes two of us' if two else '2 as well'}.",
            f"I go to {names[0]} and load it{': come and load it with me' if two else ''}.",
            plan,
            others=(plan,) * two,
            order=f"{who}: load {names[0]}.",
            report=f"I have level 2, and see {names[0]} of level {3 if two else 2}.",
            alone=alone,
            number=number,
        )

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that plans like the heuristic, from what it sees and hears."""
        from quorum.other_worlds.foraging.speaker import ForagingSpeaker

        return ForagingSpeaker()


skills = ForagingSkills("foraging")
