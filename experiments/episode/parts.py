"""The components of a cell, built by name: its world, minds and topology."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel

from maeil import Mind, TeamContext, Topology, TopologyContext, World
from maeil.contracts import check_type
from maeil.extension import Extension, ExtensionContext
from maeil.mind import COORDINATOR
from maeil.user_errors import UserError, choices_hint
from quorum.agents.skills import role_of
from quorum.experiments.common.memory_file import Memory
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.extensions import together
from quorum.experiments.configuration.inputs import inputs_of, refuse_changed
from quorum.experiments.configuration.registry import extensions, topologies, worlds
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.building import built, call_component
from quorum.experiments.episode.built import check_board, check_topology, check_world
from quorum.experiments.episode.draws import DrawnSeeds
from quorum.experiments.episode.team import Team, build_team
from quorum.experiments.episode.team_memory import refuse_strange

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a cell, built.

    Attributes:
        world: where it plays.
        minds: of the agents.
        coordinators: names and minds of those without a body.
        topology: how they may talk.
        extensions: methods that take part, in order.
        several: the name of the mind of each participant, in a team that has several; else empty.
    """

    world: World
    minds: Sequence[Mind]
    coordinators: Sequence[tuple[str, Mind]]
    topology: Topology
    extensions: Sequence[Extension] = ()
    several: Mapping[str, str] = field(default_factory=dict)

    @property
    def team(self) -> tuple[Mind, ...]:
        """All minds: of the agents by index, then of the coordinator if any."""
        return (*self.minds, *(mind for _, mind in self.coordinators))


def build(
    cell: Cell,
    models: Callable[[str], Any],
    memory: Memory | None = None,
    seated: Callable[[Team, TeamContext], Team] | None = None,
) -> Parts:
    """Build the components of a cell, and draw its board once to make sure that it can be drawn.

    Args:
        cell: what is to be run.
        models: returns the language model of a participant, by name.
        memory: of the episode before; None for none.
        seated: returns who takes part, given the team of the cell and its context; None: the team itself.

    Raises:
        UserError: the values of a group do not go together, or the memory is not one of such a team.
        InputsChanged: a template or a plug-in is not what it was when the cell was named.
    """
    c = cell.configuration
    world = check_world(*built(worlds, c.env.name, c.env, None))
    call_component("env", check_board, world, cell.seed)
    n = len(world.agents)
    topology = check_topology(
        *built(topologies, c.topology.name, c.topology, TopologyContext(n, c.seeds.child("topology")))
    )
    memories = memory.memories if memory is not None else {}
    seeds = c.seeds.child("minds")
    if cell.branch is not None:
        seeds = DrawnSeeds(seeds.seed, seeds.path)
    context = TeamContext(world, topology, seeds, models, memories)
    team = build_team(c, context)
    if seated is not None:
        team = seated(team, context)
    if memory is not None:
        refuse_strange(memory, team.minds)
    coordinators = [(COORDINATOR, mind) for mind in team.minds[n:]]
    names = (*world.agents, *(name for name, _ in coordinators))
    for name in c.llm.participants if c.uses_models else ():
        if name not in names:
            raise UserError(f"llm.agents.{name}: there is no such participant", choices_hint(name, "They are", names))
    extending = _extensions(together([c.extensions, team.extensions]), world, topology, c)
    refuse_changed(cell.name, cell.inputs, inputs_of(c, world.name))
    _log.info(
        "built %s: world %s with %d agents, minds %s, topology %s",
        cell.name, c.env.name, n, c.team_label, c.topology.name,
    )  # fmt: skip
    _log.debug("configuration: %s", cell.plain)
    several = dict(zip(names, team.names, strict=True)) if len(set(team.names)) > 1 else {}
    return Parts(world, team.minds[:n], coordinators, team.topology or topology, extending, several)


def _extensions(
    chosen: Mapping[str, BaseModel], world: World, topology: Topology, c: Configuration
) -> Sequence[Extension]:
    """Build the extensions of a cell.

    Raises:
        UserError: the values of one do not go together, or it needs a skill that the world does not have.
    """
    found = []
    for name, values in chosen.items():
        place = f"{extensions.group}.{name}"
        seeds = c.seeds.child(extensions.group).child(name)
        context = ExtensionContext(world, topology, seeds, partial(role_of, world.name, needed_by=f"extension={name}"))
        extension = call_component(place, extensions.get(name).build, values, context)
        found.append(check_type(extension, Extension, extensions.get(name).build, "a maeil.Extension"))
    return found
