"""The tasks of grid transportation as the loop follows them: `place` of the boxes of a colour (`box_green`).

A task is active while boxes of its colour are left. Under a joint action it has

- threshold: 1, a box takes one agent;
- spatial: agents with a box of the colour in reach;
- temporal: agents whose primitive moves a box of the colour;
- participation: all agents;
- joint: agents whose primitive moves a box of the colour that they have in reach;
- dependency: nothing else is in the way: no two agents name one box, and no two boxes come to its corner.

So a conflict and a collision are violations of the dependency, and failed attempts are attributed to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from llamac_env.transport.board import Board, BoxMove, Step
from llamac_env.transport.constants import Colour
from maeil.plans import Task
from maeil.tasks import Attempt, TaskState


class TaskBoard:
    """Finds the tasks that have changed."""

    def __init__(self) -> None:
        self._known: dict[Task, TaskState] = {}

    def changes(self, board: Board, joint: Mapping[int, BoxMove]) -> tuple[TaskState, ...]:
        """Return the tasks that are not what they were at the last call; one that is over has the threshold 0."""
        now = {state.task: state for state in _states(board, joint)}
        for task, state in self._known.items():
            if task not in now and state.threshold:
                now[task] = replace(state, threshold=0, spatial=0, temporal=0, joint=0, dependency=False)
        changed = tuple(state for task, state in now.items() if state != self._known.get(task))
        self._known.update(now)
        return changed


def attempts(before: Board, joint: Mapping[int, BoxMove], step: Step) -> tuple[Attempt, ...]:
    """Return the attempts of a step: one for each box that is acted on, succeeded when it was moved or placed."""
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
    """The task of a colour."""
    return Task("place", f"box_{colour}")


def _states(board: Board, joint: Mapping[int, BoxMove]) -> list[TaskState]:
    step = board.after(joint)
    hindered = {joint[agent].colour for agent in step.failed}
    hindered |= {box.colour for box in step.board.boxes if box.place in step.collisions}
    found = []
    for colour in dict.fromkeys(box.colour for box in board.boxes):
        places = [box.place for box in board.boxes if box.colour == colour]
        near = {agent for place in places for agent in board.grid.handlers[place]}
        acting = {agent for agent, move in joint.items() if move.colour == colour}
        everybody = board.grid.agents
        found.append(
            TaskState(task_of(colour), 1, len(near), len(acting), everybody, len(acting & near), colour not in hindered)
        )
    return found
