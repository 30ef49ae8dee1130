"""Code shared by the minds for grid transportation: plans, values of moves, the greedy team, the briefing, the gates.

LLaMAC (arXiv 2311.13884) names the two gates: no two agents on one box, no two boxes on one corner, and each move
brings a box nearer to its target. docs/llamac.md defines the rules. The constraints are those to which the world
attributes failed attempts.
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
    """Return an agent's plan that makes one move or waits for a step.

    Args:
        grid: the cells.
        agent: its index.
        move: the move; None to wait.
        rationale: the reason.
    """
    return plan_of(grid, agent, (move,), rationale)


def plan_of(grid: Grid, agent: int, moves: Sequence[BoxMove | None], rationale: str) -> Plan:
    """Return an agent's plan with one move per step; its task is that of the first move.

    Args:
        grid: the cells.
        agent: its index.
        moves: the moves, by step; None to wait.
        rationale: the reason.
    """
    first = next((move for move in moves if move is not None), None)
    task = box_task(first.colour) if first is not None else None
    return Plan(tuple(_action(grid, agent, move) for move in moves), task, rationale)


def box_task(colour: Colour) -> Task:
    """Return the task of bringing a box of a colour to its target, as plans name it."""
    return Task("place", f"box_{colour}")


def distance_left(board: Board, colour: Colour, place: Place) -> float:
    """Return the Manhattan distance of a box at a place from the nearest target of its colour, in cells.

    The board must have a target of that colour.
    """
    return min(manhattan(place, target.place) for target in board.targets if target.colour == colour)


def gain(board: Board, agent: int, move: BoxMove) -> float:
    """Return how much nearer a move brings its box to its nearest target, in cells; placing a box adds 1.

    The agent must be able to make the move.
    """
    source = board.box_at(agent, move.colour)
    assert source is not None
    before = distance_left(board, move.colour, source)
    return before + 1 if places(board, agent, move) else before - distance_left(board, move.colour, move.to)


def places(board: Board, agent: int, move: BoxMove) -> bool:
    """Return whether a move puts its box on the target in the agent's cell."""
    return move.to == board.grid.cells[agent]


def moves_of(observation: TransportObservation, agent: int) -> list[BoxMove]:
    """Return the moves that the observation lists as possible now."""
    choices = (Move(box=BoxName(choice.box), to=choice.to) for choice in observation.can_do)
    return [box_move(observation.grid, agent, choice) for choice in choices]


def greedy(board: Board) -> JointPlan:
    """Return the greedy plan of a board; empty if there is none."""
    try:
        return greedy_plan(board)
    except NoPlan:
        return ()


class Tick(NamedTuple):
    """A simulated step: the attempted moves and their outcome."""

    tried: JointMove
    step: Step


def carry_out(board: Board, plans: Mapping[int, Sequence[SymbolicAction]], steps: int) -> Iterator[Tick]:
    """Simulate plans on a board, step by step; all other agents do nothing.

    An agent stops after a move that is refused or fails, or if a destination cannot be read.

    Args:
        board: the state.
        plans: actions by agent.
        steps: maximum number of steps; the simulation ends earlier once all plans are over.
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
    """Yield an agent's moves in each step: one or none."""
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
    """Select moves, in the given order, that are compatible with each other and with the moves of other agents.

    A move that only fits after another one (onto a corner being vacated) is found in the next round.
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
    """The board and the agents' possible moves.

    Attributes:
        seen: the global observation of the board.
        agents: each agent's observation.
    """

    seen: TransportObservation
    agents: tuple[TransportObservation, ...]

    def shown(self) -> dict[str, Any]:
        """Return the prompt block: the board, and the moves of agents that have any. See `maeil.mind.Observation`."""
        moves = {own.agent: moves_by_box(own.can_do) for own in self.agents if own.can_do}
        return {**self.seen.shown(), "can_do": moves}


class TransportBriefing(Briefing):
    """Shows the board and each agent's moves; for past decisions, the remaining boxes and their total distance."""

    def state(self, sight: Sight) -> TransportState:
        """Return the board and each agent's possible moves."""
        return TransportState(observed(sight.global_observation), tuple(map(observed, sight.agents)))

    def digest(self, sight: Sight) -> object:
        """Return the number of boxes and their total distance to the nearest target of their colour, in cells."""
        board = observed(sight.global_observation).to_board()
        distances = (distance_left(board, box.colour, box.place) for box in board.boxes)
        return {"boxes": len(board.boxes), "distance": sum(distances)}


def observed(observation: Observation) -> TransportObservation:
    """Return the observation, typed for this world."""
    assert isinstance(observation, TransportObservation)
    return observation


class HandingTeam:
    """Commands all agents of a team; its minds share the plan and send no messages.

    Args:
        world: the world; the team sees its whole board, whatever its agents see.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.minds = tuple(CommandedMind(self._decide) for _ in world.agents)
        self._plan: tuple[JointMove, ...] = ()
        self._board: Board | None = None
        """The expected board at the next step of the plan."""

    def _decide(self, view: View) -> Plan:
        return self.plan(view.agent, observed(self._world.global_observation()).to_board())

    def plan(self, agent: int, board: Board) -> Plan:
        """Return an agent's next step on a board."""
        if board != self._board:
            self._go_on(board)
        move = self._plan[0].get(agent) if self._plan else None
        return one_step(
            board.grid, agent, move, "the team's plan" if move is not None else "no box is mine to move now"
        )

    def _go_on(self, board: Board) -> None:
        """Advance the plan by a step if the board matches its prediction; otherwise plan again."""
        if self._board is not None and self._plan and self._board.after(self._plan[0]).board == board:
            self._plan = self._plan[1:]
        else:
            self._plan = greedy(board)
        self._board = board


class TransportGates:
    """Implements `quorum.agents.skills.Gates` for grid transportation, Easy and Hard.

    Scrutiny simulates the joint plan on the board, including plans under way, up to the first step that breaks a rule,
    as though no other agent acted. The first step is judged exactly, because all agents that act in it are known. Later
    steps are judged by the current joint plan, although agents that plan again before then may change them. A conflict
    between plans under way is reported too; their agents plan again at that point. Scrutiny does not judge whether a
    later move will find its box, because others may bring it; a move that does not find it ends its plan and costs no
    step. If a plan under way begins with a wait of several steps, it is unknown how much of the wait has passed, so
    only the first step is judged. Easy boards have no conflicts: only one agent can reach a box, and boxes of one
    colour in its cell are interchangeable.

    Confirmation judges a plan's initial move. A plan that begins with a wait passes, because the board will have
    changed when its move comes.
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
        """Judge an agent's current move: whether it is possible, and whether it brings the box nearer.

        With an observation that has no board, only the first can be judged.
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
    """Yield the rules that a step breaks, each with the agents involved."""
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
