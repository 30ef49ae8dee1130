"""The symbolic actions of grid transportation, and their translation into moves."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import chain
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llamac_env.transport.arrays import NOTHING, encode
from llamac_env.transport.board import Board, BoxMove
from llamac_env.transport.env import TransportEnv
from llamac_env.transport.grid import PLACES, Colour, FailureCode, Grid
from llamac_env.transport.text import Unreadable, describe, read_destination, write_place
from maeil.actions import SymbolicAction, Vocabulary
from maeil.controllers import SUCCESS, Repeat, failed
from maeil.plans import Plan, Task
from maeil.tasks import Tasks, no_such_task
from maeil.world import ActionEnd, Controller, Ids
from quorum_base.drawing import Way


class BoxName(StrEnum):
    """The boxes, by colour: those of one colour are alike."""

    box_blue = "box_blue"
    box_red = "box_red"
    box_green = "box_green"
    box_purple = "box_purple"
    box_orange = "box_orange"


Destination = Annotated[
    str,
    Field(
        pattern=r"^(target_[a-z]+|(square|position)[\[\(] *\d+(\.\d+)? *, *\d+(\.\d+)? *[\]\)])$",
        description='"square[0.5, 1.5]", "position[1.0, 0.0]" or "target_green"',
    ),
]


class Move(SymbolicAction):
    """Move a box within your reach to a place within your reach, in one step."""

    phrase: ClassVar[str] = "bring {box} to {to}"
    action: Literal["move"] = "move"
    box: BoxName
    to: Destination


class Wait(SymbolicAction):
    """Do nothing for `steps` steps."""

    phrase: ClassVar[str] = "wait {steps} step(s)"
    action: Literal["wait"] = "wait"
    steps: Annotated[int, Field(ge=1, le=1000)] = 1


VOCABULARY = Vocabulary(Move, Wait)


_ROOM, _INSET = 0.5, 0.25
"""Edge length of the ring around a place, and its distance from the edges of a cell."""


class MoveController:
    """Makes one move: it fails at once if the state does not allow it, or after the step if the move failed.

    A move that the state does not allow is an attempt at the task of its box.

    Args:
        env: the environment.
        agent: index of the agent.
        action: the action to carry out.
    """

    def __init__(self, env: TransportEnv, agent: int, action: Move) -> None:
        self._env = env
        self._agent = agent
        self._task = Task("place", action.box.value)
        self._begun_at: int | None = None
        self._refusal: FailureCode | None = None
        self._move: BoxMove | None = None
        try:
            self._move = box_move(env.grid, agent, action)
        except Unreadable as error:
            self._refusal = error.code

    def status(self) -> ActionEnd | None:
        """Return the end once the move is made or impossible."""
        if self._begun_at is not None:
            return self._after() if self._env.steps > self._begun_at else None
        code = self._env.board.refusal(self._agent, self._move) if self._move is not None else self._refusal
        return replace(failed(code), unmet=self._task) if code is not None else None

    def act(self) -> int:
        """Return the primitive of the move."""
        assert self._move is not None
        self._begun_at = self._env.steps
        return encode(self._env.grid, self._agent, self._move)

    def close(self) -> None:
        """Do nothing: no resources are shared."""

    def way(self) -> Way | None:
        """Return the way from the box to its destination; see `quorum_base.drawing.ShowsWays`."""
        start = self._env.board.box_at(self._agent, self._move.colour) if self._move is not None else None
        if self._move is None or start is None:
            return None
        (y, x), (row, col) = start, self._move.to
        return Way(((x / 2, y / 2), (col / 2, row / 2)), ((col - 1) / 2 + _INSET, (row - 1) / 2 + _INSET, _ROOM, _ROOM))

    def _after(self) -> ActionEnd:
        report = self._env.report
        assert report is not None
        code = report.failed.get(self._agent)
        return failed(code) if code is not None else SUCCESS


def make_controller(env: TransportEnv, agent: int, action: SymbolicAction) -> Controller:
    """Start the controller of an action."""
    match action:
        case Move():
            return MoveController(env, agent, action)
        case Wait():
            return Repeat(NOTHING, action.steps)
        case _:
            raise TypeError(f"grid transportation has no controller for {type(action).__name__}")


def check_plan(board: Board, agent: int, plan: Plan) -> tuple[str, ...]:
    """Return why an agent cannot carry out a plan, each reason preceded by its code.

    The first action must be possible in the current state. Moves of other agents can enable the later ones, so only
    their destinations must be within reach, and a box of the colour must be left, because placed boxes never come back.
    """
    found = []
    for number, action in enumerate(plan.actions):
        if not isinstance(action, Move):
            continue
        try:
            move = box_move(board.grid, agent, action)
        except Unreadable as error:
            found.append(f"{action}: {error.code}: {error}")
            continue
        code = board.refusal(agent, move)
        hopeless = number == 0 or code is FailureCode.no_such_box or move.to not in board.grid.slots[agent]
        if code is not None and hopeless:
            if number and code is not FailureCode.no_such_box:
                code = FailureCode.out_of_reach
            found.append(f"{action}: {code}: {describe(code, board.grid, agent, move)}")
    if plan.task is not None and plan.task.target not in (tasks := known_tasks(board)).get(plan.task.kind, ()):
        found.append(no_such_task(plan.task, tasks))
    return tuple(found)


def known_tasks(board: Board) -> Tasks:
    """Return the tasks of a board: placing the boxes of each remaining colour."""
    return {"place": _boxes_left(board)}


def known_ids(board: Board, agent: int | None) -> Ids:
    """Return the names for moves of an agent, or of any agent: places, and boxes that others can bring within reach.

    A box fits only a target of the same colour. A place has several spellings; the result uses those in which the board
    is shown.
    """
    boxes, slots = _boxes_left(board), board.grid.slots
    reached = chain(*(place[:PLACES] for place in (slots if agent is None else [slots[agent]])))
    places = [write_place(place) for place in dict.fromkeys(reached) if place is not None]
    onto_targets = [{"box": [name], "to": [name.replace("box", "target")]} for name in boxes]
    return {"move": [{"box": boxes, "to": places}, *onto_targets]}


def _boxes_left(board: Board) -> list[str]:
    left = {f"box_{box.colour}" for box in board.boxes}
    return [name.value for name in BoxName if name.value in left]


def box_move(grid: Grid, agent: int, action: Move) -> BoxMove:
    """Return the move that an action stands for.

    Raises:
        Unreadable: its destination is not on this grid, or is a target of another colour.
    """
    return read_destination(grid, agent, Colour(action.box.removeprefix("box_")), action.to)
