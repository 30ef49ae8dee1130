"""The dynamics of one world as Numba kernels over its arrays.

One call is one step. The kernels take the arrays of a single world, so a batch of worlds (`step_worlds`) is a loop over
a leading dimension inside one compiled call. Nothing here allocates, and no step visits all K x K cells: occupancy and
observation channels change only in cells where something moves.

An agent takes part in at most one push attempt per step, so n rows hold all attempts. It acts in one direction d only.
Within that direction's pass, the cell ahead of it never changes from free to occupied or from one entity to another:
whatever enters it in direction d can only come from the agent's own cell. So the first block that its line meets stays
the same, and each block is tried once per direction.
"""

from __future__ import annotations

from cube_env import arrays
from cube_env.arrays import ActionArray, ChannelArray, CounterArray, FlagArray, IntArray, RewardArray, World
from cube_env.constants import Action, MoveFailure, PushOutcome
from cube_env.jit import compiled_borrowing

_STAY, _UP, _DOWN, _LEFT, _RIGHT = (int(action) for action in Action)
_MOVED, _DELIVERED = int(PushOutcome.moved), int(PushOutcome.delivered)
_PUSH_WALL, _PUSH_AGENT = int(PushOutcome.wall), int(PushOutcome.agent)
_PUSH_BLOCK, _PUSH_FORCE = int(PushOutcome.block), int(PushOutcome.force)
_MOVE_WALL, _MOVE_BLOCK = int(MoveFailure.wall), int(MoveFailure.block)
_MOVE_AGENT, _MOVE_RACE = int(MoveFailure.agent), int(MoveFailure.race)


@compiled_borrowing
def step_world(  # noqa: PLR0917 (Numba takes loose arrays an order of magnitude faster than a tuple of them)
    actions: ActionArray,
    agents: IntArray,
    blocks: IntArray,
    grid: IntArray,
    channels: ChannelArray,
    counters: CounterArray,
    attempts: IntArray,
    agent_report: IntArray,
    block_report: IntArray,
) -> int:
    """Advance one world by one joint action. Source: the CUBE page, one step.

    Args:
        actions: Shape (n,), values 0..4.
        agents: This and the following are the fields of `World`, in its order; all are written.
        blocks: See `World`.
        grid: See `World`.
        channels: See `World`.
        counters: See `World`.
        attempts: See `World`; `counters[COUNT_ATTEMPTS]` rows are valid.
        agent_report: See `World`.
        block_report: See `World`.

    Returns:
        -1; or, with nothing changed, the first agent with an action out of range.
    """
    # Check every action before writing anything, and record the directions that occur, to skip the passes of the
    # others.
    wanted = 0
    for i in range(agents.shape[0]):
        if actions[i] < _STAY or actions[i] > _RIGHT:
            return i
        wanted |= 1 << actions[i]
    counters[arrays.COUNT_STEP] += 1
    counters[arrays.COUNT_DELIVERED_WEIGHT] = 0
    counters[arrays.COUNT_ATTEMPTS] = 0
    counters[arrays.COUNT_FAILED_MOVES] = 0
    for i in range(agents.shape[0]):
        agent_report[i, arrays.AGENT_ATTEMPT] = agent_report[i, arrays.AGENT_FAILURE] = -1
        agent_report[i, arrays.AGENT_MOVED] = 0
    for b in range(blocks.shape[0]):
        block_report[b, arrays.BLOCK_STATUS] = arrays.BLOCK_STILL
        block_report[b, arrays.BLOCK_CHAIN_OF] = -1
        block_report[b, arrays.BLOCK_FACED] = _STAY
    world = World(agents, blocks, grid, channels, counters, attempts, agent_report, block_report)
    # The CUBE page settles pushes in the order up, down, left, right, and within each direction by block id; then
    # agents walk. A block that has moved is excluded from later passes.
    for direction in range(_UP, _RIGHT + 1):
        if wanted & (1 << direction) and _find_faced(world, actions, direction):
            for block in range(blocks.shape[0]):
                faced = block_report[block, arrays.BLOCK_FACED] == direction
                if faced and block_report[block, arrays.BLOCK_STATUS] == arrays.BLOCK_STILL:
                    _push(world, actions, block, direction)
    _walk(world, actions)
    return -1


@compiled_borrowing
def step_worlds(  # noqa: PLR0917 (see `step_world`)
    actions: ActionArray,
    begins: FlagArray,
    rewards: RewardArray,
    terminations: FlagArray,
    truncations: FlagArray,
    step_cost: float,
    deliver_reward: float,
    max_steps: int,
    agents: IntArray,
    blocks: IntArray,
    grid: IntArray,
    channels: ChannelArray,
    counters: CounterArray,
    attempts: IntArray,
    agent_report: IntArray,
    block_report: IntArray,
) -> int:
    """Advance W worlds of one size, each by its own joint action.

    Args:
        actions: Shape (W, n), values 0..4.
        begins: Shape (W,): the worlds about to start an episode; they are left unchanged, and their actions are not
            read.
        rewards: Shape (W,): reward of every agent of each world, 0 where an episode starts; written.
        terminations: Shape (W,): whether no block is left; written.
        truncations: Shape (W,): whether the step count has reached `max_steps` with a block left; written.
        step_cost: Cost of a step for every agent.
        deliver_reward: Reward per unit of delivered weight, shared by the agents.
        max_steps: Steps after which an episode is truncated.
        agents: This and the following are the fields of `World`, in its order, each with a leading dimension W.
        blocks: See `World`.
        grid: See `World`.
        channels: See `World`.
        counters: See `World`.
        attempts: See `World`.
        agent_report: See `World`.
        block_report: See `World`.

    Returns:
        -1; or, with nothing changed, the flat index into `actions` of the first one out of range.
    """
    # Check all worlds first, so that an invalid action leaves every world unchanged.
    wrong = _first_wrong(actions, begins)
    if wrong >= 0:
        return wrong
    worlds = World(agents, blocks, grid, channels, counters, attempts, agent_report, block_report)
    for w in range(actions.shape[0]):
        if begins[w]:
            rewards[w] = 0.0
            terminations[w] = truncations[w] = False
        else:
            _step_one(worlds, w, actions)
            rewards[w] = deliver_reward * counters[w, arrays.COUNT_DELIVERED_WEIGHT] / actions.shape[1] - step_cost
            terminations[w] = counters[w, arrays.COUNT_LIVE] == 0
            truncations[w] = not terminations[w] and counters[w, arrays.COUNT_STEP] >= max_steps
    return -1


@compiled_borrowing
def _first_wrong(actions: ActionArray, begins: FlagArray) -> int:
    worlds, n = actions.shape
    for w in range(worlds):
        if not begins[w]:
            for i in range(n):
                if actions[w, i] < _STAY or actions[w, i] > _RIGHT:
                    return int(w * n + i)
    return -1


@compiled_borrowing
def _step_one(worlds: World, w: int, actions: ActionArray) -> None:
    """Advance one world of a batch; slicing its views here avoids reference counting."""
    step_world(
        actions[w], worlds.agents[w], worlds.blocks[w], worlds.grid[w], worlds.channels[w], worlds.counters[w],
        worlds.attempts[w], worlds.agent_report[w], worlds.block_report[w],
    )  # fmt: skip


@compiled_borrowing
def _find_faced(world: World, actions: ActionArray, direction: int) -> bool:
    """Mark the blocks with an agent on a face cell that acts into them; return whether there is one.

    Marks set at the start of a direction's pass hold throughout it, by the argument in the module docstring.
    """
    agents, grid, side = world.agents, world.grid, world.grid.shape[0]
    row_step, col_step = displacement(direction)
    found = False
    for i in range(agents.shape[0]):
        if actions[i] == direction and not world.agent_report[i, arrays.AGENT_MOVED]:
            row, col = agents[i, arrays.ROW] + row_step, agents[i, arrays.COL] + col_step
            if 0 <= row < side and 0 <= col < side and grid[row, col] < 0:
                world.block_report[-grid[row, col] - 1, arrays.BLOCK_FACED] = direction
                found = True
    return found


@compiled_borrowing
def _push(world: World, actions: ActionArray, block: int, direction: int) -> None:
    """Try to push one block in one direction; record the attempt if any agent pushes."""
    attempt = world.counters[arrays.COUNT_ATTEMPTS]
    force = _line_up(world, actions, block, direction, attempt)
    # No force, no attempt: an agent whose line has already moved only seems to face the block.
    if force == 0:
        return
    world.counters[arrays.COUNT_ATTEMPTS] += 1
    length, required, outcome = close_chain(world.grid, world.blocks, world.block_report, block, direction, attempt)
    # Report an obstacle before a lack of force: more agents would not help there.
    if outcome == _MOVED and force < required:
        outcome = _PUSH_FORCE
    if outcome == _MOVED:
        delivered = _move_chain(world, length, direction)
        _move_lines(world, block, direction, attempt)
        if delivered:
            outcome = _DELIVERED
            _remove_delivered(world, length)
    record = world.attempts[attempt]
    record[0], record[1], record[2], record[3], record[4] = block, direction, force, required, outcome


@compiled_borrowing
def displacement(direction: int) -> tuple[int, int]:
    """Row and column offsets of one step in a direction."""
    return int(direction == _DOWN) - int(direction == _UP), int(direction == _RIGHT) - int(direction == _LEFT)


@compiled_borrowing
def opposite(direction: int) -> int:
    """Return the opposite direction."""
    # Directions come in pairs: 1 and 2, 3 and 4.
    return direction + 1 if direction % 2 else direction - 1


@compiled_borrowing
def edge(blocks: IntArray, block: int, direction: int) -> tuple[int, int, int, int]:
    """Return the first cell of the line just outside a block on its `direction` side, and the step along that line."""
    row, col, weight = blocks[block, arrays.ROW], blocks[block, arrays.COL], blocks[block, arrays.WEIGHT]
    if direction == _UP:
        return row - 1, col, 0, 1
    if direction == _DOWN:
        return row + weight, col, 0, 1
    if direction == _LEFT:
        return row, col - 1, 1, 0
    return row, col + weight, 1, 0


@compiled_borrowing
def _line_up(world: World, actions: ActionArray, block: int, direction: int, attempt: int) -> int:
    """Return the force on a block, and mark its gap-free lines of agents acting in the direction with the attempt."""
    grid, report = world.grid, world.agent_report
    side, weight = grid.shape[0], world.blocks[block, arrays.WEIGHT]
    row_step, col_step = displacement(direction)
    row, col, along_row, along_col = edge(world.blocks, block, opposite(direction))
    force = 0
    for _ in range(weight):
        r, c = row, col
        # From the face backwards; the line ends at the first cell without an agent that acts in this direction (gap-
        # free).
        while 0 <= r < side and 0 <= c < side:
            agent = grid[r, c] - 1
            if agent < 0 or actions[agent] != direction or report[agent, arrays.AGENT_MOVED]:
                break
            report[agent, arrays.AGENT_ATTEMPT] = attempt
            force += 1
            r -= row_step
            c -= col_step
        row += along_row
        col += along_col
    return force


@compiled_borrowing
def close_chain(  # noqa: PLR0917 (also for callers that have no `World`)
    grid: IntArray, blocks: IntArray, report: IntArray, block: int, direction: int, mark: int
) -> tuple[int, int, int]:
    """Compute the transitive closure of the blocks in front of `block`.

    Args:
        grid: See `World`.
        blocks: See `World`.
        report: The block report of `World`; its columns of chains are written.
        block: The first block.
        direction: The direction of the push.
        mark: A number that no other chain of this step has.

    Returns:
        Number of blocks in the chain (their ids fill the chain column of `report`), the sum of their weights, and the
        first of `wall, agent, block` that is in the way, or `moved`.
    """
    side = grid.shape[0]
    wall = agent = displaced = False
    # A work list in the scratch column: members are appended while the list is read, once each, marked by the number of
    # their chain, so no marks need clearing.
    report[0, arrays.BLOCK_CHAIN] = block
    report[block, arrays.BLOCK_CHAIN_OF] = mark
    length, required, done = 1, 0, 0
    while done < length:
        member = report[done, arrays.BLOCK_CHAIN]
        done += 1
        weight = blocks[member, arrays.WEIGHT]
        required += weight
        row, col, along_row, along_col = edge(blocks, member, direction)
        if not (0 <= row < side and 0 <= col < side):
            wall = True
            continue
        for _ in range(weight):
            entity = grid[row, col]
            if entity > 0:
                agent = True
            elif entity < 0:
                ahead = -entity - 1
                if report[ahead, arrays.BLOCK_STATUS] != arrays.BLOCK_STILL:
                    displaced = True
                elif report[ahead, arrays.BLOCK_CHAIN_OF] != mark:
                    report[ahead, arrays.BLOCK_CHAIN_OF] = mark
                    report[length, arrays.BLOCK_CHAIN] = ahead
                    length += 1
            row += along_row
            col += along_col
    outcome = _MOVED
    if wall:
        outcome = _PUSH_WALL
    elif agent:
        outcome = _PUSH_AGENT
    # A block moves at most once per step; after that it blocks like a wall.
    elif displaced:
        outcome = _PUSH_BLOCK
    return length, required, outcome


@compiled_borrowing
def _put_block(world: World, row: int, col: int, entity: int, weight: int) -> None:
    """Set one cell to a block (`entity` = -(b + 1)), or free it (`entity` = 0 and `weight` = 0)."""
    world.grid[row, col] = entity
    if world.channels.shape[0]:
        world.channels[row, col, arrays.BLOCK_WEIGHT] = weight
        world.channels[row, col, arrays.BLOCK_NUMBER] = -entity


@compiled_borrowing
def _move_chain(world: World, length: int, direction: int) -> bool:
    """Move every block of the chain one cell; return true if one of them reached the goal column."""
    blocks, report, side = world.blocks, world.block_report, world.grid.shape[0]
    row_step, col_step = displacement(direction)
    # Free all trailing edges before filling any leading edge: the leading edge of one block may be the trailing edge of
    # the next.
    for k in range(length):
        b = report[k, arrays.BLOCK_CHAIN]
        weight = blocks[b, arrays.WEIGHT]
        row, col, along_row, along_col = edge(blocks, b, opposite(direction))
        for j in range(weight):
            _put_block(world, row + row_step + j * along_row, col + col_step + j * along_col, 0, 0)
    reached = False
    for k in range(length):
        b = report[k, arrays.BLOCK_CHAIN]
        weight = blocks[b, arrays.WEIGHT]
        row, col, along_row, along_col = edge(blocks, b, direction)
        for j in range(weight):
            _put_block(world, row + j * along_row, col + j * along_col, -(b + 1), weight)
        blocks[b, arrays.ROW] += row_step
        blocks[b, arrays.COL] += col_step
        report[b, arrays.BLOCK_STATUS] = arrays.BLOCK_DISPLACED
        reached |= blocks[b, arrays.COL] + weight == side
    return reached


@compiled_borrowing
def _move_lines(world: World, block: int, direction: int, attempt: int) -> None:
    """Move the agents of the attempt one cell, each line from its head; the block has already moved."""
    grid, report = world.grid, world.agent_report
    side, weight = grid.shape[0], world.blocks[block, arrays.WEIGHT]
    row_step, col_step = displacement(direction)
    row, col, along_row, along_col = edge(world.blocks, block, opposite(direction))
    row, col = row - row_step, col - col_step
    for _ in range(weight):
        r, c = row, col
        while 0 <= r < side and 0 <= c < side:
            agent = grid[r, c] - 1
            if agent < 0 or report[agent, arrays.AGENT_ATTEMPT] != attempt:
                break
            _move_agent(world, agent, r + row_step, c + col_step)
            r -= row_step
            c -= col_step
        row += along_row
        col += along_col


@compiled_borrowing
def _remove_delivered(world: World, length: int) -> None:
    """Remove the blocks of the chain that reached the goal column from the board."""
    blocks, report, side = world.blocks, world.block_report, world.grid.shape[0]
    for k in range(length):
        b = report[k, arrays.BLOCK_CHAIN]
        weight = blocks[b, arrays.WEIGHT]
        if blocks[b, arrays.COL] + weight < side:
            continue
        for row in range(blocks[b, arrays.ROW], blocks[b, arrays.ROW] + weight):
            for col in range(blocks[b, arrays.COL], blocks[b, arrays.COL] + weight):
                _put_block(world, row, col, 0, 0)
        blocks[b, arrays.ALIVE] = 0
        report[b, arrays.BLOCK_STATUS] = arrays.BLOCK_DELIVERED
        world.counters[arrays.COUNT_LIVE] -= 1
        world.counters[arrays.COUNT_DELIVERED_WEIGHT] += weight


@compiled_borrowing
def _move_agent(world: World, agent: int, row: int, col: int) -> None:
    agents, grid, channels = world.agents, world.grid, world.channels
    from_row, from_col = agents[agent, arrays.ROW], agents[agent, arrays.COL]
    grid[from_row, from_col] = 0
    grid[row, col] = agent + 1
    agents[agent, arrays.ROW] = row
    agents[agent, arrays.COL] = col
    world.agent_report[agent, arrays.AGENT_MOVED] = 1
    if channels.shape[0]:
        channels[from_row, from_col, arrays.AGENT_MASK] = 0.0
        channels[from_row, from_col, arrays.AGENT_NUMBER] = 0.0
        channels[row, col, arrays.AGENT_MASK] = 1.0
        channels[row, col, arrays.AGENT_NUMBER] = agent + 1


@compiled_borrowing
def _walk(world: World, actions: ActionArray) -> None:
    """Move the agents that no push has moved, given the occupancy after all pushes.

    A free target is claimed in the grid by a number above every agent's, so the first claim wins, and no agent leaves
    its cell before all have chosen.
    """
    agents, grid, report = world.agents, world.grid, world.agent_report
    n, side = agents.shape[0], grid.shape[0]
    for i in range(n):
        if actions[i] == _STAY or report[i, arrays.AGENT_MOVED]:
            continue
        row_step, col_step = displacement(actions[i])
        row, col = agents[i, arrays.ROW] + row_step, agents[i, arrays.COL] + col_step
        failure = -1
        if not (0 <= row < side and 0 <= col < side):
            failure = _MOVE_WALL
        elif grid[row, col] < 0:
            failure = _MOVE_BLOCK
        elif grid[row, col] > n:
            failure = _MOVE_RACE
        elif grid[row, col] > 0:
            failure = _MOVE_AGENT
        else:
            grid[row, col] = n + 1
        report[i, arrays.AGENT_FAILURE] = failure
        world.counters[arrays.COUNT_FAILED_MOVES] += failure >= 0
    for i in range(n):
        if actions[i] != _STAY and not report[i, arrays.AGENT_MOVED] and report[i, arrays.AGENT_FAILURE] < 0:
            row_step, col_step = displacement(actions[i])
            _move_agent(world, i, agents[i, arrays.ROW] + row_step, agents[i, arrays.COL] + col_step)
