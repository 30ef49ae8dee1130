"""The simulated speaker in CUBE: it reads the observation in the prompt, and does what a negotiator would do.

As a critic of LLaMAC it forms the teams of all agents that it is asked about (`propose`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import orjson
from pydantic import TypeAdapter

from agents.cube import delivery, way
from agents.llm.simulated.roles import Brief
from agents.llm.simulated.vocabulary import require
from agents.negotiator.cube import Negotiator
from agents.negotiator.cube_knowledge import block_of, clear, recall
from cube_env import Face, MoveToBlock, SymbolicBlock, SymbolicObservation
from maeil.mind import Thought, View
from maeil.plans import Plan, Task

PATIENCE = 20
"""Steps that it waits for the others of a team, as the negotiator does by default."""

DELIVER = "deliver"
"""The task of a plan that delivers a block."""

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
    """Refuse a vocabulary that the rules make no plans of: `agents.llm.simulated.vocabulary.require`."""
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
    """Make a joint plan: `agents.llm.simulated.roles.Proposer`.

    The exploiter takes the blocks nearest to the goal first, the explorer the heaviest; each block with a clear way
    gets its nearest agents, as many as it lacks, or none. Those left over go where fewest are lacking.
    """
    board = read_observation(orjson.dumps(brief.state).decode())
    tasks = (Task(**plan["task"]) for plan in brief.running.values() if plan["task"] is not None)
    staff = Counter(block_of(task) for task in tasks if task.kind == DELIVER)
    free = list(brief.asked)
    plans: dict[int, Plan] = {}
    for block in sorted(clear(board), key=lambda block: _rank(block, brief.role)):
        lacking = max(block.weight - staff[block.id], 0)
        team = sorted(free, key=lambda agent: (way(board.agents[agent], block), agent))[:lacking]
        if len(team) == lacking:
            # So patient that the first to come is still there when the last one comes.
            patience = PATIENCE + max((way(board.agents[agent], block) for agent in team), default=0)
            plans |= {agent: delivery(block, f"the {brief.role} forms whole teams", patience) for agent in team}
            free = [agent for agent in free if agent not in team]
            staff[block.id] += lacking
    plans |= {agent: plan for agent in free if (plan := _stand_by(board, agent, staff)) is not None}
    for agent in brief.asked:
        if brief.rng.random() < brief.poor:
            block = clear(board)[brief.rng.integers(len(clear(board)))]
            plans[agent] = delivery(block, "at random", PATIENCE)
    return plans


def _rank(block: SymbolicBlock, role: str) -> tuple[int, int, int]:
    """Place of a block in the order in which a critic forms teams."""
    return (0 if role == "exploiter" else -block.weight, block.distance, block.id)


def _stand_by(board: SymbolicObservation, agent: int, staff: Mapping[int | None, int]) -> Plan | None:
    """Make way for a block that is to be pushed; or go to the clear block that lacks fewest agents, unless there."""
    row, col = board.agents[agent]
    ahead_of = [block for block in clear(board) if block.row <= row < block.row + block.weight and block.col < col]
    lacking: list[SymbolicBlock] = [block for block in clear(board) if staff.get(block.id, 0) < block.weight]
    if not ahead_of and not lacking:
        return None
    block = min(
        ahead_of or lacking, key=lambda block: (block.weight - staff.get(block.id, 0), block.distance, block.id)
    )
    if way(board.agents[agent], block) == 0:
        return None
    return Plan((MoveToBlock(block=block.id, face=Face.left),), Task("stand_by", f"block_{block.id}"), "for later")
