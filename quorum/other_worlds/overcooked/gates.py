"""The gates of Overcooked: pots have room for the ingredients brought, and each soup gets one dish.

LLaMAC (arXiv 2311.13884) names the two gates; docs/llamac.md defines the rules.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from pathlib import Path

from maeil.mind import Observation
from overcooked_env import ROOM, Cell, Cook, Fill, KitchenObservation, Scoop, pot_name
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules


class OvercookedGates:
    """Implements `quorum.agents.skills.Gates` for Overcooked, by each plan's actions at pots."""

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge the items brought to each pot if a requested agent brings one."""
        seen, found = sight.global_observation, []
        assert isinstance(seen, KitchenObservation)
        for pot, (has, left) in seen.contents.items():
            fills, scoops = _fills(joint, pot), _scoops(joint, pot)
            room = ROOM - (has.count("+") + bool(has)) if left is None else ROOM
            if fills.total() > room and joint.plans.keys() & fills.keys():
                text = f"{pot_name(pot)} has room for {room} more, and {called(sorted(fills))} bring {fills.total()}"
                found.append(Rejection("V-ROOM", tuple(sorted(fills)), text))
            if len(scoops) > 1 and joint.plans.keys() & set(scoops):
                text = f"{pot_name(pot)} has one soup, and {called(scoops)} bring a dish each"
                found.append(Rejection("V-DISH", scoops, text))
        return found

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> None:
        """Accept every plan: an agent sees what the scrutiny sees, and the world checks its hand and reach."""


def _fills(joint: Joint, pot: Cell) -> Counter[int]:
    """Return how many ingredients each agent brings to a pot before it cooks."""
    found: Counter[int] = Counter()
    for agent, plan in joint.all.items():
        for action in takewhile(lambda action: not isinstance(action, Cook), plan.actions):
            found[agent] += isinstance(action, Fill) and (action.row, action.col) == pot
    return +found


def _scoops(joint: Joint, pot: Cell) -> tuple[int, ...]:
    """Return the agents that take a soup from a pot, ascending."""
    plans = sorted(joint.all.items())
    return tuple(k for k, plan in plans if any(isinstance(a, Scoop) and (a.row, a.col) == pot for a in plan.actions))
