"""Builds components: treats refused values as user errors, and checks that the result fulfils its contract.

The loop checks later return values of components when it receives them (`maeil.contracts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isabstract
from json import JSONDecodeError
from typing import Any

import orjson
from pydantic import ValidationError

from maeil import Mind, TeamContext, Topology, TopologyContext, World
from maeil.contracts import (
    MAPPING,
    check_json,
    check_type,
    described,
    lacking,
    name_of,
    require_arguments,
    require_members,
)
from maeil.errors import ContractError
from maeil.world import require_world
from quorum.configuration.registry import topologies
from quorum.configuration.schema import Configuration
from quorum.installation.extension_errors import as_extension_error, place_of
from quorum_base.user_errors import UserError

_OF_LIBRARIES = (ValidationError, UnicodeError, JSONDecodeError)


def no_models(participant: str) -> None:
    """Stand in for the language models of a team that uses none.

    Raises:
        TypeError: on every call.
    """
    raise TypeError(f"the mind of {participant} asks for a model: its Component must set uses_models=True")


def call_component(place: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, and report a `ValueError` as a mistake in the configured values.

    A `ValueError` raised by a library does not judge the values: in a plugin it is a bug in the plugin's code.

    Args:
        place: the configuration key of the values.
        function: function to call.
        arguments: its arguments.

    Raises:
        UserError: the function rejects the values, or they need more memory than is available.
        ContractError: the function is a class that lacks methods of its contract.
    """
    if isabstract(function):
        missing = sorted(function.__abstractmethods__)  # type: ignore[attr-defined] # an abstract class has it
        contract = next(base for base in function.__mro__ if missing[0] in vars(base))  # type: ignore[attr-defined]
        raise lacking(function, contract, missing)
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(error, _OF_LIBRARIES) and (mistake := as_extension_error(error)) is not None:
            raise mistake from error
        key, colon, _ = str(error).partition(":")
        separator = "." if colon and key.replace(".", "").isidentifier() else ": "
        where = place_of(error)
        raise UserError(f"{place}{separator}{error}", f"Rejected in {where}." if where else "") from error
    except MemoryError as error:
        raise UserError(f"{place}: too large for this machine's memory: {error}") from error


def check_world(world: Any, build: Callable[..., Any]) -> World:
    """Check that a built world fulfils the contract, and return it.

    Args:
        world: the object that was built.
        build: the function that built it.

    Raises:
        ContractError: it lacks methods, or has no agents or no vocabulary.
    """
    if world is None or isinstance(world, type):
        raise ContractError(f"{name_of(build)}() returned {described(world)}; it must return a world", build)
    return require_world(world)


def check_board(world: World, seed: int) -> None:
    """Draw a board twice to check that it depends only on the seed and can be written to a trace.

    Raises:
        ContractError: it fails one of these checks.
    """
    what = "a mapping that describes the board"
    board, again = (check_type(world.reset(seed), MAPPING, world.reset, what) for _ in range(2))
    with check_json(world.reset):
        if orjson.dumps(board) != orjson.dumps(again):
            raise ContractError(
                f"{name_of(world.reset)}() draws two different boards from seed {seed}: "
                "its draws must depend only on the seed",
                world.reset,
            )


def build_topology(c: Configuration, agents: int) -> Topology:
    """Build the topology of a configuration for `agents` agents.

    Raises:
        UserError: its values do not fit the team.
        ContractError: the result is not a topology.
    """
    context = TopologyContext(agents, c.seeds.child("topology"))
    build = topologies.get(c.topology.name).build
    found = call_component(topologies.group, build, c.topology, context)
    topology = check_type(found, Topology, build, "a maeil.Topology")  # type: ignore[type-abstract] # isinstance takes it
    if topology.leader is not None and topology.leader not in range(agents):
        kind = type(topology)
        raise ContractError(
            f"{kind.__qualname__}.leader is {topology.leader}; there are {agents} agents, from 0 to {agents - 1}", kind
        )
    return topology


def check_team(team: Any, context: TeamContext, build: Callable[..., Any]) -> Sequence[Mind]:
    """Check that a built team has a mind for each participant, and return it.

    Args:
        team: the object that was built.
        context: the context it was built for.
        build: the function that built it.

    Raises:
        ContractError: it is not a sequence of minds, or has too few or too many.
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
