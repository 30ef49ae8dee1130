"""True statements about an agent of CUBE, in the words of negotiators: the block that needs it, and its distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from cube_env import SymbolicObservation
from maeil.messages import Message, MessageKind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.skills.cube.negotiator import demands, form_teams, write_claim, write_order
from quorum.agents.skills.cube.plans import block_of, delivery_of, seen, way
from quorum.study.control.statements import Statements


def statements(world: World) -> Statements:
    """Return the function that makes true statements for messages."""
    return partial(state, world)


def state(world: World, messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task | None]]:
    """State which block an agent works on: that of its plan, else the one where optimal teams need it.

    Teams are formed as by negotiators who know all plans, with all other agents wishing for the block at which they
    stand, or the nearest. The statement for a directive says where each of its readers is needed. `Statements`
    documents the arguments.
    """
    board = world.global_observation()
    assert isinstance(board, SymbolicObservation)
    places = _places(board, plans)
    return [_state(message, board, places) for message in messages]


def _state(message: Message, board: SymbolicObservation, places: Mapping[int, int]) -> tuple[str, Task | None]:
    if message.kind is MessageKind.DIRECTIVE or message.sender not in places:
        needed = {agent: places[agent] for agent in message.recipients if agent in places}
        return f"Who is needed where: {write_order(needed)}", None
    block = next(block for block in board.blocks if block.id == places[message.sender])
    return write_claim(block.id, way(board.agents[message.sender], block)), delivery_of(block)


def _places(board: SymbolicObservation, plans: Sequence[Plan | None]) -> dict[int, int]:
    """Return the block of each agent; empty while no block has a clear way."""
    jobs = demands(board, {})
    if not jobs:
        return {}
    there = {job.id for job in jobs}
    busy = {agent: block_of(plan.task) for agent, plan in enumerate(plans) if plan is not None}
    planned = {agent: block for agent, block in busy.items() if block in there and block is not None}
    nearest = {agent: min(jobs, key=lambda job: (job.ways[agent], job.id)).id for agent in range(len(board.agents))}
    return {**form_teams({**nearest, **seen(board), **planned}, jobs), **planned}
