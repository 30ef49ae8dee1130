"""What a world, a team of minds, a topology or a language model is offered by: a name, its schema, what builds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from maeil.seeds import Seeds
from maeil.topology import Topology
from maeil.world import World


class ComponentConfig(BaseModel):
    """Base of every component's configuration.

    Fields have no defaults: the values stand in the configuration files alone, so a missing, unknown or wrong key
    fails when it is read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name under which the component is registered."""


@dataclass(frozen=True, slots=True)
class TeamContext:
    """What a team of minds is built for.

    Attributes:
        world: the world that it acts in.
        topology: how it may talk; with a coordinator when `topology.coordinated`.
        seeds: the place of its random streams.
        models: gives each participant, by name, the language model that it thinks with; minds that use none ignore it.
    """

    world: World
    topology: Topology
    seeds: Seeds
    models: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Component:
    """A component that can be chosen in a configuration.

    Attributes:
        config: schema of its group's values.
        build: makes it. Worlds: `build(config) -> World`. Topologies: `build(config, agents) -> Topology`, given the
            number of agents. Minds: `build(config, context) -> Sequence[Mind]`, given a `TeamContext`: one for each
            agent in index order and, when the topology is coordinated, one more for the coordinator. Providers of
            language models: `build(config) -> Model` (`quorum.agents.llm.protocol`). Engines of sweeps:
            `build(config) -> Engine` (`quorum.experiments.sweep.engines.protocol`).
        uses_models: for minds: whether they think with the language models of their `TeamContext`.
    """

    config: type[ComponentConfig]
    build: Callable[..., Any]
    uses_models: bool = False
