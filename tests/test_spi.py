"""The page of contracts: its examples are one program that runs, and every contract on it has an example."""

from __future__ import annotations

import asyncio
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from maeil import Component, ComponentConfig, LoopSettings, Outcome, run_episode
from maeil.errors import ContractError
from maeil.trace import Recorder
from maeil.world import require_world
from quorum import spi
from quorum.agents.llm.protocol import ChatMessage, Request, Sampling
from quorum.configuration.registry import REGISTRIES, engines
from quorum_base.registry import Registry

PRELUDE = """
import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from maeil import Act, Plan, Progress, SymbolicAction, Thought, Transition, Turn, Vocabulary, end_of
from maeil.controllers import Repeat
from quorum.agents.llm.protocol import Finish, Reply, Usage
from quorum.configuration.registry import engines, minds, topologies, worlds
from quorum.sweeps.engines.worker import Worker
from quorum.spi import *
"""
LONGEST = 300


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names that the examples define; what they register is forgotten after the test."""
    for registry in (*REGISTRIES, engines):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    assert spi.__doc__ is not None
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", spi.__doc__, re.MULTILINE)
    names: dict[str, Any] = {"__name__": "examples"}
    exec(compile(PRELUDE + textwrap.dedent("".join(blocks)), "spi", "exec", dont_inherit=True), names)
    return names


def test_the_page_is_short_and_names_every_contract() -> None:
    assert len(Path(spi.__file__).read_text().splitlines()) <= LONGEST
    assert spi.__doc__ is not None
    assert all(name in spi.__doc__ for name in spi.__all__)


def test_the_examples_play_an_episode(program: dict[str, Any], tmp_path: Path) -> None:
    world = require_world(program["Count"](program["CountConfig"](name="count", n=2, goal=4)))
    minds, steps = [program["Eager"](), program["Eager"]()], program["Steps"]()
    with Recorder(tmp_path / "trace.jsonl") as recorder:
        playing = run_episode(
            world, minds, program["InOrder"](), seed=0, settings=LoopSettings(), recorder=recorder, extensions=[steps]
        )
        end = asyncio.run(playing)
    assert end.outcome == Outcome.SUCCESS
    assert world.ansi() == "4 of 4"
    assert steps.count == 1


async def test_the_examples_answer_a_request(program: dict[str, Any]) -> None:
    provider = program["Parrot"]()
    asked = Request((ChatMessage("user", "Hello"),), None, Sampling(None, 10))
    assert (await program["Counting"]().model(provider, "key", "cell", None).complete(asked)).text == "Hello"


def test_the_example_of_an_origin_is_read_back_and_its_verb_is_one(program: dict[str, Any]) -> None:
    origin = program["Recall"]("runs/a", "3f2a")
    assert program["Recall"].read(origin.to_json()) == origin
    assert origin.unchanged().identity == {"memory": ""}
    assert program["verb"].short_help == "Show the runs that took the most steps."
    assert isinstance(program["Watched"](), spi.Start)


def test_a_world_without_its_base_is_refused() -> None:
    class Nothing:
        name = "nothing"

    with pytest.raises(ContractError, match=r"Nothing is not derived from maeil\.World"):
        require_world(Nothing())


def test_every_example_is_registered(program: dict[str, Any]) -> None:
    registered: list[Registry[Any]] = [*REGISTRIES, engines]
    names = {name for registry in registered for name in registry._registered}
    assert {"count", "eager", "in_order", "here"} <= names
    assert issubclass(program["CountConfig"], ComponentConfig)
    assert isinstance(engines.get("here"), Component)
