"""The gates of Overcooked: pots have room for what is brought, and one dish comes to a soup.

LLaMAC (arXiv 2311.13884) names the two gates; the rules and their meanings are those of docs/llamac.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from maeil.mind import Observation
from overcooked_env import ROOM, Fill, KitchenObservation, Scoop, pot_name
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules


class OvercookedGates:
    """Fulfils `quorum.agents.skills.Gates` for Overcooked, by what each plan does at pots."""

    rules = read_rules("overcooked")

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge what is brought to each pot, where somebody who is asked brings something."""
        seen, found = _kitchen(sight.global_observation), []
        for pot, (has, left) in seen.contents.items():
            fill, scoop = (tuple(sorted(_at(joint, kind, pot))) for kind in (Fill, Scoop))
            room = ROOM - (has.count("+") + bool(has)) if left is None else ROOM
            if len(fill) > room and joint.plans.keys() & set(fill):
                text = f"{pot_name(pot)} has room for {room} more, and {called(fill)} bring {len(fill)}"
                found.append(Rejection("V-ROOM", fill, text))
            if len(scoop) > 1 and joint.plans.keys() & set(scoop):
                text = f"{pot_name(pot)} has one soup, and {called(scoop)} bring a dish each"
                found.append(Rejection("V-DISH", scoop, text))
        return found

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> None:
        """Refuse nothing: an agent sees what the scrutiny sees, and the world checks its hand and its reach."""


def _kitchen(observation: Observation) -> KitchenObservation:
    assert isinstance(observation, KitchenObservation)
    return observation


def _at(joint: Joint, kind: type[Fill | Scoop], pot: tuple[int, int]) -> Iterator[int]:
    """Return the agents whose plan does something at a pot, once for each time."""
    for agent, plan in joint.all.items():
        yield from (agent for action in plan.actions if isinstance(action, kind) and (action.row, action.col) == pot)
