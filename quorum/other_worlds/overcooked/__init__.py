"""The skills of Overcooked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maeil.actions import Vocabulary
from maeil.mind import Mind
from maeil.plans import Task
from maeil.world import World
from overcooked_env import KitchenObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.prompting.examples import Example, beyond, example_plan
from quorum.agents.skills.contract import Briefing, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class OvercookedBriefing(Briefing):
    """Shows the kitchen; for past decisions, the number of soups served and the contents of the pots."""

    def digest(self, sight: Sight) -> object:
        """Return the number of soups and the contents of the pots."""
        seen = sight.global_observation
        assert isinstance(seen, KitchenObservation)
        return {"delivered": seen.delivered, "pots": [list(pot[2:]) for pot in seen.pots]}


class OvercookedSkills(WorldSkills):
    """The minds' skills for Overcooked."""

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that distributes the next jobs."""
        from quorum.other_worlds.overcooked.teams import CookingTeam

        return CookingTeam(world).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the gates: jobs must not conflict."""
        from quorum.other_worlds.overcooked.gates import OvercookedGates

        return OvercookedGates()

    def briefing(self) -> Briefing:
        """Return the briefing with the kitchen and past work."""
        return OvercookedBriefing()

    def example(self, world: World) -> Example:
        """Return an example soup for two agents, or for a team of one: one fills the pot, the other brings a dish."""
        number = beyond(len(world.agents))
        pot, other, two = f"pot_{number}_{number + 1}", f"pot_{number + 3}_{number + 1}", len(world.agents) > 1
        onion, dish = ({"action": "fetch", "item": item} for item in ("onion", "dish"))
        plan, alone = (
            example_plan(
                world,
                Task("soup", name),
                "it lacks one onion",
                onion,
                *({"action": action, "row": row, "col": number + 1} for action in ("fill", "cook")),
            )
            for name, row in ((pot, number), (other, number + 3))
        )
        scoop = {"action": "scoop", "row": number, "col": number + 1}
        take = example_plan(world, Task("soup", pot), "a dish for it", dish, scoop, {"action": "serve"})
        return Example(
            f"{pot} lacks one onion, and my hands are empty.",
            f"I bring the last onion to {pot} and cook it{': fetch a dish' if two else ''}.",
            plan,
            others=(take,) * two,
            order=f"agent_{number}: fill and cook {pot}{f'; agent_{number + 1}: take its soup' if two else ''}.",
            report=f"I hold nothing; {pot} lacks one onion.",
            alone=alone,
            number=number,
        )

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that plans like the heuristic."""
        from quorum.other_worlds.overcooked.speaker import OvercookedSpeaker

        return OvercookedSpeaker()


skills = OvercookedSkills("overcooked")
