"""What the minds for grid transportation share: plans, what moves are worth, the greedy team, what planners see; gates.

LLaMAC (arXiv 2311.13884) names the two gates: no two agents on one box, no two boxes on one corner, every move a step
nearer. Their rules and meanings are those of docs/llamac.md. The constraints are those to which the world attributes
failed attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from llamac_env import (
    Board,
    BoxMove,
    BoxName,
    Colour,
    FailureCode,
    Grid,
    JointMove,
    JointPlan,
    Move,
    NoPlan,
    Place,
    Step,
    TransportObservation,
    Unreadable,
    Wait,
    box_move,
    greedy_plan,
    manhattan,
    moves_by_box,
    write_destination,
    write_place,
)
from maeil.actions import SymbolicAction
from maeil.mind import Observation, View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import Briefing, CommandedMind, read_rules


def one_step(grid: Grid, agent: int, move: BoxMove | None, rationale: str) -> Plan:
    """The plan of an agent that makes one move, or waits for a step.

    Args:
        grid: the cells.
        agent: its index.
        move: the move; None to wait.
        rationale: why.
    """
    return plan_of(grid, agent, (move,), rationale)


def plan_of(grid: Grid, agent: int, moves: Sequence[BoxMove | None], rationale: str) -> Plan:
    """The plan of an agent that makes moves, one a step; its task is that of the first.

    Args:
        grid: the cells.
        agent: its index.
        moves: by step; None to wait.
        rationale: why.
    """
    first = next((move for move in moves if move is not None), None)
    task = box_task(first.colour) if first is not None else None
    return Plan(tuple(_action(grid, agent, move) for move in moves), task, rationale)


def box_task(colour: Colour) -> Task:
    """The task of those who bring a box of a colour to its target, as their plans name it."""
    return Task("place", f"box_{colour}")


def distance_left(board: Board, colour: Colour, place: Place) -> float:
    """Manhattan distance of a box at a place to the nearest target of its colour, in cells.

    The colour has a target on the board.
    """
    return min(manhattan(place, target.place) for target in board.targets if target.colour == colour)


def gain(board: Board, agent: int, move: BoxMove) -> float:
    """By how much a move brings its box nearer to the nearest target of its colour, in cells; a placed box 1 more.

    The agent can make it.
    """
    source = board.box_at(agent, move.colour)
    assert source is not None
    before = distance_left(board, move.colour, source)
    return before + 1 if places(board, agent, move) else before - distance_left(board, move.colour, move.to)


def places(board: Board, agent: int, move: BoxMove) -> bool:
    """Whether a move puts its box on the target in the agent's cell."""
    return move.to == board.grid.cells[agent]


def moves_of(observation: TransportObservation, agent: int) -> list[BoxMove]:
    """The moves that an observation says its agent can make now."""
    choices = (Move(box=BoxName(choice.box), to=choice.to) for choice in observation.can_do)
    return [box_move(observation.grid, agent, choice) for choice in choices]


def greedy(board: Board) -> JointPlan:
    """The greedy plan of a board; empty where there is none."""
    try:
        return greedy_plan(board)
    except NoPlan:
        return ()


class Tick(NamedTuple):
    """A step of plans that are carried out: what is tried, and what comes of it."""

    tried: JointMove
    step: Step


def carry_out(board: Board, plans: Mapping[int, Sequence[SymbolicAction]], steps: int) -> Iterator[Tick]:
    """Carry out plans on a board, step by step, while nobody else does anything.

    An agent whose move is refused or fails does nothing more, and neither does one with a destination that is none.

    Args:
        board: the state.
        plans: actions by agent.
        steps: steps to look ahead, at most; it ends earlier when all plans are over.
    """
    left = {agent: _moves(board.grid, agent, actions) for agent, actions in plans.items()}
    for _ in range(steps):
        now = {agent: next(moves, None) for agent, moves in left.items()}
        left = {agent: left[agent] for agent, tick in now.items() if tick is not None}
        if not left:
            return
        tried = {agent: tick[0] for agent, tick in now.items() if tick}
        step = board.after(tried)
        yield Tick(tried, step)
        left = {agent: moves for agent, moves in left.items() if agent not in step.failed}
        board = step.board


def _moves(grid: Grid, agent: int, actions: Sequence[SymbolicAction]) -> Iterator[tuple[BoxMove, ...]]:
    """Return what an agent does in each step: one move, or none."""
    for action in actions:
        match action:
            case Wait(steps=steps):
                for _ in range(steps):
                    yield ()
            case Move():
                try:
                    yield (box_move(grid, agent, action),)
                except Unreadable:
                    return


def _action(grid: Grid, agent: int, move: BoxMove | None) -> SymbolicAction:
    if move is None:
        return Wait()
    return Move(box=BoxName(f"box_{move.colour}"), to=write_destination(grid, agent, move))


def fitting(board: Board, wanted: Iterable[tuple[int, BoxMove]], others: JointMove) -> JointMove:
    """Those of some moves, by rank, that go together with each other and with those of other agents.

    A move that fits only after another one (onto a corner that is left) is found in the next round.
    """
    joint, left = dict(others), list(wanted)
    grows = True
    while grows:
        grows = False
        for agent, move in left:
            if agent not in joint:
                step = board.after({**joint, agent: move})
                if not step.failed and not step.collisions:
                    joint[agent] = move
                    grows = True
    return {agent: move for agent, move in joint.items() if agent not in others}


@dataclass(frozen=True, slots=True)
class TransportState:
    """The board, and what the agents can do.

    Attributes:
        seen: the board, from outside.
        agents: what each agent sees.
    """

    seen: TransportObservation
    agents: tuple[TransportObservation, ...]

    def shown(self) -> dict[str, Any]:
        """What a prompt shows: the board, and the moves of each agent that has any. See `maeil.mind.Observation`."""
        moves = {own.agent: moves_by_box(own.can_do) for own in self.agents if own.can_do}
        return {**self.seen.shown(), "can_do": moves}


class TransportBriefing(Briefing):
    """The board with what each agent can do; of past decisions the boxes that were left, and how far they had to go."""

    def state(self, sight: Sight) -> TransportState:
        """Return the board, and the moves that each agent can make."""
        return TransportState(observed(sight.global_observation), tuple(map(observed, sight.agents)))

    def digest(self, sight: Sight) -> object:
        """Return the number of boxes and the sum of their distances to the nearest target of their colour, in cells."""
        board = observed(sight.global_observation).to_board()
        distances = (distance_left(board, box.colour, box.place) for box in board.boxes)
        return {"boxes": len(board.boxes), "distance": sum(distances)}


def observed(observation: Observation) -> TransportObservation:
    """Return an observation as one of this world."""
    assert isinstance(observation, TransportObservation)
    return observation


class HandingTeam:
    """Gives orders to all agents of a team; its minds share the plan, and send no messages.

    Args:
        world: whose board it sees as a whole, whatever its agents see.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.minds = tuple(CommandedMind(self._decide) for _ in world.agents)
        self._plan: tuple[JointMove, ...] = ()
        self._board: Board | None = None
        """The board on which the next step of the plan is to be made."""

    def _decide(self, view: View) -> Plan:
        return self.plan(view.agent, observed(self._world.global_observation()).to_board())

    def plan(self, agent: int, board: Board) -> Plan:
        """Return the next step of an agent on a board."""
        if board != self._board:
            self._go_on(board)
        move = self._plan[0].get(agent) if self._plan else None
        return one_step(
            board.grid, agent, move, "the team's plan" if move is not None else "no box is mine to move now"
        )

    def _go_on(self, board: Board) -> None:
        """Take the next step of the plan where the board is what it foresaw; else plan again."""
        if self._board is not None and self._plan and self._board.after(self._plan[0]).board == board:
            self._plan = self._plan[1:]
        else:
            self._plan = greedy(board)
        self._board = board


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

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge the joint plan up to the first step in which it breaks a rule."""
        seen = observed(sight.global_observation)
        ahead = seen.max_steps - seen.step
        if any(isinstance(first := plan.actions[0], Wait) and first.steps > 1 for plan in joint.running.values()):
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
