"""Adapter that connects grid transportation to the main loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from llamac_env.transport.arrays import decode_joint
from llamac_env.transport.board import Board, board_generator, draw_board
from llamac_env.transport.bounds import bracket
from llamac_env.transport.env import LARGE, TransportEnv
from llamac_env.transport.frozen import find_instance
from llamac_env.transport.grid import LARGEST_SIDE, grid_for, manhattan
from llamac_env.transport.observation import Sight, TransportObservation
from llamac_env.transport.routing import NoPlan
from llamac_env.transport.symbolic.control import (
    VOCABULARY,
    MoveController,
    Wait,
    check_plan,
    known_ids,
    known_tasks,
    make_controller,
)
from llamac_env.transport.symbolic.picture import canvas, draw, primitive_name
from llamac_env.transport.symbolic.tasks import TaskBoard, attempts, open_tasks
from llamac_env.transport.text import render_ansi, write_board
from maeil.acting import end_of
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig
from maeil.plans import Plan
from maeil.tasks import OpenTask, Tasks, TaskState
from maeil.world import Controller, Ids, Progress, Transition, World
from quorum_base.drawing import Canvas, Drawing, Way


class TransportConfig(ComponentConfig):
    """Configuration of grid transportation."""

    name: Literal["transport"]
    n: Annotated[int, Field(ge=1, le=LARGEST_SIDE**2)]
    """Number of agents, one per cell."""
    rows: PositiveInt | None
    """Rows of the grid, a divisor of `n`; null: 4, 8, 16 and 32 agents have 2x2, 2x4, 4x4 and 4x8."""
    difficulty: Literal["easy", "hard"]
    """Whether boxes are in cells (easy) or on corners (hard)."""
    entry_rule: Literal["final_state", "start_empty"]
    """Hard: whether a corner may be entered in the step in which its box leaves (`final_state`), or not."""
    boards: Literal["drawn", "frozen"]
    """`drawn`: the seed draws the board; `frozen`: seeds 0 to 9 name the benchmark's boards, with their optima."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""
    large_extra: Annotated[int, Field(ge=0)]
    """Additional steps for grids of 32 cells and more, on top of `max_steps`."""
    view: Sight
    """What agents see: only their own cell and its moves (`local`), or the whole `board`."""


class TransportWorld(World):
    """Grid transportation as a world of the main loop.

    Implements `Changeable` of `maeil.world`, and `Drawable` and `ShowsWays` of `quorum_base.drawing`. Primitives are
    those of `llamac_env.transport.arrays`. After a collision the team has failed.

    Args:
        config: grid, rules and boards.

    Raises:
        WorldError: the parts are incompatible; the message says which part and why.
    """

    name = "transport"
    vocabulary = VOCABULARY

    def __init__(self, config: TransportConfig, _context: None = None) -> None:
        grid = grid_for(config.n, config.rows, config.difficulty, config.entry_rule)
        self._extra = config.large_extra if config.n >= LARGE else 0
        self.env = TransportEnv(grid, max_steps=config.max_steps + self._extra, view=config.view, infos="none")
        self.agents: tuple[str, ...] = tuple(self.env.possible_agents)
        self.idle: SymbolicAction = Wait()
        self._facts = {"difficulty": config.difficulty, "entry_rule": config.entry_rule, "view": config.view}
        self._frozen = config.boards == "frozen"
        self._tasks: TaskBoard

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Load or draw the board for a seed; return it with the known bounds on its optimum.

        Raises:
            WorldError: boards are frozen, and none exists for this seed or grid.
        """
        grid = self.env.grid
        bounds: dict[str, int]
        if self._frozen:
            instance = find_instance(grid, seed)
            board, bounds = instance.board, {"lower_bound": instance.optimum, "optimum": instance.optimum}
        else:
            board = draw_board(grid, board_generator(seed))
            bounds = _bounds(board)
        self.env.reset(options={"board": board})
        self._tasks = TaskBoard()
        return {
            "difficulty": str(grid.difficulty),
            "entry_rule": str(grid.entry_rule),
            "rows": grid.rows,
            "cols": grid.cols,
            "items": write_board(board),
            "max_steps": self.env.max_steps,
            **bounds,
        }

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps plus those for a large grid; implements `maeil.world.Limited`."""
        self.env.limit(max_steps + self._extra)

    def observe(self, agent: int) -> TransportObservation:
        """Return the symbolic observation of an agent; `env.view` sets what it sees."""
        return self.env.symbolic_observation(agent)

    def global_observation(self) -> TransportObservation:
        """Return the whole board, for a participant without a body."""
        return self.env.symbolic_observation(None)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return the parts of a plan that the state or the grid does not allow."""
        return check_plan(self.env.board, agent, plan)

    def ids(self, agent: int | None) -> Ids:
        """Return the remaining boxes that others can bring within reach, and where the agent can move them."""
        return known_ids(self.env.board, agent)

    def tasks(self, agent: int | None, text: str = "") -> Tasks:  # noqa: ARG002 (the colours are the same for all)
        """Return a task for each remaining colour."""
        return known_tasks(self.env.board)

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the rules in force, and how much of the board agents see."""
        return self._facts

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start a symbolic action."""
        return make_controller(self.env, agent, action)

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step."""
        before, moves = self.env.board, decode_joint(self.env.grid, joint)
        report = self.env.step_moves(moves)
        outcomes: list[Mapping[str, Any]] = []
        for agent in report.placed:
            outcomes.append({"what": "placed", "agent": agent, "box": str(moves[agent].colour)})
        for agent, code in report.failed.items():
            outcomes.append({"what": str(code), "agent": agent, "box": str(moves[agent].colour)})
        for row, col in report.collisions:
            outcomes.append({"what": "collision", "corner": [row / 2, col / 2]})
        done = not report.board.boxes
        return Transition(
            tuple(outcomes),
            float(len(report.placed) - 1),
            end_of(success=done, failure=bool(report.collisions), truncated=not self.env.agents),
            attempts(before, moves, report),
        )

    def change(self, changes: Mapping[str, Any]) -> None:
        """Set the contents of some places; see `llamac_env.transport.text`.

        Raises:
            LayoutError: the changes are malformed or the resulting board is impossible; the message names the place.
        """
        self.env.change(changes)

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the tasks whose constraints have changed; see `llamac_env.transport.symbolic.tasks`."""
        return self._tasks.changes(self.env.board, decode_joint(self.env.grid, joint), plans)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:  # noqa: ARG002 (all are shown)
        """Return the tasks of the remaining boxes; see `llamac_env.transport.symbolic.tasks`."""
        return open_tasks(self.env.board, plans)

    def distance(self, agent: int, other: int) -> float:
        """Return the Manhattan distance between two agents, in cells."""
        return manhattan(self.env.grid.cells[agent], self.env.grid.cells[other])

    def progress(self) -> Progress:
        """Return how many boxes are placed; the score is that number."""
        placed = self.env.boxes - len(self.env.board.boxes)
        return Progress(placed, self.env.boxes, float(placed))

    def ansi(self) -> str:
        """Draw the board as text."""
        return render_ansi(self.env.board)

    def canvas(self) -> Canvas:
        """Return the frame of the board."""
        return canvas(self.env.grid)

    def draw(self) -> Drawing:
        """Draw the board."""
        return draw(self.env.board)

    def way(self, controller: Controller) -> Way | None:
        """Return the way of the box of a running move."""
        return controller.way() if isinstance(controller, MoveController) else None

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return primitive_name(primitive, self.env.grid)


def _bounds(board: Board) -> dict[str, int]:
    """Return the known bounds on the steps: `lower_bound`, `upper_bound` and, if they are equal, `optimum`."""
    try:
        known = bracket(board)
    except NoPlan:
        return {}
    found = {"lower_bound": known.lower, "upper_bound": known.upper}
    return found if known.optimum is None else {**found, "optimum": known.optimum}


component = Component(TransportConfig, TransportWorld)
