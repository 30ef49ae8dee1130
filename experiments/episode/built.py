"""What is made sure of when the components of a cell are built: that they can take their part in an episode at all.

What they give later, the loop checks where it comes in (`maeil.contracts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from maeil import Mind, TeamContext, Topology, Vocabulary, World
from maeil.contracts import MAPPING, check_json, check_type, described, name_of, require_arguments, require_members
from maeil.errors import ContractError

_MEMBERS = (*World.__annotations__, *(name for name in vars(World) if not name.startswith("_")))


def check_world(world: Any, build: Callable[..., Any]) -> World:
    """Return a built world that has what the contract asks for.

    Args:
        world: what was built.
        build: what has built it.

    Raises:
        ContractError: it lacks methods, or has no agents or no vocabulary.
    """
    if world is None or isinstance(world, type):
        raise ContractError(f"{name_of(build)}() returned {described(world)}; it must return a world", build)
    require_members(world, World, _MEMBERS)
    kind = type(world)
    if not isinstance(world.agents, tuple) or not world.agents:
        found = described(world.agents)
        raise ContractError(f"{kind.__qualname__}.agents is {found}; it must be the names of its agents, a tuple", kind)
    if not isinstance(world.vocabulary, Vocabulary):
        found = described(world.vocabulary)
        raise ContractError(f"{kind.__qualname__}.vocabulary is {found}; it must be a maeil.Vocabulary", kind)
    found_world: World = world
    return found_world


def check_board(world: World, seed: int) -> None:
    """Draw a board, and see that it can be written to a trace.

    Raises:
        ContractError: it cannot.
    """
    board = check_type(world.reset(seed), MAPPING, world.reset, "a mapping that describes the board")
    with check_json(world.reset):
        orjson.dumps(board)


def check_topology(topology: Any, build: Callable[..., Any]) -> Topology:
    """Return a built topology.

    Raises:
        ContractError: it is none.
    """
    return check_type(topology, Topology, build, "a maeil.Topology")  # type: ignore[type-abstract] # isinstance takes it


def check_team(team: Any, context: TeamContext, build: Callable[..., Any]) -> Sequence[Mind]:
    """Return a built team that has a mind for each participant.

    Args:
        team: what was built.
        context: what it was built for.
        build: what has built the team.

    Raises:
        ContractError: it is no sequence of minds, or has too few or too many.
    """
    if not isinstance(team, Sequence):
        raise ContractError(
            f"{name_of(build)}() returned {described(team)}; it must return a sequence of minds, one for each agent",
            build,
        )
    agents = len(context.world.agents)
    if len(team) != agents + context.coordinates:
        coordinator = " and the coordinator" if context.coordinates else ""
        raise ContractError(
            f"{name_of(build)}() returned {_count(len(team), 'mind')}; it must return one for each of the "
            f"{_count(agents, 'agent')}{coordinator}",
            build,
        )
    for mind in {type(mind): mind for mind in team}.values():
        require_members(mind, Mind, ["think"])
        require_arguments(mind.think, "view")
    return team


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
