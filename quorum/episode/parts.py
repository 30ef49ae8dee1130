"""Builds the components of a cell by name (world, minds and topology), and plays its episode."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from maeil import LoopSettings, TeamContext, Topology, World, run_episode
from maeil.contracts import check_type
from maeil.extension import Extension, ExtensionContext
from maeil.mind import COORDINATOR
from maeil.trace import Recorder
from maeil.trace.events import EpisodeEnd
from quorum.agents.skills import role_of
from quorum.configuration.cell import Cell
from quorum.configuration.extensions import together
from quorum.configuration.inputs import inputs_of, refuse_changed
from quorum.configuration.registry import extensions, worlds
from quorum.configuration.schema import Configuration
from quorum.episode.building import build_topology, call_component, check_board, check_world
from quorum.episode.built import Parts
from quorum.episode.start import BEGINNING, Start
from quorum.episode.team import build_team
from quorum.episode.team_memory import refuse_strange
from quorum_base.exits import without_exit
from quorum_base.user_errors import UserError, choices_hint

_log = logging.getLogger(__name__)


@without_exit()
def build(cell: Cell, models: Callable[[str], Any], start: Start = BEGINNING) -> Parts:
    """Build the components of a cell, and draw its board to check that it can be drawn.

    The caller closes the world (`maeil.world.closing_world`).

    Args:
        cell: the cell to run.
        models: returns the language model of a participant, by name.
        start: how its episode starts.

    Raises:
        UserError: the values of a group do not fit together, or the memory does not belong to such a team.
        InputsChanged: a template or a plugin has changed since the cell was named.
    """
    c = cell.configuration
    construct = worlds.get(c.env.name).build
    world = check_world(call_component(worlds.group, construct, c.env, None), construct)
    try:
        return _around(world, cell, models, start)
    except BaseException:
        world.close()
        raise


def _around(world: World, cell: Cell, models: Callable[[str], Any], start: Start) -> Parts:
    """Build the remaining components for a world."""
    c = cell.configuration
    call_component("env", check_board, world, cell.seed)
    n = len(world.agents)
    topology = build_topology(c, n)
    memory = start.memory
    memories = memory.memories if memory is not None else {}
    context = TeamContext(world, topology, start.seeds(c.seeds.child("minds")), models, memories)
    team = start.team(build_team(c, context), context)
    if memory is not None:
        refuse_strange(memory, team.minds)
    coordinators = [(COORDINATOR, mind) for mind in team.minds[n:]]
    names = (*world.agents, *(name for name, _ in coordinators))
    for name in c.llm.participants if c.uses_models else ():
        if name not in names:
            raise UserError(
                f"llm.agents.{name}: there is no such participant", choices_hint(name, "Participants", names)
            )
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
        UserError: the values of one do not fit together, or it needs a skill that the world lacks.
    """
    found = []
    for name, values in chosen.items():
        place = f"{extensions.group}.{name}"
        seeds = c.seeds.child(extensions.group).child(name)
        context = ExtensionContext(world, topology, seeds, partial(role_of, world.name, needed_by=f"extension={name}"))
        extension = call_component(place, extensions.get(name).build, values, context)
        found.append(check_type(extension, Extension, extensions.get(name).build, "a maeil.Extension"))
    return found


_MUCH_LONGER = 10
"""Multiple of `max_steps` after which a world counts as endless: re-runs for blame use four times as many."""


def loop_settings(c: Configuration) -> LoopSettings:
    """Return the loop settings of a configuration."""
    return LoopSettings(
        clock_unit=c.clock.unit,
        clock_count=c.clock.count,
        delivery=c.clock.delivery,
        max_thoughts_per_step=c.clock.max_thoughts_per_step,
        max_repairs=c.max_repairs,
        memory_messages=c.memory.messages,
        thought_seconds=c.limits.thought_seconds,
        episode_seconds=c.limits.episode_seconds,
        max_steps=_MUCH_LONGER * most if (most := getattr(c.env, "max_steps", None)) is not None else None,
    )


async def play(cell: Cell, parts: Parts, recorder: Recorder, start: Start = BEGINNING) -> EpisodeEnd:
    """Play the episode of a cell with its built components."""
    with without_exit():
        return await run_episode(
            parts.world,
            parts.minds,
            parts.topology,
            seed=cell.seed,
            settings=start.settings(loop_settings(cell.configuration)),
            recorder=recorder,
            coordinators=parts.coordinators,
            extensions=start.extensions(cell, parts),
        )
