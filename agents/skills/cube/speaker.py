"""The simulated speaker in CUBE: it reads the observation in the prompt, and does what a negotiator would do.

As a critic of LLaMAC it forms the teams of all agents that it is asked about: `cube_critic.py`.
"""

from __future__ import annotations

import numpy as np
import orjson
from pydantic import TypeAdapter

from cube_env import SymbolicObservation
from maeil.mind import Thought, View
from maeil.plans import Plan
from quorum.agents.simulated.llamac import Brief
from quorum.agents.simulated.vocabulary import require
from quorum.agents.skills.cube.critic import PATIENCE, joint_plan
from quorum.agents.skills.cube.knowledge import recall
from quorum.agents.skills.cube.negotiator import Negotiator

NEEDS = frozenset({"move_to_block", "rendezvous", "push_block"})
"""The actions that its plans are made of."""

_observation = TypeAdapter(SymbolicObservation)


def read_observation(text: str) -> SymbolicObservation:
    """Read the observation of a prompt.

    Raises:
        ValueError: it is none of CUBE.
    """
    return _observation.validate_json(text)


def check(vocabulary: frozenset[str]) -> None:
    """Refuse a vocabulary that the rules make no plans of: `quorum.agents.simulated.vocabulary.require`."""
    require(NEEDS, vocabulary, "cube", "set env.vocabulary=cube")


def answer(view: View, vocabulary: frozenset[str], poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn.

    Args:
        view: what the prompt tells; nothing else is known.
        vocabulary: names of the actions that a plan may have.
        poor: probability that a choice is made at random.
        rng: for the choices of this answer.

    Raises:
        BadRequest: the rules make plans of actions that the vocabulary does not have.
    """
    check(vocabulary)
    observation = view.observation
    assert isinstance(observation, SymbolicObservation)
    return Negotiator(poor, PATIENCE, rng, recall(view, observation)).answer(view, observation)


def propose(brief: Brief) -> dict[int, Plan]:
    """Make a joint plan: `quorum.agents.simulated.llamac.Proposer`."""
    return joint_plan(read_observation(orjson.dumps(brief.state).decode()), brief)
