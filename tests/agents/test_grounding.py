"""Grounded schemas name what exists, and never forbid what the loop would take."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import orjson
import pytest

from crafter_env import CrafterObservation, Material, Resource
from cube_env.symbolic.shown import ShownObservation
from maeil.plans import Plan, Task
from maeil.trace import Recorder
from maeil.world import World
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.structured import Structuring
from quorum.agents.llm.validation import validator_of
from quorum.agents.prompting.answers import part, part_value, tidy
from quorum.agents.prompting.instances import random_instance
from quorum.agents.prompting.schemas import ground, with_targets
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.parts import build, play
from quorum.methods.dytopo.answer import NeedAnswer, OfferAnswer
from quorum.open_world.scene import RESOURCE, Scene
from quorum_base.names import unfold_names
from tests.agents.naive_team import settings

LEADER = "topology=centralized topology.leader=coordinator"
CELLS = [
    "env=cube n=3 agents=naive topology=debate max_steps=30",
    "env=cube_coop2 env.vocabulary=emcoop n=3 agents=naive topology=centralized max_steps=12",
    "env=crafter_coop n=3 agents=naive topology=individual max_steps=8",
    "env=crafter_coop2 n=2 agents=naive topology=chain max_steps=8 env.known_only=true",
    "env=transport n=4 agents=naive topology=individual max_steps=8",
    "env=squeeze n=3 agents=naive topology=debate",
    "env=foraging n=3 agents=naive topology=debate env.sight=2 max_steps=8",
    "env=overcooked n=2 agents=naive topology=debate max_steps=20",
    f"env=cube n=3 agents=llamac {LEADER} topology.rounds=3 max_steps=20",
    f"env=crafter_coop n=2 agents=llamac {LEADER} topology.rounds=3 max_steps=6",
    f"env=transport n=4 agents=hmas2 {LEADER} topology.rounds=3 max_steps=6",
    "env=transport n=3 agents=dmas topology=dialogue topology.opens=team max_steps=6",
    "env=transport_hard n=4 agents=naive topology=chain max_steps=6",
    "env=crafter_coop n=3 agents=tom topology=debate max_steps=6",
    "env=cube n=3 agents=drwell topology=negotiation max_steps=12",
    "env=cube n=4 agents=naive topology=dytopo max_steps=8",
]
KINDS = ("deliver", "push", "stand_by", "place", "allocate", "collect", "craft", "eat", "fight", "explore", "go",
         "load", "soup")  # fmt: skip
PARTS = ("block_{}", "block_{}/left", "block_0{}", "tree_{}", "iron_{}", "water_{}", "cow_{}", "wood_pickaxe", "tree",
         "food_{}_3", "pot_0_{}")  # fmt: skip
SOURCES = [material.name for material in RESOURCE]
ALWAYS = (*SOURCES, *Resource, "points")
NAMES = ("box_red", "box_blue", "box_black", "system", "left", "wood", "cow")


class Checking:
    """Answers by rules, and holds every answer and many other plans against the grounded schema of the turn."""

    world: World

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.model = Structuring(SimulatedModel(settings()), 0)
        self.narrowed = self.taken = self.existing = self.entries = 0
        self.draws = np.random.default_rng(seed)

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
        self.hold_tasks(request, grounded)
        asked = re.search(r"<asked>\n(.*)\n</asked>", request.messages[-1].content)
        for entry in objects_in(grounded) if asked is not None else ():
            if {"agent", "plan"} <= entry.keys():
                self.entries += 1
                assert list(entry["agent"]["enum"]) == unfold_names(orjson.loads(asked[1]))
        return reply

    def hold_tasks(self, request: Request, schema: dict[str, Any]) -> None:
        """Hold the tasks of a schema against the world as it is, both ways, and what is drawn from the schema."""
        agents = range(len(self.world.agents))
        alone = not request.origin.role and request.origin.agent in self.world.agents
        asked = [self.world.agents.index(request.origin.agent)] if alone else list(agents)
        definitions = schema.get("$defs", {})
        listed = set(tasks_in(schema))
        if not listed:
            return  # the answer has no task, or is about past ones
        if request.origin.role in ("proposer", "committer"):
            shown = re.search(r"<tasks>\n(.*)\n</tasks>", request.messages[-1].content)
            assert shown is not None
            assert listed == {Task(**one["task"]) for one in orjson.loads(shown[1])}
        own = set(tasks_in(schema, of_others=False))
        assert [task for task in own if not any(self.takes(agent, task) for agent in asked)] == []
        assert [task for task in listed if not any(self.takes(agent, task) for agent in agents)] == []
        self.existing += len(listed)
        if alone:
            targets = {task.target for task in own if task.kind in ("deliver", "collect")}
            assert targets - set(ALWAYS) == live(self.world.observe(asked[0]), request.messages[-1].content)
        for _ in range(40):
            target = self.rng.choice((*PARTS, *NAMES)).format(self.rng.choice((self.rng.randint(0, 9), 100, 2081)))
            task = Task(self.rng.choice(KINDS), target)
            taking = [agent for agent in asked if self.takes(agent, task)]
            unknown = all(is_unseen(self.world.observe(agent), task) for agent in taking)
            assert request.origin.role or task in listed or unknown, (task, taking)
        for _ in range(5):
            for drawn in tasks_of_value(random_instance(schema, definitions, self.draws)):
                assert drawn in listed

    def takes(self, agent: int, task: Task) -> bool:
        return not self.world.check_plan(agent, Plan((self.world.idle,), task))

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


def tasks_in(schema: Any, *, of_others: bool = True) -> Iterator[Task]:
    """Give the tasks that a form allows, with or without those that it foresees of others or asks of them."""
    for named in objects_in(schema, of_others=of_others):
        if named.keys() == {"kind", "target"} and "enum" in named["kind"]:
            yield from (Task(*pair) for pair in product(named["kind"]["enum"], named["target"]["enum"]))


def objects_in(schema: Any, *, of_others: bool = True) -> Iterator[dict[str, Any]]:
    """Give the properties of all objects in a form, with or without those of what others do."""
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        if properties.keys() == {"agent", "task"} and not of_others:
            return
        yield properties
    if isinstance(schema, dict | list):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from objects_in(part, of_others=of_others)


def tasks_of_value(value: Any) -> Iterator[Task]:
    if isinstance(value, dict) and value.keys() == {"kind", "target"}:
        yield Task(**value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tasks_of_value(part)


def live(seen: Any, prompt: str) -> set[str]:
    """The targets of what is delivered or collected: what an agent sees, and cells that its prompt alone names."""
    if isinstance(seen, ShownObservation):
        return {f"block_{block.id}" for block in seen.blocks}
    if not isinstance(seen, CrafterObservation):
        return set()
    scene = Scene(seen)
    known = {f"{material.name}_{scene.id_of(cell)}" for material in RESOURCE for cell in scene.known(material)}
    live_words = re.sub(r"# Your answer\n.*?\n\n", "", prompt, flags=re.DOTALL)  # its example is of another board
    named = {f"{kind}_{cell}" for kind, cell in re.findall(r"\b([a-z]+)_(\d+)\b", live_words) if kind in SOURCES}
    return known | {name for name in named if is_unseen(seen, Task("collect", name))}


def is_unseen(seen: Any, task: Task) -> bool:
    """Whether a task is of a cell of the open world that an agent has not seen, so that it may have heard of it."""
    name, _, identity = task.target.rpartition("_")
    if not isinstance(seen, CrafterObservation) or name not in Material.__members__ or not identity.isdigit():
        return False
    scene = Scene(seen)
    return scene.material(scene.cell_of(int(identity))) is Material.none and not seen.known_only


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
    assert sum(one.narrowed for one in found) > 0
    assert sum(one.existing for one in found) > 0
    assert sum(one.entries for one in found) > 0 or LEADER not in words


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


def test_offers_and_needs_name_what_they_will_where_no_task_is_left() -> None:
    form = part("Answer", "", offers=OfferAnswer, needs=NeedAnswer)
    schema = tidy(form.model_json_schema())
    assert with_targets(schema, "OfferAnswer", []) == schema
