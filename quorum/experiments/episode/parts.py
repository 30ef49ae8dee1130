"""The components of a cell, built by name: its world, minds and topology; and how they play its episode."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from maeil import LoopSettings, Mind, TeamContext, Topology, World, run_episode
from maeil.contracts import check_type
from maeil.exits import without_exit
from maeil.extension import Extension, ExtensionContext
from maeil.extensions.branch import Branch, LaterSettings
from maeil.extensions.change import Change
from maeil.extensions.probe import Probe
from maeil.extensions.probe.facts import ProbeSkills
from maeil.mind import COORDINATOR
from maeil.trace import Recorder
from maeil.trace.events import EpisodeEnd
from maeil.user_errors import UserError, choices_hint
from maeil.world import close_world
from quorum.agents.skills import role_of, skills_of
from quorum.experiments.common.memory_file import Memory
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.extensions import together
from quorum.experiments.configuration.inputs import inputs_of, refuse_changed
from quorum.experiments.configuration.registry import extensions, minds, worlds
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.branching import Branching
from quorum.experiments.episode.building import build_topology, built, call_component, check_board, check_world
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


@without_exit()
def build(
    cell: Cell,
    models: Callable[[str], Any],
    memory: Memory | None = None,
    seated: Callable[[Team, TeamContext], Team] | None = None,
) -> Parts:
    """Build the components of a cell, and draw its board to make sure that it can be drawn.

    Whoever has built them closes the world (`maeil.world.closing_world`).

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
    try:
        return _around(world, cell, models, memory, seated)
    except BaseException:
        close_world(world)
        raise


def _around(
    world: World,
    cell: Cell,
    models: Callable[[str], Any],
    memory: Memory | None,
    seated: Callable[[Team, TeamContext], Team] | None,
) -> Parts:
    """Build the rest of the components around a world."""
    c = cell.configuration
    call_component("env", check_board, world, cell.seed)
    n = len(world.agents)
    topology = build_topology(c, n)
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


_MUCH_LONGER = 10
"""Times its `max_steps` after which a world that goes on never ends: re-runs of blame give it four times as many."""


def _settings(c: Configuration) -> LoopSettings:
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


def _probe(t: int, c: Configuration, parts: Parts) -> Probe:
    """Return what asks the agents of a team whose minds can be asked what they believe."""
    names = parts.world.agents
    able = [i for i, name in enumerate(names) if minds.get(parts.several.get(name, c.agents.name)).answers]
    skills = skills_of(parts.world.name)
    roles = {role: getattr(skills, role) for role in ("places", "stands") if skills.has(role)}
    return Probe(t, able, ProbeSkills(**roles))


async def play(cell: Cell, parts: Parts, recorder: Recorder, branching: Branching | None = None) -> EpisodeEnd:
    """Play the episode of a cell with its built parts; the settings of a branch may be others from its instant on."""
    settings, extensions = _settings(cell.configuration), [*parts.extensions]
    if branching is not None and branching.changed is not None:
        extensions.append(Change(branching.changed))
    if branching is not None and branching.probe is not None:
        extensions.insert(0, _probe(branching.probe, cell.configuration, parts))
    later = []
    while branching is not None:
        before = _settings(branching.configuration)
        kept = ("thought_seconds", "episode_seconds", "max_steps")
        before = replace(before, **{name: getattr(settings, name) for name in kept})
        if before != settings:
            later.append(LaterSettings(branching.prefix, settings))
            settings = before
        branching = branching.earlier
    if cell.branch is not None or later:
        extensions.append(Branch(cell.branch.plain() if cell.branch is not None else None, later))
    with without_exit():
        return await run_episode(
            parts.world,
            parts.minds,
            parts.topology,
            seed=cell.seed,
            settings=settings,
            recorder=recorder,
            coordinators=parts.coordinators,
            extensions=extensions,
        )
