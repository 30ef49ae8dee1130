"""Repair in grid transportation: a rule of thumb for the next moves, and the greedy plan as advice.

COOP2-Repair (arXiv 2603.00349 v2) does not know this world. Its rule looks at what plans say and not at what becomes of
them; so does this one, at the next action of each plan: whether the box is in reach of its agent now, whether two move
one box, and whether two bring boxes to one corner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from llamac_env import Board, BoxMove, Colour, Move, TransportObservation, Unreadable, box_move
from maeil.extensions.repair.rules import Advice, Moment, RepairRules, Violation
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from maeil.world import World
from quorum.agents.skills.transport.moves import fitting, greedy, one_step


class TransportRepair(RepairRules):
    """What repair needs to know of grid transportation. A move takes a step, so no task has to cool down for long."""

    cooldown = 5

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:  # noqa: ARG002 - the move says it all
        """Return the task of the colour that a plan moves first."""
        return next((Task("place", action.box.value) for action in plan.actions if isinstance(action, Move)), None)

    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return which next moves find no box, and which get into each other's way."""
        board = _board(moment.world)
        moves = _next_moves(moment, board)
        boxes = {agent: board.box_at(agent, move.colour) for agent, move in moves.items() if move is not None}
        acted = Counter((_colour(moves[agent]), box) for agent, box in boxes.items())
        corners = Counter(
            move.to for agent, move in moves.items() if move is not None and move.to != board.grid.cells[agent]
        )
        found = []
        for task, agents in moment.groups.items():
            acting = [agent for agent in agents if agent in moves]
            if not acting:
                continue
            in_reach = [agent for agent in acting if boxes.get(agent) is not None]
            hindered = [
                agent
                for agent in in_reach
                if acted[_colour(moves[agent]), boxes[agent]] > 1
                or (board.grid.is_hard and (move := moves[agent]) is not None and corners[move.to] > 1)
            ]
            if not in_reach:
                found.append(Violation(task, Constraint.SPATIAL, agents, 0, 1))
            elif len(hindered) == len(in_reach):
                found.append(Violation(task, Constraint.DEPENDENCY, agents, 0, 1))
        return found

    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return the next moves of the greedy plan that go together with what all others do; the rest waits."""
        board = _board(moment.world)
        plan = greedy(board)
        if not plan:
            return None
        affected = sorted({agent for failure in failures for agent in failure.agents})
        others = {
            agent: move
            for agent, move in _next_moves(moment, board).items()
            if move is not None and agent not in affected and board.box_at(agent, move.colour) is not None
        }
        wanted = [(agent, move) for agent, move in plan[0].items() if agent in affected]
        joint = fitting(board, wanted, others)
        plans = {agent: one_step(board.grid, agent, joint.get(agent), "advised by the repair") for agent in affected}
        return Advice(failures[0].task, plans)


def _board(world: World) -> Board:
    observation = world.global_observation()
    assert isinstance(observation, TransportObservation)
    return observation.to_board()


def _colour(move: BoxMove | None) -> Colour | None:
    return move.colour if move is not None else None


def _next_moves(moment: Moment, board: Board) -> dict[int, BoxMove | None]:
    """The next action of each plan, where it is a move; None for a move to a place that is none of its agent's."""
    found: dict[int, BoxMove | None] = {}
    for live in moment.plans:
        action = live.rest[0]
        if isinstance(action, Move):
            try:
                found[live.agent] = box_move(board.grid, live.agent, action)
            except Unreadable:
                found[live.agent] = None
    return found
