"""The skills of the Gaussian squeeze."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from llamac_env import SqueezeObservation
from maeil.actions import Vocabulary
from maeil.mind import Mind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.coordination.joint import Sight
from quorum.agents.prompting.examples import Example, beyond, example_plan
from quorum.agents.skills.contract import Briefing, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class SqueezeBriefing(Briefing):
    """Shows the reward and the sum of every round, and the picks by agent if the world shows them. It has no digest."""

    def state(self, sight: Sight) -> object:
        """Return the rounds."""
        seen = sight.global_observation
        assert isinstance(seen, SqueezeObservation)
        return seen.shown()


class SqueezeSkills(WorldSkills):
    """The minds' skills for the Gaussian squeeze."""

    tasks = False

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that searches for the best sum."""
        from quorum.llamac_worlds.squeeze.rules import SearchingTeam

        return SearchingTeam(len(world.agents)).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the gates: every agent must pick."""
        from quorum.llamac_worlds.squeeze.rules import SqueezeGates

        return SqueezeGates()

    def briefing(self) -> Briefing:
        """Return the briefing with all rounds."""
        return SqueezeBriefing()

    def merge(self) -> Callable[[Sequence[Mapping[int, Plan]], Sequence[int]], dict[int, Plan]]:
        """Return the function that merges picks by their median."""
        from quorum.llamac_worlds.squeeze.rules import median

        return median

    def example(self, world: World) -> Example:
        """Return picks as far as possible from every peak: the sum 0 pays nothing on any curve."""
        pick = example_plan(world, Task("allocate", "system"), "to see what it pays", {"action": "pick", "units": 0})
        return Example(
            "I compare what the last rounds have paid.",
            "I pick 0 in this round.",
            pick,
            others=(pick,),
            order="Pick 0 in this round, all of you.",
            number=beyond(len(world.agents)),
        )

    def statements(self, world: World) -> Callable[..., Sequence[tuple[str, Task | None]]]:
        """Return the function that replaces messages with true statements (`extension=truth`)."""
        from quorum.llamac_worlds.squeeze.statements import state

        return partial(state, world)

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that searches for the peak with its own picks."""
        from quorum.llamac_worlds.squeeze.rules import SqueezeSpeaker

        return SqueezeSpeaker()


skills = SqueezeSkills("squeeze")
