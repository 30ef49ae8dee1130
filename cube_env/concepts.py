"""The symbolic concepts of CUBE as functions of a snapshot, for rewards, prompts and metrics.

Source: the CUBE page, table of symbolic concepts; this module states its own choice where the page is silent. Every
    function takes `env.snapshot()` first and reads nothing else; blocks are given by id, agents by index and faces by
    name. The cost of a call grows with the number of agents and blocks, never with the number of cells.

A block that is not in the snapshot counts as delivered: its distance to the goal is 0, no agent is aligned with it, and
its quorum deficit is 0. (A snapshot does not know the initial block ids.)

Example:
    `quorum_deficit(env.snapshot(), 0, "left")` is the number of agents missing at the left face of block 0.
"""

from __future__ import annotations

from cube_env.constants import OPPOSITE_FACE, STEP_TOWARDS, Cell, Face
from cube_env.state import BlockView, Snapshot
from quorum_base.environments.errors import WorldError

GOAL, WALL = "goal", "wall"

Entity = str | Cell
"""`"agent_3"`, `"block_0"`, `"goal"`, or a cell `(row, col)`."""

_Rectangle = tuple[int, int, int, int]


def get_distance(snapshot: Snapshot, first: Entity, second: Entity) -> int:
    """Manhattan distance in cells between the nearest cells of two entities.

    A block covers its square and the goal covers the last column. An agent on a face cell is at distance 1 from the
    block, and a block that must move one more cell is at distance 1 from the goal.

    Raises:
        WorldError: No entity has this name, or it is a delivered block, which has no position.
    """
    top, left, bottom, right = _rectangle(snapshot, first)
    other_top, other_left, other_bottom, other_right = _rectangle(snapshot, second)
    rows = max(top - other_bottom, other_top - bottom, 0)
    return rows + max(left - other_right, other_left - right, 0)


def is_aligned_with_block(snapshot: Snapshot, agent: int, block: int, face: Face | str) -> bool:
    """Whether an agent is on a face cell of a block, or in a gap-free line of agents behind an occupied face cell.

    The authors' code counts at most 10 agents of a line; this function has no such bound, like the rule for pushes.

    Raises:
        WorldError: Unknown agent or face.
    """
    return _agent_index(snapshot, agent) in aligned_agents(snapshot, block, face)


def aligned_agents(snapshot: Snapshot, block: int, face: Face | str) -> tuple[int, ...]:
    """Agents aligned with a face of a block, in ascending order.

    Raises:
        WorldError: Unknown face.
    """
    square = _find(snapshot, block)
    row_step, col_step = STEP_TOWARDS[_face(face)]
    if square is None:
        return ()
    agents = {cell: agent for agent, cell in enumerate(snapshot.agents)}
    found = []
    for cell in cells_of_face(square, Face(face)):
        row, col = cell
        while (row, col) in agents:
            found.append(agents[row, col])
            row, col = row - row_step, col - col_step
    return tuple(sorted(found))


def count_aligned_agents(snapshot: Snapshot, block: int, face: Face | str) -> int:
    """Number of agents aligned with a face of a block.

    Raises:
        WorldError: Unknown face.
    """
    return len(aligned_agents(snapshot, block, face))


def all_aligned_positions(snapshot: Snapshot, block: int, face: Face | str) -> tuple[Cell, ...]:
    """Cells on which an agent is, or would be, aligned with a face of a block.

    These are the face cells and, behind each occupied one, the cells of its line of agents plus the first free cell
    behind it. Cells outside the grid or in a block are left out. Sorted by Manhattan distance to the block's centre,
    then row, then column.

    Raises:
        WorldError: Unknown face.
    """
    square = _find(snapshot, block)
    row_step, col_step = STEP_TOWARDS[_face(face)]
    if square is None:
        return ()
    agents = set(snapshot.agents)
    lane = _lane(square, Face(face), snapshot.side)
    obstacles = [other for other in snapshot.blocks if _overlaps(other, lane)]
    found = []
    for cell in cells_of_face(square, Face(face)):
        row, col = cell
        while _is_inside(snapshot, row, col) and not any(_overlaps(other, (row, col, row, col)) for other in obstacles):
            found.append((row, col))
            if (row, col) not in agents:
                break
            row, col = row - row_step, col - col_step
    middle_row, middle_col = 2 * square.row + square.weight - 1, 2 * square.col + square.weight - 1
    found.sort(key=lambda cell: (abs(2 * cell[0] - middle_row) + abs(2 * cell[1] - middle_col), cell))
    return tuple(found)


def block_progress(snapshot: Snapshot, block: int) -> int:
    """Cells that a block must still move right to touch the goal column; 0 if it is delivered."""
    square = _find(snapshot, block)
    return 0 if square is None else snapshot.side - square.col - square.weight


def delivered(snapshot: Snapshot, block: int) -> bool:
    """Whether a block is delivered."""
    return _find(snapshot, block) is None


def quorum_status(snapshot: Snapshot, block: int, face: Face | str) -> bool:
    """Whether the number of agents aligned with a face reaches the block's weight; false if it is delivered.

    Raises:
        WorldError: Unknown face.
    """
    square = _find(snapshot, block)
    return square is not None and count_aligned_agents(snapshot, block, face) >= square.weight


def quorum_deficit(snapshot: Snapshot, block: int, face: Face | str) -> int:
    """Agents missing at a face to reach the block's own weight, at least 0; `required_force` includes blocks in front.

    Raises:
        WorldError: Unknown face.
    """
    square = _find(snapshot, block)
    return 0 if square is None else max(0, square.weight - count_aligned_agents(snapshot, block, face))


def required_force(snapshot: Snapshot, block: int, face: Face | str) -> int:
    """Agents needed to push a block from a face: the weights of the block and of the chain in front of it.

    0 if the block is delivered.

    Raises:
        WorldError: Unknown face.
    """
    return sum(square.weight for square in push_chain(snapshot, block, face))


def blocked(snapshot: Snapshot, block: int, face: Face | str) -> bool:
    """Whether a wall or an agent (see `in_the_way`) stops a push from a face, however many agents push.

    A block in front does not stop a push, because it is pushed along; it raises `required_force`. False if the block is
    delivered.

    Raises:
        WorldError: Unknown face.
    """
    return bool(in_the_way(snapshot, block, face))


def in_the_way(snapshot: Snapshot, block: int, face: Face | str) -> tuple[str, ...]:
    """Names of what stops a block or any block of the chain in front of it: agents in ascending order, then the wall.

    Raises:
        WorldError: Unknown face.
    """
    front = OPPOSITE_FACE[_face(face)]
    agents, wall = set[int](), False
    for square in push_chain(snapshot, block, face):
        top, left, bottom, right = strip(square, front)
        wall |= not (_is_inside(snapshot, top, left) and _is_inside(snapshot, bottom, right))
        agents |= {
            agent for agent, (row, col) in enumerate(snapshot.agents) if top <= row <= bottom and left <= col <= right
        }
    return (*(f"agent_{agent}" for agent in sorted(agents)), *((WALL,) if wall else ()))


def push_chain(snapshot: Snapshot, block: int, face: Face | str) -> list[BlockView]:
    """The block and the transitive chain of blocks in front of it, in joining order."""
    front = OPPOSITE_FACE[_face(face)]
    first = _find(snapshot, block)
    chain = [] if first is None else [first]
    for member in chain:
        cells = strip(member, front)
        chain.extend(square for square in snapshot.blocks if _overlaps(square, cells) and square not in chain)
    return chain


def blocks_ahead(snapshot: Snapshot, block: int) -> tuple[int, ...]:
    """Ids of the blocks between a block and the goal that share a row with it, ascending."""
    square = _find(snapshot, block)
    if square is None:
        return ()
    lane = _lane(square, Face.right, snapshot.side)
    return tuple(sorted(other.id for other in snapshot.blocks if _overlaps(other, lane)))


def strip(square: BlockView, face: Face) -> _Rectangle:
    """The rectangle of the `w` cells just outside a face, inside the grid or not."""
    last_row, last_col = square.row + square.weight - 1, square.col + square.weight - 1
    match face:
        case Face.left:
            return square.row, square.col - 1, last_row, square.col - 1
        case Face.right:
            return square.row, last_col + 1, last_row, last_col + 1
        case Face.up:
            return square.row - 1, square.col, square.row - 1, last_col
        case Face.down:
            return last_row + 1, square.col, last_row + 1, last_col


def _lane(square: BlockView, face: Face, side: int) -> _Rectangle:
    """The rectangle from a face to the wall."""
    top, left, bottom, right = strip(square, face)
    down, across = STEP_TOWARDS[OPPOSITE_FACE[face]]
    return (
        0 if down < 0 else top,
        0 if across < 0 else left,
        side - 1 if down > 0 else bottom,
        side - 1 if across > 0 else right,
    )


def cells_of_face(square: BlockView, face: Face) -> list[Cell]:
    """The `w` cells just outside a face, inside the grid or not."""
    top, left, bottom, right = strip(square, face)
    return [(row, col) for row in range(top, bottom + 1) for col in range(left, right + 1)]


def _overlaps(square: BlockView, rectangle: _Rectangle) -> bool:
    top, left, bottom, right = rectangle
    rows = square.row <= bottom and top < square.row + square.weight
    return rows and square.col <= right and left < square.col + square.weight


def _is_inside(snapshot: Snapshot, row: int, col: int) -> bool:
    return 0 <= row < snapshot.side and 0 <= col < snapshot.side


def _find(snapshot: Snapshot, block: int) -> BlockView | None:
    return next((square for square in snapshot.blocks if square.id == block), None)


def _face(face: Face | str) -> Face:
    try:
        return Face(face)
    except ValueError:
        raise WorldError(f"{face!r} is not a face of a block: choose one of {', '.join(Face)}") from None


def _agent_index(snapshot: Snapshot, agent: int) -> int:
    if not 0 <= agent < len(snapshot.agents):
        raise WorldError(f"no agent has index {agent}; indices are 0 to {len(snapshot.agents) - 1}")
    return agent


def _rectangle(snapshot: Snapshot, entity: Entity) -> _Rectangle:
    """Top, left, bottom and right cell of an entity."""
    if not isinstance(entity, str):
        row, col = entity
        return row, col, row, col
    if entity == GOAL:
        last = snapshot.side - 1
        return 0, last, last, last
    kind, _, number = entity.partition("_")
    if kind == "agent" and number.isdecimal():
        row, col = snapshot.agents[_agent_index(snapshot, int(number))]
        return row, col, row, col
    if kind == "block" and number.isdecimal():
        square = _find(snapshot, int(number))
        if square is None:
            raise WorldError(f"{entity} is not on the board: it was delivered, or it never existed")
        return square.row, square.col, square.row + square.weight - 1, square.col + square.weight - 1
    raise WorldError(f'{entity!r} names no entity: use "agent_3", "block_0", "goal" or a cell (row, col)')
