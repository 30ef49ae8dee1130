"""True statements about an agent of grid transportation: the targets in its cell, and the box to move next."""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env import Board, JointMove
from maeil.messages import Message, MessageKind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.llamac_worlds.transport.moves import box_task, greedy, observed
from quorum.llamac_worlds.transport.speaker import SENTENCES, report, with_targets


def state(world: World, messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task | None]]:
    """State the targets in an agent's cell and its box: that of its plan, or of the next step of the greedy plan.

    Directives and messages of a coordinator without a body are replaced by the positions of all targets.

    See `docs/controls.md` for the arguments.
    """
    board = observed(world.global_observation()).to_board()
    steps = greedy(board)
    return [_state(message, board, steps[0] if steps else {}, plans) for message in messages]


def _state(message: Message, board: Board, moves: JointMove, plans: Sequence[Plan | None]) -> tuple[str, Task | None]:
    if message.kind is MessageKind.DIRECTIVE or message.sender >= len(plans):
        return report(board, sorted(with_targets(board))[:SENTENCES]), None
    plan, move = plans[message.sender], moves.get(message.sender)
    task = plan.task if plan is not None else box_task(move.colour) if move is not None else None
    work = f"I work on {task.target}: it is next on its way." if task is not None else "I wait."
    return f"{work} {report(board, [message.sender])}", task
