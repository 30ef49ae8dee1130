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
    """All rounds: the reward and the sum of each; the picks by agent where the world shows them. There is no digest."""

    def state(self, sight: Sight) -> object:
        """Return the rounds."""
        seen = sight.global_observation
        assert isinstance(seen, SqueezeObservation)
        return seen.shown()


class SqueezeSkills(WorldSkills):
    """What minds know of the Gaussian squeeze."""

    tasks = False

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that searches the best sum."""
        from quorum.llamac_worlds.squeeze.rules import SearchingTeam

        return SearchingTeam(len(world.agents)).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the rule that everybody picks."""
        from quorum.llamac_worlds.squeeze.rules import SqueezeGates

        return SqueezeGates()

    def briefing(self) -> Briefing:
        """Return all rounds."""
        return SqueezeBriefing()

    def merge(self) -> Callable[[Sequence[Mapping[int, Plan]], Sequence[int]], dict[int, Plan]]:
        """Return the median of the picks."""
        from quorum.llamac_worlds.squeeze.rules import median

        return median

    def example(self, world: World) -> Example:
        """Return picks that are as far from every peak as can be, since the sum 0 pays nothing anywhere."""
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
        """Return what states the truth in place of messages (`extension=truth`)."""
        from quorum.llamac_worlds.squeeze.statements import state

        return partial(state, world)

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that searches the peak by its own picks."""
        from quorum.llamac_worlds.squeeze.rules import SqueezeSpeaker

        return SqueezeSpeaker()


skills = SqueezeSkills("squeeze")
