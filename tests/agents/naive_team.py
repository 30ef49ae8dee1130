"""Teams of naive agents for tests: built from the shipped configurations, over models that tests choose."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import yaml

from cube_env.symbolic.shown import TEXT_LIMITS
from cube_env.world import CubeConfig, CubeWorld
from maeil import Act, Extension, LoopSettings, Seeds, TeamContext, Topology, TopologyContext, Turn, View, World
from maeil.trace import Stamped
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import NaiveConfig, build
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.option_folders import SHIPPED
from quorum.configuration.registry import topologies
from tests.maeil.scripted import play

TOPOLOGIES = (
    "individual", "debate", "chain", "centralized", "coordinator", "hybrid", "hierarchy", "decentralized", "graph",
)  # fmt: skip


class Delayed:
    """A model whose answers take a random time."""

    def __init__(self, model: Any, rng: random.Random) -> None:
        self.model, self.rng = model, rng

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(self.rng.random() / 1000)
        return await self.model.complete(request)


class Dictated:
    """A model that gives the answers that a test has written down, the last one for ever; keeps what it was asked."""

    def __init__(self, *values: Any) -> None:
        self.values, self.requests = list(values), []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        text = orjson.dumps(value).decode()
        return Reply(text, Finish.STOP, Usage(100, 7, 3), None, 0.25, "dictated", value=value)


def no_answer(*reasons: str) -> AnswerInvalid:
    """What the wrapper for structured output raises when it has asked in vain."""
    reply = Reply("?", Finish.STOP, Usage(100, 5), None, 0.5, "dictated", repairs=1, attempts=2)
    return AnswerInvalid(reasons, reply)


def settings(**rates: float) -> SimulatedSettings:
    """Settings of a simulated model: all rates are 0 but these."""
    rest = dict.fromkeys(SimulatedSettings.model_fields, 0)
    return SimulatedSettings(**{**rest, "usd_per_million_prompt": 1, "usd_per_million_completion": 10, **rates})


@cache
def shipped(group: str, name: str) -> Mapping[str, Any]:
    """The values of a shipped option. They are read once: to parse them takes longer than to write a prompt."""
    (file,) = (file for folder in SHIPPED if (file := folder / group / f"{name}.yaml").is_file())
    return MappingProxyType(yaml.safe_load(file.read_text(encoding="utf-8")))


def prompts(name: str = "default") -> dict[str, Any]:
    """The values of a shipped set of prompts."""
    return deepcopy(dict(shipped("prompts", name)))


def config(prompt_set: str = "default", **changes: Any) -> NaiveConfig:
    """The shipped configuration."""
    return NaiveConfig(**{**shipped("agents", "naive"), "prompts": prompts(prompt_set), "repairs": 2, **changes})


def cube(n: int = 4, **changes: Any) -> CubeWorld:
    """A world with a curriculum board."""
    rest = {"side": None, "blocks": None, "layout": None, "step_cost": 0.01, "deliver_reward": 1, "reward": "default"}
    return CubeWorld(
        CubeConfig(
            **{
                "name": "cube",
                "allow_unsolvable": True,
                "level": None,
                "weights": "halving",
                "observation": "text",
                "text": TEXT_LIMITS,
                "n": n,
                "max_steps": 300,
                "vocabulary": "cube",
                **rest,
                **changes,
            }
        )
    )


def topology(name: str, n: int) -> Topology:
    """A shipped topology; `coordinator` is `centralized` with a leader that has no body."""
    file = "centralized" if name == "coordinator" else name
    values = dict(shipped("topology", file))
    if name == "coordinator":
        values["leader"] = "coordinator"
    component = topologies.get(file)
    return component.build(component.config(**values), TopologyContext(n))


def context(world: World, topology: Topology, models: Callable[[str], Any] = lambda name: None) -> TeamContext:
    """What a team is built for."""
    return TeamContext(world, topology, Seeds(0, "minds"), models)


def episode(
    name: str,
    n: int,
    seed: int,
    *,
    model: Any = None,
    path: Path | None = None,
    max_steps: int = 300,
    loop: LoopSettings | None = None,
    prompt_set: str = "default",
    extensions: Sequence[Extension] = (),
    **rates: float,
) -> list[Stamped]:
    """Run a team of naive agents over a simulated model."""
    world = cube(n, max_steps=max_steps)
    chosen = topology(name, n)
    model = Structuring(model if model is not None else SimulatedModel(settings(**rates)), 1)
    minds = build(config(prompt_set), context(world, chosen, lambda _: model))
    coordinators = [("coordinator", mind) for mind in minds[n:]]
    return play(
        minds[:n], world, topology=chosen, seed=seed, coordinators=coordinators, path=path, settings=loop,
        extensions=extensions,
    )  # fmt: skip


def view(world: World, agent: int = 0, acts: Sequence[Act] = (Act.PLAN,), **changes: Any) -> View:
    """A view of a world that has been reset; `recipients`, `limit`, `role`, `feedback` and `asks` go into the turn."""
    turn = {key: changes.pop(key) for key in ("recipients", "limit", "role", "feedback", "asks") if key in changes}
    fields = {"t": 0, "t_hat": 0.0, "names": world.agents, **changes}
    return View(
        agent=agent,
        name=fields["names"][agent],
        turn=Turn(agent, frozenset(acts), **turn),
        observation=world.observe(agent) if agent < len(world.agents) else world.global_observation(),
        **fields,
    )
