"""The rules of CUBE's plan confirmation: what an agent holds against its own part of a joint plan."""

from __future__ import annotations

from cube_env import (
    Face,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
)
from quorum.agents.coordination.joint import Joint, Rejection, called
from quorum.agents.skills.cube.gate_board import Board
from quorum.agents.skills.cube.gate_jobs import PushTask, aim_of, groups, moves, place_of


def unavailable(board: Board, agent: int, joint: Joint) -> Rejection | None:
    """Return what is wrong with the first action of an agent's plan: it is not legal now, or leads nowhere."""
    cell, action = board.agents[agent], joint.plans[agent].actions[0]
    match action:
        case MoveToBlock() | Navigate() if (aim := aim_of(action)) is not None and aim[0] in board.blocks:
            others = {board.agents[other]: plan for other, plan in joint.plans.items() if other != agent}
            still = [other for other, plan in others.items() if not moves(plan)]
            there = [other for other in others if board.is_aligned(other, *aim)]
            ways = board.ways(*aim, [*still, *there]) or board.ways(*aim, still)
            if not board.is_aligned(cell, *aim) and cell not in ways:
                return Rejection("C-PATH", (agent,), f"no way leads to {place_of(aim)}: others stand in it")
            return None
        case Rendezvous(block=block, face=face) | YieldBlock(block=block, face=face) if block in board.blocks:
            legal = board.is_aligned(cell, block, face)
        case PushBlock(block=block) | PushTowards(block=block) if block in board.blocks:
            legal = bool(board.faces_at(cell, block))
        case Move(direction=direction):
            row_step, col_step = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}[direction.value]
            legal = board.is_free((cell[0] + row_step, cell[1] + col_step))
        case Idle() | Wait() | WaitAgents():
            legal = True
        case Navigate():
            legal = aim_of(action) is None
        case _:
            legal = False
    return None if legal else Rejection("C-AVAIL", (agent,), f"{action} cannot be done from {cell}")


def missing_partners(board: Board, job: PushTask, joint: Joint) -> str:
    """Return why an agent at a face waits in vain; empty when it does not."""
    assert job.face is not None
    place = job.block, job.face
    partners = [other for other in groups(board, joint.plans).get(place, ()) if other.agent != job.agent]
    present = sum(board.is_aligned(cell, *place) for cell in board.agents)
    late = [
        other.agent
        for other in partners
        if not board.is_aligned(board.agents[other.agent], *place)
        and (other.arrival is None or other.arrival > job.patience)
    ]
    coming = sum(not board.is_aligned(board.agents[other.agent], *place) for other in partners) - len(late)
    if present + coming >= job.count:
        return ""
    return f"{job.count} agents are to meet at {place_of(place)}: {present} are there, and {coming} come in time"


def idle_in_need(board: Board, agent: int, joint: Joint) -> Rejection | None:
    """Return what is wrong with a plan without a push: it is of no use where a team needs its agent.

    One that goes to a face or makes way is of use.
    """
    plan, cell = joint.plans[agent], board.agents[agent]
    if any(isinstance(action, MoveToBlock | Navigate | YieldBlock) for action in plan.actions):
        return None
    if moves(plan) and any(block.row <= cell[0] < block.row + block.weight for block in board.blocks.values()):
        return None  # it leaves a row in which blocks are to be pushed
    staff = {block: len(group) for (block, _), group in groups(board, joint.plans).items()}
    idle = sum(not groups(board, {other: plan}) for other, plan in joint.plans.items())
    for block in sorted(board.blocks.values(), key=lambda block: (block.distance, block.id)):
        present = sum(board.is_aligned(other, block.id, Face.left) for other in board.agents)
        lacking = block.weight - max(staff.get(block.id, 0), present)
        if not block.ahead and 0 < lacking <= idle:
            text = f"{called([agent])} waits, and block {block.id} of weight {block.weight} lacks {lacking} agents"
            return Rejection("C-IDLE", (agent,), text)
    return None
