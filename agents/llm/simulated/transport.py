"""The simulated speaker in grid transportation: it reads the observation in the prompt, and plans greedily.

All agents see the same board and plan by the same rules, so that their moves fit together without a word.
"""

from __future__ import annotations

import numpy as np
from pydantic import TypeAdapter

from agents.llm.errors import BadRequest
from agents.llm.simulated.talk import announce
from agents.transport import one_step
from llamac_env import Board, BoxMove, NoPlan, TransportObservation, greedy_plan
from maeil.messages import Draft
from maeil.mind import Act, Resume, Thought, View

NEEDS = frozenset({"move", "wait"})
"""The actions that its plans are made of."""
_observation = TypeAdapter(TransportObservation)


def read_observation(text: str) -> TransportObservation:
    """Read the observation of a prompt.

    Raises:
        ValueError: it is none of grid transportation.
    """
    return _observation.validate_json(text)


def answer(view: View, vocabulary: frozenset[str], poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn: make the greedy plan's next move, say so, and resume when interrupted.

    Args:
        view: what the prompt tells; nothing else is known.
        vocabulary: names of the actions that a plan may have.
        poor: probability that the move is any that can be made, or none.
        rng: for the choices of this answer.

    Raises:
        BadRequest: the rules make plans of actions that the vocabulary does not have.
    """
    if missing := sorted(NEEDS - vocabulary):
        raise BadRequest(
            f"llm=simulated has no rules for this vocabulary of the world 'transport': it needs {', '.join(missing)}"
        )
    observation = view.observation
    assert isinstance(observation, TransportObservation)
    if not observation.agent:
        return Thought()  # a coordinator without a body has nothing to say
    board = observation.to_board()
    is_poor = rng.random() < poor
    move = _any(board, view.agent, rng) if is_poor else _greedy(board, view.agent)
    reason = (
        "it is as good as any" if is_poor else "it is next on its way" if move is not None else "no box is mine now"
    )
    plan = one_step(board.grid, view.agent, move, reason)
    messages: tuple[Draft, ...] = ()
    if view.turn.recipients and view.plan is None:
        messages = announce(view, plan, "I wait.")
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def _greedy(board: Board, agent: int) -> BoxMove | None:
    try:
        plan = greedy_plan(board)
    except NoPlan:
        return None
    return plan[0].get(agent) if plan else None


def _any(board: Board, agent: int, rng: np.random.Generator) -> BoxMove | None:
    moves = (None, *board.available(agent))
    return moves[rng.integers(len(moves))]
