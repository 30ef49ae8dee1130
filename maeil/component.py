"""How a world, a team of minds or a topology is offered by name: its configuration's schema and what builds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict


class ComponentConfig(BaseModel):
    """Base of every component's configuration.

    Fields have no defaults: the values stand in the configuration files alone, so a missing, unknown or wrong key
    fails when it is read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name under which the component is registered."""


@dataclass(frozen=True, slots=True)
class Component:
    """A component that can be chosen in a configuration.

    Attributes:
        config: schema of its group's values.
        build: makes it. Worlds: `build(config) -> World`. Topologies: `build(config, agents) -> Topology`, given the
            number of agents. Minds: `build(config, world, seeds, coordinated) -> Sequence[Mind]`, one for each agent in
            index order and, when the topology is coordinated, one more for the coordinator.
    """

    config: type[ComponentConfig]
    build: Callable[..., Any]
