"""The simulated speaker in the squeeze: it searches the peak by its own picks, as though all others picked the same."""

from __future__ import annotations

import numpy as np
from pydantic import TypeAdapter

from agents.llm.errors import BadRequest
from agents.llm.simulated.talk import announce
from agents.squeeze import next_try
from llamac_env import Pick, SqueezeObservation
from maeil.messages import Draft
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, Task

NEEDS = frozenset({"pick"})
"""The actions that its plans are made of."""
_observation = TypeAdapter(SqueezeObservation)


def read_observation(text: str) -> SqueezeObservation:
    """Read the observation of a prompt.

    Raises:
        ValueError: it is none of the squeeze.
    """
    return _observation.validate_json(text)


def answer(view: View, vocabulary: frozenset[str], poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn: pick by golden-section search over the own picks, say so, and resume when interrupted.

    Args:
        view: what the prompt tells; nothing else is known.
        vocabulary: names of the actions that a plan may have.
        poor: probability that the pick is drawn at random.
        rng: for the choices of this answer.

    Raises:
        BadRequest: the rules make plans of actions that the vocabulary does not have.
    """
    if missing := sorted(NEEDS - vocabulary):
        raise BadRequest(
            f"llm=simulated has no rules for this vocabulary of the world 'squeeze': it needs {', '.join(missing)}"
        )
    observation = view.observation
    assert isinstance(observation, SqueezeObservation)
    if not observation.agent:
        return Thought()  # a coordinator without a body has nothing to say
    if rng.random() < poor:
        units, reason = int(rng.integers(observation.highest_pick + 1)), "it is as good as any"
    else:
        units, reason = next_try(_paid(observation), observation.highest_pick), "the best is near it"
    plan = Plan((Pick(units=units),), Task("allocate", "system"), f"I pick {units}, {reason}")
    messages: tuple[Draft, ...] = ()
    if view.turn.recipients and view.plan is None:
        messages = announce(view, plan, "I wait.")
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def _paid(observation: SqueezeObservation) -> dict[int, float]:
    """What each own pick has paid, on average: others pick too."""
    found: dict[int, list[float]] = {}
    for past in observation.history:
        if past.pick is not None:
            found.setdefault(past.pick, []).append(past.reward)
    return {pick: sum(rewards) / len(rewards) for pick, rewards in found.items()}
