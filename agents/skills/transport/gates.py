"""The gates of grid transportation: no two agents on one box, no two boxes on one corner, every move a step nearer.

LLaMAC (arXiv 2311.13884) names the two gates; the rules and their meanings are those of docs/llamac.md. The constraints
are those to which the world attributes failed attempts.
"""

from __future__ import annotations

from collections.abc import Iterator

from llamac_env import FailureCode, Move, Unreadable, Wait, box_move, write_place
from maeil.actions import SymbolicAction
from maeil.mind import Observation
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules
from quorum.agents.skills.transport.moves import Tick, carry_out, distance_left, gain, moves_of, observed


class TransportGates:
    """Fulfils `quorum.agents.skills.Gates` for grid transportation, Easy and Hard.

    Scrutiny carries the joint plan out on the board, plans under way among it, as though nobody else did anything, up
    to the first step in which a rule is broken. So the first step is judged exactly: all agents that act in it are
    known. Later steps are judged as the joint plan stands; agents that are asked again before may still change them.
    A conflict of plans under way alone is reported as well: who carries them out is asked about then.
    That a later move will find its box is not judged, since others may bring it: a move that does not find it ends its
    plan, and costs no step. Where a plan under way begins with a wait of several steps, nobody knows how much of it is
    over, and the first step alone is judged. On easy boards nothing conflicts: a box is in reach of one agent alone,
    and boxes of a colour in its cell are alike.

    Confirmation judges a move with which a plan begins. A plan that begins with a wait passes: what the agent does now
    is nothing, and the board will be another when its move comes.
    """

    rules = read_rules("transport")

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge the joint plan up to the first step in which it breaks a rule."""
        seen = observed(sight.global_observation)
        ahead = seen.max_steps - seen.step
        if any(_is_long_wait(plan.actions[0]) for plan in joint.running.values()):
            ahead = min(ahead, 1)
        plans = {agent: plan.actions for agent, plan in joint.all.items()}
        for number, tick in enumerate(carry_out(seen.to_board(), plans, ahead), 1):
            if broken := list(_broken(number, tick)):
                return broken
        return []

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Judge the move that an agent is to make now: whether it can, and whether it brings the box nearer.

        By an observation without a board only the first can be judged.
        """
        action = joint.plans[agent].actions[0]
        if not isinstance(action, Move):
            return None
        seen = observed(observation)
        try:
            move = box_move(seen.grid, agent, action)
        except Unreadable as error:
            return Rejection("C-AVAIL", (agent,), f"{error.code}: {error}")
        if seen.board is None:
            if move in moves_of(seen, agent):
                return None
            return Rejection("C-AVAIL", (agent,), f"{action} cannot be done now")
        board = seen.to_board()
        if (refusal := board.refusal(agent, move)) is not None:
            return Rejection("C-AVAIL", (agent,), f"{action} cannot be done now: {refusal}")
        nearer = gain(board, agent, move)
        if nearer > 0:
            return None
        left = distance_left(board, move.colour, move.to)
        text = f"{action}: the box is {left + nearer:g} cells from its nearest target, and would be {left:g}"
        return Rejection("C-PROG", (agent,), text)


def _broken(number: int, tick: Tick) -> Iterator[Rejection]:
    """The rules that a step breaks, each with all who take part."""
    when = "in the first step" if number == 1 else f"in step {number} of the plan"
    tried, step = tick
    conflicts: dict[str, list[int]] = {}
    for agent, refusal in step.failed.items():
        if refusal is FailureCode.conflict:
            conflicts.setdefault(f"box_{tried[agent].colour}", []).append(agent)
    for box, agents in sorted(conflicts.items()):
        yield Rejection("V-BOX", tuple(agents), f"{when} {called(agents)} all act on {box}; one of them can")
    for corner in step.collisions:
        came = [agent for agent in step.moved if tried[agent].to == corner]
        boxes = sorted(f"box_{box.colour}" for box in step.board.boxes if box.place == corner)
        text = f"{when} {' and '.join(boxes)} come to be on {write_place(corner)}, moved by {called(came)}"
        yield Rejection("V-CORNER", tuple(came), text)


def _is_long_wait(action: SymbolicAction) -> bool:
    return isinstance(action, Wait) and action.steps > 1
