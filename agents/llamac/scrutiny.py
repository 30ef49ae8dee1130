"""Veracity scrutiny: the rules that a joint plan must pass before anybody is told of it, and its repair."""

from __future__ import annotations

from collections.abc import Mapping

from maeil.plans import Plan
from maeil.world import World
from quorum.agents.coordination.joint import GRAMMAR, Fault, Joint, Rejection, Rule, Sight, impossible
from quorum.agents.skills import Gates


class Scrutiny:
    """Judges joint plans (LLaMAC, veracity scrutiny): grammar first, and only what is grammatical for conflicts.

    Args:
        world: checks each plan alone against its state.
        gates: the rules of that world.
        enabled: false judges the grammar alone, without which nothing can be suggested at all (ablation).
    """

    def __init__(self, world: World, gates: Gates, *, enabled: bool) -> None:
        self._world = world
        self._gates = gates
        self._enabled = enabled
        self._rules: Mapping[str, Rule] = {**GRAMMAR, **gates.rules}

    def judge(self, sight: Sight, joint: Joint) -> tuple[Rejection, ...]:
        """Return what is wrong with a joint plan; nothing when it passes."""
        refused = impossible(self._world, joint.plans)
        if refused or not self._enabled:
            return refused
        return tuple(self._gates.scrutinize(sight, joint))

    def is_grammatical(self, rejections: tuple[Rejection, ...]) -> bool:
        """Whether only conflicts are wrong, which can be repaired by dropping plans."""
        return all(self._rules[rejection.code].fault is not Fault.GRAMMAR for rejection in rejections)

    def repair(self, sight: Sight, joint: Joint) -> tuple[dict[int, Plan], tuple[int, ...]]:
        """Drop plans until the rest passes: each time the one of the lowest index among the first offenders.

        A plan that is under way is dropped only where no other plan offends with it.

        Args:
            sight: the state.
            joint: a grammatical joint plan.

        Returns:
            The suggested plans that are left, and whose were dropped, in order.
        """
        plans, running = dict(joint.plans), dict(joint.running)
        dropped: list[int] = []
        while rejections := self.judge(sight, Joint(plans, running)):
            found = (
                (held, min(mine))
                for held in (plans, running)
                for rejection in rejections
                if (mine := [agent for agent in rejection.agents if agent in held])
            )
            held, agent = next(found, (None, -1))
            if held is None:
                break
            del held[agent]
            dropped.append(agent)
        return plans, tuple(dropped)
