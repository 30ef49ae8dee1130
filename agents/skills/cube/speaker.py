"""The simulated speaker in CUBE: it does what a negotiator would do.

As a planner of joint plans it forms the teams of all agents that it is asked about: `critic.py`.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import orjson

from cube_env import (
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicObservation,
    Wait,
    WaitAgents,
    YieldBlock,
    read_shown,
)
from maeil.actions import Vocabulary
from maeil.mind import Thought, View
from maeil.plans import Plan
from quorum.agents.skills.cube.critic import PATIENCE, joint_plan
from quorum.agents.skills.cube.knowledge import recall
from quorum.agents.skills.cube.negotiator import Negotiator
from quorum.agents.skills.cube.wording import CUBE, Wording
from quorum.agents.skills.speaker import Brief, Speaker


class CubeSpeaker(Speaker[SymbolicObservation]):
    """A negotiator that remembers what its prompt tells.

    Args:
        wording: of its plans.
    """

    observation = SymbolicObservation
    vocabulary = Vocabulary(
        Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents, Wait, PushTowards, Navigate
    )
    way_out = "set env.vocabulary=cube or env.vocabulary=emcoop"

    def __init__(self, wording: Wording = CUBE) -> None:
        self._wording = wording
        self.needs = wording.words

    def for_vocabulary(self, names: Collection[str]) -> CubeSpeaker:
        """Return a speaker that plans in CUBE's words, or in EmCoop's where it knows those alone."""
        speaker = CubeSpeaker(Wording.of(names) if "navigate" in names else self._wording)
        speaker.check_vocabulary(names)
        return speaker

    def read_observation(self, text: str) -> SymbolicObservation:
        """Read the observation of a prompt, or the board that a coordinator is shown."""
        return read_shown(orjson.loads(text))

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer as a negotiator would."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        mind = Negotiator(poor, PATIENCE, rng, recall(view, observation), self._wording)
        return mind.answer(view, observation)

    def propose(self, brief: Brief) -> dict[int, Plan]:
        """Form whole teams."""
        return joint_plan(read_shown(brief.state), brief, self._wording)
