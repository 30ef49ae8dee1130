"""LLaMAC teams for tests: built from the shipped configuration, over models that tests choose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maeil import LoopSettings, TopologyContext, World
from maeil.trace import Stamped
from quorum.agents.llamac import LlamacConfig, build
from quorum.agents.llm.structured import Structuring
from quorum.agents.simulated.model import SimulatedModel
from quorum.topologies.centralized import Centralized, CentralizedConfig
from tests.agents.naive_team import context, cube, prompts, settings, shipped
from tests.maeil.scripted import play

SHIPPED = shipped("agents", "llamac")


def config(**changes: Any) -> LlamacConfig:
    """The shipped configuration; `rules` goes into the set of prompts."""
    own = {key: changes.pop(key) for key in ("rules",) if key in changes}
    return LlamacConfig(**{**SHIPPED, "prompts": {**prompts(), **own}, **changes})


def coordinated(n: int, rounds: int = 3, leader: Any = "coordinator") -> Any:
    """The topology that LLaMAC takes."""
    config = CentralizedConfig(name="centralized", leader=leader, rounds=rounds, feedback="none")
    return Centralized(config, TopologyContext(n))


def episode(
    world: World | None = None,
    seed: int = 0,
    *,
    n: int = 4,
    model: Any = None,
    path: Path | None = None,
    repairs: int = 1,
    loop: LoopSettings | None = None,
    switches: Mapping[str, Any] | None = None,
    **rates: float,
) -> list[Stamped]:
    """Run a team over a simulated model."""
    world = world if world is not None else cube(n)
    topology = coordinated(len(world.agents))
    asked = Structuring(model if model is not None else SimulatedModel(settings(**rates)), repairs)
    minds = build(config(**(switches or {})), context(world, topology, lambda _: asked))
    return play(
        minds[:-1],
        world,
        topology=topology,
        seed=seed,
        coordinators=[("coordinator", minds[-1])],
        path=path,
        settings=loop,
    )
