"""Changes to a board from outside, in the middle of an episode.

`{"agents": {"agent_0": [3, 4]}, "blocks": {"2": {"position": [1, 5]}, "4": null}}` moves an agent and a block and
removes another block. You can also change the `weight` of an existing block. To add a block, give the next free id with
both fields. All changes apply at once, so two agents can swap places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cube_env.arrays import ALIVE, COL, COUNT_LIVE, ROW, WEIGHT
from cube_env.constants import Cell
from cube_env.layout import check_board
from cube_env.state import CubeState
from quorum_base.environments.arguments import agent_name, parts, whole_pair
from quorum_base.environments.errors import WorldError

_CELL = "[row, column]"
_OF_A_BLOCK = ("position", "weight")


def altered(state: CubeState, changes: Mapping[str, Any], heaviest: int | None = None) -> CubeState:
    """Return a copy of the state with the changes applied, at the same step.

    Args:
        state: state of an episode; it is not modified.
        changes: JSON, see the module docstring.
        heaviest: largest weight allowed for a block; None: any.

    Raises:
        WorldError: the changes are malformed or the resulting board is impossible; the message names the place.
    """
    parts("", changes, ("agents", "blocks"))
    agents = _agents(state, parts("agents", changes.get("agents", {})))
    blocks = _blocks(state, parts("blocks", changes.get("blocks", {})), heaviest)
    there = [(b, weight, (row, col)) for b, (row, col, weight, alive) in enumerate(blocks) if alive]
    if not there:
        raise WorldError("blocks: this removes the last block, which would end the episode: leave one")
    check_board(state.side, agents, there)
    now = CubeState.laid_out(state.side, agents, blocks, observed=bool(state.channels.size))
    now.world.counters[...] = state.world.counters
    now.world.counters[COUNT_LIVE] = len(there)
    return now


def _agents(state: CubeState, named: Mapping[str, Any]) -> list[Cell]:
    agents = list(state.agent_cells())
    index = {agent_name(i): i for i in range(len(agents))}
    for name, cell in named.items():
        if name not in index:
            raise WorldError(f"agents.{name}: no such agent; the agents are agent_0 to {agent_name(len(agents) - 1)}")
        agents[index[name]] = whole_pair(f"agents.{name}", cell, _CELL)
    return agents


def _blocks(state: CubeState, named: Mapping[str, Any], heaviest: int | None) -> list[list[int]]:
    blocks: list[list[int]] = state.block_table.tolist()
    for block, values in sorted(_numbered(named)):
        place = f"blocks.{block}"
        if block > len(blocks):
            raise WorldError(f"{place}: no such block; a new block gets the id {len(blocks)}")
        if block == len(blocks):
            blocks.append([-1, -1, -1, 1])
            if values is None or set(_OF_A_BLOCK) - parts(place, values).keys():
                raise WorldError(f"{place}: a new block needs a position and a weight")
        elif not blocks[block][ALIVE]:
            raise WorldError(f"{place}: the block is no longer on the board; a new block gets the id {len(blocks)}")
        if values is None:
            blocks[block][ALIVE] = 0
            continue
        parts(place, values, _OF_A_BLOCK)
        if "position" in values:
            blocks[block][ROW], blocks[block][COL] = whole_pair(f"{place}.position", values["position"], _CELL)
        if "weight" in values:
            blocks[block][WEIGHT] = _weight(f"{place}.weight", values["weight"], state.side, heaviest)
    return blocks


def _numbered(named: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    for name, values in named.items():
        if not (name.isascii() and name.isdecimal() and str(int(name[:9])) == name):
            raise WorldError(f"blocks.{name}: {name!r} is not the id of a block: write, for example, blocks.3")
        yield int(name), values


def _weight(place: str, weight: object, side: int, heaviest: int | None) -> int:
    if not isinstance(weight, int) or isinstance(weight, bool) or not 1 <= weight <= side:
        raise WorldError(f"{place}: {weight!r} is not an integer from 1 to {side}, the side of the grid")
    if heaviest is not None and weight > heaviest:
        raise WorldError(f"{place}: a block of weight {weight} needs {weight} agents at once, but there are {heaviest}")
    return weight
