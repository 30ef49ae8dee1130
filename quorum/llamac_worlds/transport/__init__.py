"""The skills of grid transportation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from llamac_env import TransportObservation
from maeil.actions import Vocabulary
from maeil.mind import Mind, Observation, View
from maeil.plans import Task
from maeil.world import World
from quorum.agents.coordination.prompts import Notation
from quorum.agents.prompting.examples import Example, beyond, example_plan
from quorum.agents.skills.contract import Briefing, Gates, WorldSkills
from quorum.agents.skills.speaker import Speaker


class TransportSkills(WorldSkills):
    """The minds' skills for grid transportation."""

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the team that executes the greedy plan of the board."""
        from quorum.llamac_worlds.transport.moves import HandingTeam

        return HandingTeam(world).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002
        """Return the gates: moves must be compatible and bring boxes nearer."""
        from quorum.llamac_worlds.transport.moves import TransportGates

        return TransportGates()

    def evidence(self, world: World, view: View) -> Observation:  # noqa: ARG002
        """Return the whole board, which the rules need to judge whether a move brings a box nearer."""
        return world.global_observation()

    def briefing(self) -> Briefing:
        """Return the briefing with the board and its boxes' distances."""
        from quorum.llamac_worlds.transport.moves import TransportBriefing

        return TransportBriefing()

    def example(self, world: World) -> Example:
        """Return an example in which two agents of a row deliver a box: one hands it on, the other places it."""
        number = beyond(len(world.agents))
        hard = world.prompt_facts().get("difficulty") == "hard"
        place = f"position[0.0, {number + 1}.0]" if hard else f"square[0.5, {number + 1}.5]"
        hand_on, put, alone = (
            {"action": "move", "box": box, "to": to}
            for box, to in (("box_green", place), ("box_green", "target_green"), ("box_red", "target_red"))
        )
        green, red = Task("place", "box_green"), Task("place", "box_red")
        return Example(
            f"agent_{number + 1}, on my right, has the green target.",
            f"I bring box_green to {place}: place it then. In square[0.5, {number}.5] is target_red.",
            example_plan(world, green, "nearer to its target", hand_on),
            others=(example_plan(world, green, "placed after that", {"action": "wait", "steps": 1}, put),),
            order=f"agent_{number}: bring box_green to {place}; agent_{number + 1}: wait(1), then place it.",
            report=f"I am in square[0.5, {number}.5]; box_green and target_red are here.",
            alone=example_plan(world, red, "on its target", alone),
            number=number,
        )

    def notation(self, look: Callable[[], Any]) -> Notation:
        """Return the text format of LLaMAC's appendix."""
        from quorum.llamac_worlds.transport.paper_text import PaperText

        return PaperText(look)

    def statements(self, world: World) -> Callable[..., Sequence[tuple[str, Task | None]]]:
        """Return the function that replaces messages with true statements (`extension=truth`)."""
        from quorum.llamac_worlds.transport.statements import state

        return partial(state, world)

    def describe(self, view: View) -> Mapping[str, Mapping[str, Any]] | None:
        """Return the targets that an agent knows and looks for; None if it sees the whole board (`topology=dytopo`)."""
        from quorum.llamac_worlds.transport.speaker import offered_and_needed

        assert isinstance(view.observation, TransportObservation)
        return offered_and_needed(view) if view.observation.board is None else None

    def places(self, seen: Observation) -> Mapping[str, tuple[float, float]]:
        """Return the position of each box with a unique colour, as fractions of the rows and columns."""
        assert isinstance(seen, TransportObservation)
        found: dict[str, list[tuple[float, float]]] = {}
        for place, items in (seen.board or seen.sees).items():
            row, col = map(float, re.findall(r"[\d.]+", place))
            for item in items:
                if item.startswith("box_"):
                    found.setdefault(item, []).append((row / seen.rows, col / seen.cols))
        return {box: parts[0] for box, parts in found.items() if len(parts) == 1}

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that plans greedily."""
        from quorum.llamac_worlds.transport.speaker import TransportSpeaker

        return TransportSpeaker()


skills = TransportSkills("transport")
