"""What a prompt shows of a board, and how to read it back.

A prompt leaves out what follows from the rest: face cells, zeros, and ended actions (the plans report those). Agents
and blocks are rows of numbers; the rules name the columns once. A prompt limits the number of agents it shows. It
states what a plan needs and a reader should not have to compute: the distance to each face, the number of agents at it,
and the agents needed for a push, including the blocks met on the way.

`ShownObservation.shown` writes and `read_shown` reads. Except for hidden agents and the history, reading returns the
observation that was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from heapq import heappop, heappush
from itertools import groupby
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from cube_env.arrays import IntArray
from cube_env.constants import STEP_TOWARDS, Action, Cell, Face
from cube_env.observation import NOT_SHOWN, RUNNING, SymbolicBlock, SymbolicObservation, symbolic_blocks
from cube_env.paths import find_way, place_in_line, staging_targets
from cube_env.state import BlockView
from maeil.actions import as_call


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TextLimits:
    """How much of the board a prompt shows: the values of `env.text`."""

    max_agents: Annotated[int, Field(ge=1)] | None
    """Other agents shown to an agent, nearest first; the rest are only counted; null: all."""
    faces: Literal["left", "all"]
    """The faces listed for a block: the one from which it is delivered, or all four."""


TEXT_LIMITS = TextLimits(max_agents=32, faces="left")
"""The values of `configs/env/cube.yaml`."""


@dataclass(frozen=True, slots=True)
class ShownObservation(SymbolicObservation):
    """An observation that knows how a prompt shows it; see `maeil.mind.Observation`."""

    limits: TextLimits = TEXT_LIMITS

    @classmethod
    def of(cls, seen: SymbolicObservation, limits: TextLimits) -> ShownObservation:
        """Return an observation that a prompt shows within limits."""
        return cls(**{field.name: getattr(seen, field.name) for field in fields(SymbolicObservation)}, limits=limits)

    def shown(self) -> dict[str, Any]:
        """Return the content of the prompt.

        Returns:
            Parts shared by all agents come first, because JSON is written with sorted keys. `agents` are rows of an
            agent's index, row and column; `agents_not_shown` is the number of the others, if any. `blocks` are rows of
            id, weight, row and column of the top-left cell, and distance. Some keys list only the blocks that have a
            value: by id, `ahead` and `needs_to_goal` (see `force_to_goal`); by face and id, `there`, the agents in line
            at the face. Then `max_steps`, `side` and `step`. An agent with a body also gets `you`: its `name`; `ways`,
            its steps by face and block, null if there is no path; and `now`, the running action with its primitives so
            far.
        """
        listed, grid = self.shown_agents(), _occupied(self.side, self.agents, self.blocks)
        faces = [Face.left] if self.limits.faces == "left" else list(Face)
        found: dict[str, Any] = {
            "agents": [(index, *self.agents[index]) for index in listed],
            "blocks": [(block.id, block.weight, block.row, block.col, block.distance) for block in self.blocks],
            "max_steps": self.max_steps,
            "side": self.side,
            "step": self.step,
        }
        if hidden := len(self.agents) - len(listed):
            found["agents_not_shown"] = hidden
        if behind := [block for block in self.blocks if block.ahead]:
            found["ahead"] = {str(block.id): block.ahead for block in behind}
            found["needs_to_goal"] = {str(block.id): force_to_goal(block, self.blocks) for block in behind}
        if there := {face.value: at for face in faces if (at := self._there(grid, face))}:
            found["there"] = there
        if self.cell is not None:
            own = {
                face.value: {str(block.id): _steps_to(grid, self.cell, block, face) for block in self.blocks}
                for face in faces
            }
            found["you"] = {"name": self.agent, "ways": own, **self._now()}
        return found

    def text(self) -> str:
        """The content of the prompt as JSON."""
        return json.dumps(self.shown())

    def shown_agents(self) -> list[int]:
        """Agents shown, ascending: the observer and the nearest others; all, for an observer without a body."""
        if self.cell is None or self.limits.max_agents is None:
            return list(range(len(self.agents)))
        row, col = self.cell
        away = [abs(other_row - row) + abs(other_col - col) for other_row, other_col in self.agents]
        return sorted(sorted(range(len(away)), key=lambda index: (away[index], index))[: self.limits.max_agents + 1])

    def _there(self, grid: IntArray, face: Face) -> dict[str, int]:
        """The number of agents in the gap-free lines at a face, by block id; only blocks with agents."""
        lines = {str(block.id): [_line(grid, cell, face) for cell in block.faces[face].taken] for block in self.blocks}
        return {identity: sum(len(list(line)) for line in found) for identity, found in lines.items() if found}

    def _now(self) -> dict[str, str]:
        """The running action, as a call, with its primitives so far."""
        if not self.history or self.history[-1].status != RUNNING:
            return {}
        last = self.history[-1]
        steps = ", ".join(f"{Action(kind).name.lower()} {len(list(run))}" for kind, run in groupby(last.primitives))
        return {"now": f"{as_call({'action': last.action, **last.args})}, so far: {steps or 'nothing'}"}


def read_shown(data: Mapping[str, Any]) -> SymbolicObservation:
    """Read the content of a prompt, or the part of it in the prompts of CUBE's page.

    Hidden agents are `NOT_SHOWN`, and there is no history. The page's prompts show only the reader, at its own `cell`,
    so the list of agents ends with it.

    Raises:
        ValueError, KeyError, TypeError: the data is not in the format of `ShownObservation.shown`.
    """
    you = data.get("you", {})
    agent: str = you.get("name", "")
    shown = data["agents"] if "cell" not in you else [(_index(agent), *you["cell"])]
    cells: dict[int, Cell] = {index: (row, col) for index, row, col in shown}
    n = max(len(cells) + data.get("agents_not_shown", 0), max(cells) + 1)
    views = [BlockView(identity, weight, row, col) for identity, weight, row, col, _ in data["blocks"]]
    agents = tuple(cells.get(index, NOT_SHOWN) for index in range(n))
    side = data["side"]
    return SymbolicObservation(
        side,
        side - 1,
        data["step"],
        data["max_steps"],
        agent,
        cells[_index(agent)] if agent else None,
        agents,
        symbolic_blocks(views, _occupied(side, agents, views)),
    )


def force_to_goal(block: SymbolicBlock, blocks: Sequence[SymbolicBlock]) -> int:
    """Return the number of agents needed to push a block into the goal, including blocks met on the way.

    This is an upper bound: each block met counts from the step in which it is reached until it is delivered itself.

    Args:
        block: the block.
        blocks: all blocks on the board.
    """
    if not block.ahead:
        return block.weight
    known = {other.id: other for other in blocks}
    begins: dict[int, int] = {}
    queue = [(0, block.id)]
    while queue:
        begin, identity = heappop(queue)
        if identity in begins or begin >= block.distance:
            continue
        begins[identity] = begin
        behind = known[identity]
        for other in behind.ahead:
            heappush(queue, (begin + known[other].col - behind.col - behind.weight, other))
    pushed = [(begin, begin + known[other].distance, known[other].weight) for other, begin in begins.items()]
    return max(sum(weight for begin, end, weight in pushed if begin <= step < end) for step, _, _ in pushed)


def _steps_to(grid: IntArray, cell: Cell, block: SymbolicBlock, face: Face) -> int | None:
    """Return an agent's steps to a face, along the path of `move_to_block`.

    0 for an agent in line at the face; None if walls and blocks leave no path.
    """
    agents, towards = np.array([cell], dtype=np.int32), STEP_TOWARDS[face]
    if place_in_line(grid, agents, 0, block.id, *towards) >= 0:
        return 0
    targets, _ = staging_targets(grid, block.row, block.col, block.weight, *towards)
    return len(find_way(grid, agents, 0, targets)) or None


def _line(grid: IntArray, cell: Cell, face: Face) -> Iterator[Cell]:
    (row, col), (row_step, col_step) = cell, STEP_TOWARDS[face]
    while 0 <= row < len(grid) and 0 <= col < len(grid) and grid[row, col] > 0:
        yield row, col
        row, col = row - row_step, col - col_step


def _occupied(side: int, agents: Sequence[Cell], blocks: Sequence[BlockView | SymbolicBlock]) -> IntArray:
    """(K, K) grid codes of `cube_env.arrays`."""
    grid = np.zeros((side, side), dtype=np.int32)
    for block in blocks:
        grid[block.row : block.row + block.weight, block.col : block.col + block.weight] = -(block.id + 1)
    for index, cell in enumerate(agents):
        if cell != NOT_SHOWN:
            grid[cell] = index + 1
    return grid


def _index(name: str) -> int:
    """The index of an agent by its name."""
    return int(name.removeprefix("agent_"))
