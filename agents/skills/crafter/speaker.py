"""The simulated speaker in the open world: it reads the observation in the prompt, and climbs the technology tree.

As a critic of LLaMAC it does so for all agents that it is asked about, by what each of them knows: `critic.py`.
"""

from __future__ import annotations

import re

import numpy as np
import orjson

from crafter_env import (
    Collect,
    Craft,
    CrafterObservation,
    Direction,
    Move,
    Navigate,
    Noop,
    Place,
    Share,
    Sleep,
)
from maeil.actions import Vocabulary
from maeil.mind import Thought, View
from maeil.plans import Plan
from quorum.agents.skills.crafter.critic import joint_plan
from quorum.agents.skills.crafter.needs import PATIENCE, explore, fetch, rest, survive, work
from quorum.agents.skills.crafter.scene import RESOURCE, Scene
from quorum.agents.skills.crafter.shelter import hide
from quorum.agents.skills.speaker import Brief, Speaker, take_turn

_CALL = re.compile(r"\b(?:tree|stone|coal|iron|diamond)_(\d+)\b")


class CrafterSpeaker(Speaker[CrafterObservation]):
    """Climbs the technology tree by what its prompt shows."""

    observation = CrafterObservation
    vocabulary = Vocabulary(Noop, Move, Collect, Craft, Sleep, Place, Share, Navigate)
    needs = frozenset({"noop", "move", "collect", "craft", "place", "navigate", "sleep"})

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer a turn.

        It says where it works when that takes several agents, follows the last such call that it knows the place of,
        and resumes its plan when interrupted. A coordinator without a body has nothing to say.
        """
        observation = view.observation
        assert isinstance(observation, CrafterObservation)
        if observation.cell is None:
            return Thought()
        plan = _plan(view, Scene(observation), poor, rng)
        return take_turn(view, plan, "I have nothing to do.", silent=not observation.alive)

    def propose(self, brief: Brief) -> dict[int, Plan]:
        """Make a joint plan."""
        return joint_plan([self.read_observation(orjson.dumps(one).decode()) for one in brief.state], brief)


def _plan(view: View, scene: Scene, poor: float, rng: np.random.Generator) -> Plan:
    if not scene.seen.alive:
        return rest(rationale="I am dead")
    ways = list(Direction)
    heading = ways[(view.agent + view.t // 50) % len(ways)]
    if rng.random() < poor:
        heading = ways[rng.integers(len(ways))]
        return explore(scene, heading) or rest()
    return (
        survive(scene)
        or hide(scene)
        or _join(view, scene)
        or work(scene)
        or explore(scene, heading)
        or next((plan for way in ways if (plan := explore(scene, way)) is not None), rest())
    )


def _join(view: View, scene: Scene) -> Plan | None:
    """Go to the place of the last message that names one which takes several agents, where this agent can be of use."""
    for message in reversed((*view.memory, *view.unread)):
        found = _CALL.search(message.content)
        if found is None or message.sender == view.agent:
            continue
        cell = scene.cell_of(int(found[1]))
        material = scene.material(cell)
        if material in RESOURCE and scene.needed(material) > 1 and scene.can_collect(material):
            others = frozenset(scene.id_of(other) for other in scene.known(material) if other != cell)
            return fetch(scene, material, avoid=others, patience=PATIENCE)
    return None
