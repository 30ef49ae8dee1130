"""The tasks of grid transportation, as the main loop tracks them: `place` the boxes of a colour (`box_green`).

A task is active while boxes of its colour are left. Under a joint action, it has these numbers:

- threshold: 1, because a box requires one agent;
- spatial: agents with a box of the colour within reach;
- temporal: agents whose primitive moves a box of the colour;
- participation: agents whose live plan first moves a box of the colour, plus those of temporal;
- joint: agents whose primitive moves a box of the colour that is within their reach;
- dependency: nothing else prevents the move: no two agents name one box, and no two boxes come to its corner.

So conflicts and collisions violate the dependency, and failed attempts are attributed to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llamac_env.transport.board import Board, BoxMove, Item, Step
from llamac_env.transport.grid import Colour, Place
from llamac_env.transport.symbolic.control import Move
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, TaskState
from maeil.world import NEAREST


class TaskBoard:
    """Finds the tasks that have changed."""

    def __init__(self) -> None:
        self._known: dict[Task, TaskState] = {}

    def changes(
        self, board: Board, joint: Mapping[int, BoxMove], plans: Sequence[Plan | None]
    ) -> tuple[TaskState, ...]:
        """Return the tasks that have changed since the last call; a finished one has the threshold 0."""
        now = {state.task: state for state in _states(board, joint, [_colour_of(plan) for plan in plans])}
        for task, state in self._known.items():
            if task not in now and state.threshold:
                now[task] = TaskState(task, 0, 0, 0, 0, 0, dependency=False)
        changed = tuple(state for task, state in now.items() if state != self._known.get(task))
        self._known.update(now)
        return changed


def attempts(before: Board, joint: Mapping[int, BoxMove], step: Step) -> tuple[Attempt, ...]:
    """Return the attempts of a step: one per box acted on, successful if the box was moved or placed."""
    crowded = {box.colour for box in step.board.boxes if box.place in step.collisions}
    acting: dict[tuple[Colour, object], list[int]] = {}
    for agent, move in sorted(joint.items()):
        acting.setdefault((move.colour, before.box_at(agent, move.colour)), []).append(agent)
    return tuple(
        Attempt(task_of(colour), tuple(agents), agents[0] in step.moved and colour not in crowded)
        for (colour, source), agents in acting.items()
        if source is not None
    )


def task_of(colour: Colour) -> Task:
    """Return the task of a colour."""
    return Task("place", f"box_{colour}")


def _states(board: Board, joint: Mapping[int, BoxMove], planned: Sequence[Colour | None]) -> list[TaskState]:
    step = board.after(joint)
    hindered = {joint[agent].colour for agent in step.failed}
    hindered |= {box.colour for box in step.board.boxes if box.place in step.collisions}
    found = []
    for colour in dict.fromkeys(box.colour for box in board.boxes):
        places = [box.place for box in board.boxes if box.colour == colour]
        near = {agent for place in places for agent in board.grid.handlers[place]}
        acting = {agent for agent, move in joint.items() if move.colour == colour}
        involved = acting | {agent for agent, own in enumerate(planned) if own == colour}
        counts = len(near), len(acting), len(involved), len(acting & near)
        found.append(TaskState(task_of(colour), 1, *counts, dependency=colour not in hindered))
    return found


def _colour_of(plan: Plan | None) -> Colour | None:
    """Return the colour of the first box that a plan moves; without actions, that of its task."""
    if plan is None:
        return None
    boxes: list[str] = [action.box for action in plan.actions if isinstance(action, Move)]
    if not plan.actions and plan.task is not None:
        boxes = [plan.task.target]
    return Colour(boxes[0].removeprefix("box_")) if boxes else None


def open_tasks(board: Board, plans: Sequence[Plan | None]) -> list[OpenTask]:
    """Return the tasks of the remaining colours.

    Args:
        board: the current board.
        plans: the live plan of each agent.
    """
    planned: dict[Colour, list[int]] = {box.colour: [] for box in board.boxes}
    for agent, plan in enumerate(plans):
        colour = _colour_of(plan)
        if colour in planned:
            planned[colour].append(agent)
    ways = {colour: min(way for way, _ in _boxes(board, colour)) for colour in planned}
    named = sorted(colour for colour in planned if planned[colour])
    others = sorted((colour for colour in planned if not planned[colour]), key=lambda colour: (ways[colour], colour))
    return [_open_task(board, colour, tuple(planned[colour])) for colour in (*named, *others[:NEAREST])]


def _boxes(board: Board, colour: Colour) -> list[tuple[int, Place]]:
    """Return the boxes of a colour, each with the fewest steps onto a target."""
    return [(_steps(board, colour, box.place), box.place) for box in board.boxes if box.colour == colour]


def _steps(board: Board, colour: Colour, place: Place) -> int:
    return min(board.grid.steps_to(place, target.place) for target in board.targets if target.colour == colour)


def _open_task(board: Board, colour: Colour, planned: tuple[int, ...]) -> OpenTask:
    boxes = _boxes(board, colour)
    near = {agent for _, place in boxes for agent in board.grid.handlers[place]}
    taken = {box.place: box.colour for box in board.boxes} if board.grid.is_hard else {}
    able: set[int] = set()
    hindering: set[Colour] = set()
    for steps, place in boxes:
        for agent in board.grid.handlers[place]:
            for end in _nearer(board, colour, agent, place, steps):
                if end in taken:
                    hindering.add(taken[end])
                else:
                    able.add(agent)
    before = tuple(f"box_{other}" for other in sorted(hindering)) if not able else ()
    here, can = tuple(sorted(near)), tuple(sorted(able))
    return OpenTask(task_of(colour), 1, int(not able), here, can, planned, before=before)


def _nearer(board: Board, colour: Colour, agent: int, place: Place, steps: int) -> list[Place]:
    """Return where an agent can move a box to reduce the remaining steps; its own cell stands for a target."""
    grid = board.grid
    if Item(colour, grid.cells[agent]) in board.targets:
        return [grid.cells[agent]]
    ends = (end for end in grid.slots[agent] if end is not None and end not in (place, grid.cells[agent]))
    return [end for end in ends if _steps(board, colour, end) < steps]
