"""Grounded schemas name what exists, and never forbid what the loop would take."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from maeil.plans import Plan
from maeil.trace import Recorder
from maeil.world import World
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.structured import Structuring
from quorum.agents.llm.validation import validator_of
from quorum.agents.prompting.answers import part_value
from quorum.agents.prompting.schemas import ground
from quorum.agents.simulated.model import SimulatedModel
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.parts import build, play
from tests.agents.naive_team import settings

LEADER = "topology=centralized topology.leader=coordinator"
CELLS = [
    "env=cube n=3 agents=naive topology=debate max_steps=30",
    "env=cube_coop2 env.vocabulary=emcoop n=3 agents=naive topology=centralized max_steps=12",
    "env=crafter_coop n=3 agents=naive topology=individual max_steps=8",
    "env=crafter_coop2 n=2 agents=naive topology=chain max_steps=8 env.known_only=true",
    "env=transport n=4 agents=naive topology=individual max_steps=8",
    "env=squeeze n=3 agents=naive topology=debate",
    f"env=cube n=3 agents=llamac {LEADER} topology.rounds=3 max_steps=20",
    f"env=crafter_coop n=2 agents=llamac {LEADER} topology.rounds=3 max_steps=6",
    f"env=transport n=4 agents=hmas2 {LEADER} topology.rounds=3 max_steps=6",
    "env=transport n=3 agents=dmas topology=dialogue topology.opens=team max_steps=6",
]


class Checking:
    """Answers by rules, and holds every answer and many other plans against the grounded schema of the turn."""

    world: World

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.model = Structuring(SimulatedModel(settings()), 0)
        self.narrowed = self.taken = 0

    async def complete(self, request: Request) -> Reply:
        reply = await self.model.complete(request)
        assert request.answer is not None
        grounded = request.answer.ground().schema
        own = {key: part for key, part in reply.value.items() if key in grounded["properties"]}
        assert validator_of(grounded).reasons(own) == ()
        self.narrowed += grounded != request.answer.schema
        if "PlanAnswer" in grounded.get("$defs", ()):
            actions = grounded["$defs"]["PlanAnswer"]["properties"]["actions"]
            found = validator_of({**actions, "$defs": grounded["$defs"]})
            agent = self.world.agents.index(request.origin.agent) if request.origin.agent in self.world.agents else 0
            for _ in range(25):
                plan = Plan(tuple(self.draw() for _ in range(self.rng.randint(1, 2))))
                if not self.world.check_plan(agent, plan):
                    self.taken += 1
                    assert found.reasons(part_value(plan)["actions"]) == (), (agent, plan)
        return reply

    def draw(self) -> Any:
        """Draw an action that the vocabulary allows, with small numbers, so that many of them exist."""
        model = self.rng.choice(tuple(self.world.vocabulary))
        schema = model.model_json_schema()
        while True:
            values = {name: self.value(part, schema) for name, part in schema["properties"].items()}
            try:
                return model.model_validate(values)
            except ValueError:
                continue

    def value(self, part: dict[str, Any], schema: dict[str, Any]) -> Any:
        if "$ref" in part:
            return self.value(schema["$defs"][part["$ref"].rpartition("/")[2]], schema)
        if "anyOf" in part:
            return self.value(self.rng.choice(part["anyOf"]), schema)
        if "const" in part or "enum" in part:
            return part.get("const") or self.rng.choice(part["enum"])
        if part.get("type") == "array":
            return [self.rng.randint(0, 5), self.rng.randint(0, 5)]
        if part.get("type") == "string":
            return self.rng.choice(["target_red", "target_blue", "square[0.5, 0.5]", "square[0.5, 1.5]"])
        return None if part.get("type") == "null" else self.rng.randint(0, 9)


@pytest.mark.parametrize("words", CELLS)
def test_what_the_loop_would_take_is_never_forbidden(words: str) -> None:
    cell = Cell.compose([*words.split(), "seed=2"])
    found: list[Checking] = []

    def models(_: str) -> Checking:
        found.append(Checking(len(found)))
        return found[-1]

    parts = build(cell, models)
    for one in found:
        one.world = parts.world
    asyncio.run(play(cell, parts, Recorder(None)))
    assert sum(one.taken for one in found) > 0 or "squeeze" in words
    assert sum(one.narrowed for one in found) > 0 or words.startswith("env=squeeze")


def test_what_does_not_exist_is_forbidden() -> None:
    world = build(Cell.compose(["env=cube", "n=4", "agents=heuristic"]), lambda _: None).world
    blocks = len(world.reset(0)["blocks"])
    action = {
        "properties": {"action": {"const": "push_block"}, "block": {"type": "integer"}},
        "required": ["action", "block"],
    }
    schema = {"anyOf": [{"$ref": "#/$defs/PushBlock"}, {"type": "null"}], "$defs": {"PushBlock": action}}
    check = validator_of(ground(schema, world.ids(0), world.agents)).reasons
    assert check({"action": "push_block", "block": blocks - 1}) == ()
    assert check({"action": "push_block", "block": blocks})
    gone = ground(schema, {"push_block": [{"block": []}]}, world.agents)
    assert gone["anyOf"] == [{"type": "null"}]
    assert "PushBlock" not in gone["$defs"]
