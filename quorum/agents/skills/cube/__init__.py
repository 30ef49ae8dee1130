"""The skills of CUBE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cube_env import SymbolicObservation
from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.mind import Mind, Observation
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.coordination.joint import Sight
from quorum.agents.prompting.examples import Example, beyond, example_plan, plain_example
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.contract import Briefing, CommandedMind, Gates, WorldSkills
from quorum.agents.skills.cube.plans import Wording
from quorum.agents.skills.speaker import Speaker


@runtime_checkable
class _HasBlocks(Protocol):
    """A world that knows the number of blocks on its boards before the first reset."""

    @property
    def blocks(self) -> int: ...


class CubeBriefing(Briefing):
    """Shows the board, which all agents see alike; the memory keeps the number of blocks left and their distances."""

    def digest(self, sight: Sight) -> object:
        """Return the number of blocks and the sum of their distances to the goal, in cells."""
        board = sight.global_observation
        assert isinstance(board, SymbolicObservation)
        return {"blocks": len(board.blocks), "distance": sum(block.distance for block in board.blocks)}


class CubeSkills(WorldSkills):
    """What minds know of CUBE, in both of its vocabularies."""

    rolls_out = True

    def heuristic(self, world: World) -> Sequence[Mind]:
        """Return the greedy team."""
        from quorum.agents.skills.cube.heuristic import GreedyTeam

        return GreedyTeam(len(world.agents), Wording.of(world.vocabulary.names)).minds

    def one_team(self, world: World) -> Sequence[Mind]:
        """Return the team of the CUBE page, which delivers one block after the other."""
        from quorum.agents.skills.cube.heuristic import closest

        rule = partial(closest, Wording.of(world.vocabulary.names))
        return [CommandedMind(rule) for _ in world.agents]

    def negotiator(
        self, world: World, noise: float, patience: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Mind]:
        """Return a negotiator for each random generator: minds that agree by messages, without a language model.

        Args:
            world: the world.
            noise: probability of a random choice.
            patience: steps to wait for the rest of a team.
            generators: a generator for each agent by index, and for the coordinator if there is one.
        """
        from quorum.agents.skills.cube.negotiator import Negotiator

        wording = Wording.of(world.vocabulary.names)
        return [Negotiator(Chooser(generator, noise), patience, wording=wording) for generator in generators]

    def planner(self, world: World, generator: np.random.Generator, **effort: int) -> Sequence[Mind]:
        """Return the team that carries out a schedule of all deliveries.

        Args:
            world: the world.
            generator: random generator of all draws.
            effort: search effort: the fields of `Effort`.
        """
        from quorum.agents.skills.cube.planner.schedule import Effort
        from quorum.agents.skills.cube.planner.team import PlannedTeam

        return PlannedTeam(len(world.agents), world.vocabulary, Effort(**effort), generator).minds

    def gates(self, vocabulary: Vocabulary, rollout: int = 0) -> Gates:  # noqa: ARG002 - they read both
        """Return the rules of teams that can move their blocks."""
        from quorum.agents.skills.cube.gates import CubeGates

        return CubeGates(rollout)

    def briefing(self) -> Briefing:
        """Return the board, and the blocks that are left with their distances."""
        return CubeBriefing()

    def example(self, world: World) -> Example:
        """Return an example with a block for two agents, or for the only one of a team, in the world's vocabulary."""
        blocks = world.blocks if isinstance(world, _HasBlocks) else 0
        number = beyond(max(blocks, len(world.agents)))
        weight = min(2, len(world.agents))
        try:
            heavy, light = (_delivery(world, number + k, w, 5) for k, w in enumerate((weight, 1)))
        except InvalidThought:  # a custom vocabulary
            return plain_example(world)
        name = f"block_{number}"
        hands = ("one of us", "two of us")[weight - 1]
        who = ("", f" and agent_{number + 1}")[weight - 1]
        more = (".", "; one more is needed there.")[weight - 1]
        return Example(
            f"{name} is free and nearest to the goal; it takes {hands}.",
            f"I take {name} from the left{more}",
            heavy,
            others=(heavy,) * (weight - 1),
            order=f"agent_{number}{who}: deliver {name} from the left.",
            report=f"I am free, and near the left face of {name}; it takes {hands}.",
            alone=light,
            task=Task("push", f"{name}/left"),
            number=number,
        )

    def places(self, seen: Observation) -> Mapping[str, tuple[float, float]]:
        """Return the position of each block's top-left cell, as fractions of the rows and columns."""
        assert isinstance(seen, SymbolicObservation)
        return {f"block_{block.id}": (block.row / seen.side, block.col / seen.side) for block in seen.blocks}

    def speaker(self) -> Speaker[Any]:
        """Return a speaker that acts like a negotiator."""
        from quorum.agents.skills.cube.speaker import CubeSpeaker

        return CubeSpeaker()


def _delivery(world: World, block: int, weight: int, steps: int) -> Plan:
    """The plan of each agent that delivers the example's block, in CUBE's vocabulary or in EmCoop's."""
    if "rendezvous" in world.vocabulary.names:
        actions: tuple[dict[str, Any], ...] = (
            {"action": "move_to_block", "block": block, "face": "left"},
            {"action": "rendezvous", "block": block, "face": "left", "count": weight, "timeout": 20},
            {"action": "push_block", "block": block, "steps": steps},
        )
    else:
        actions = (
            {"action": "navigate", "entity": "block", "id": block},
            {"action": "push", "block": block, "steps": steps + 7},
        )
    return example_plan(world, Task("deliver", f"block_{block}"), "nearest to the goal", *actions)


skills = CubeSkills("cube")
