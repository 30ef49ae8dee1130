"""The components of a cell, built by name: its world, minds and topology."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

from pydantic import ValidationError

from maeil import Mind, Seeds, TeamContext, Topology, TopologyContext, World
from maeil.registry import Registry
from maeil.repairs.gate import Repair
from maeil.user_errors import UserError, choices_hint
from quorum.agents.skills import MissingSkill, having, skills_of
from quorum.experiments.common.their_code import place_of, told
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.inputs import inputs_of, refuse_changed
from quorum.experiments.configuration.registry import minds, topologies, worlds
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.built import check_board, check_team, check_topology, check_world

_log = logging.getLogger(__name__)
_OF_LIBRARIES = (ValidationError, UnicodeError, JSONDecodeError)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a cell, built."""

    world: World
    minds: Sequence[Mind]
    coordinators: Sequence[tuple[str, Mind]]
    topology: Topology
    repair: Repair | None = None


def build(cell: Cell, models: Callable[[str], Any]) -> Parts:
    """Build the components of a cell, and draw its board once to see that there is one.

    Args:
        cell: what is to be run.
        models: returns the language model of a participant, by name.

    Raises:
        UserError: the values of a group do not go together.
        InputsChanged: a template or a plug-in is not what it was when the cell was named.
    """
    c = cell.configuration
    world = check_world(*_built(worlds, c.env.name, c.env, None))
    _as_user_error("env", check_board, world, cell.seed)
    n = len(world.agents)
    topology = check_topology(*_built(topologies, c.topology.name, c.topology, TopologyContext(n)))
    given = models if c.uses_models else no_models
    context = TeamContext(world, topology, Seeds(cell.seed).child("minds"), given)
    team, build_team = _built(minds, c.agents.name, c.agents, context)
    team = check_team(team, world, topology, build_team)
    coordinators = [("coordinator", mind) for mind in team[n:]]
    names = (*world.agents, *(name for name, _ in coordinators))
    for name in c.llm.participants if c.uses_models else ():
        if name not in names:
            raise UserError(f"llm.agents.{name}: there is no such participant", choices_hint(name, "They are", names))
    repair = _repair(c, world) if c.repair is not None else None
    refuse_changed(cell.name, cell.inputs, inputs_of(c, world.name))
    _log.info(
        "built %s: world %s with %d agents, minds %s, topology %s",
        cell.name, c.env.name, n, c.agents.name, c.topology.name,
    )  # fmt: skip
    _log.debug("configuration: %s", cell.plain)
    return Parts(world, team[:n], coordinators, topology, repair)


def _repair(c: Configuration, world: World) -> Repair:
    """Return what the committed plans of a cell are repaired by.

    Raises:
        UserError: nobody has written down the rules of this world.
    """
    assert c.repair is not None
    try:
        return Repair(c.repair.settings, skills_of(world.name).repair(world))
    except MissingSkill as missing:
        raise UserError(f"repair={c.repair.name}: {missing}", f"{having(missing)}; or set repair=off.") from None


def no_models(participant: str) -> None:
    """Stand in for the language models of a team that asks none.

    Raises:
        TypeError: whenever it is asked.
    """
    raise TypeError(f"the mind of {participant} asks for a model: its Component must say uses_models=True")


def _built(registry: Registry[Any], name: str, config: Any, context: Any) -> tuple[Any, Callable[..., Any]]:
    """Return what a component builds, and the function that has built it."""
    function = registry.get(name).build
    return _as_user_error(registry.group, function, config, context), function


def _as_user_error(group: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and raise a `ValueError` as the mistake in the group's values that it is.

    Those that a library raises are no judgement of values: in the code of a plug-in they are a mistake in the code.
    """
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(error, _OF_LIBRARIES) and (mistake := told(error)) is not None:
            raise mistake from error
        key, colon, _ = str(error).partition(":")
        separator = "." if colon and key.isidentifier() else ": "
        place = place_of(error)
        raise UserError(f"{group}{separator}{error}", f"Refused in {place}." if place else "") from error
    except MemoryError as error:
        raise UserError(f"{group}: too large for this machine's memory: {error}") from error
