"""The simulated speaker in CUBE: it reads the observation in the prompt, and does what a negotiator would do."""

from __future__ import annotations

import numpy as np
from pydantic import TypeAdapter

from agents.llm.errors import BadRequest
from agents.negotiator.cube import Negotiator
from agents.negotiator.cube_knowledge import recall
from cube_env import SymbolicObservation
from maeil.mind import Thought, View

PATIENCE = 20
"""Steps that it waits for the others of a team, as the negotiator does by default."""

NEEDS = frozenset({"move_to_block", "rendezvous", "push_block"})
"""The actions that its plans are made of."""

_observation = TypeAdapter(SymbolicObservation)


def read_observation(text: str) -> SymbolicObservation:
    """Read the observation of a prompt.

    Raises:
        ValueError: it is none of CUBE.
    """
    return _observation.validate_json(text)


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
    if missing := sorted(NEEDS - vocabulary):
        raise BadRequest(
            f"llm=simulated has no rules for this vocabulary of the world 'cube': it needs {', '.join(missing)}; "
            "set env.vocabulary=cube"
        )
    observation = view.observation
    assert isinstance(observation, SymbolicObservation)
    return Negotiator(poor, PATIENCE, rng, recall(view, observation)).answer(view, observation)
