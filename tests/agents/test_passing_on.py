"""In a tree of leaders simulated speakers pass on what they hear: up to the root, and down to the leaves."""

from __future__ import annotations

import re

import numpy as np
import orjson
import pytest

from maeil.messages import Message, MessageKind
from maeil.mind import Act
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills import Chooser, skills_of
from quorum.agents.skills.cube import negotiator as words
from quorum.configuration.cell import Cell
from quorum.episode.parts import build as parts_of
from tests.agents.naive_team import config, context, cube, settings, topology, view
from tests.maeil.scripted import play

N = 22  # the root, four leaders, their sixteen members, and one below the first of these


class Overheard:
    """A model that keeps the prompts of agents that it is asked for."""

    def __init__(self):
        self.model = SimulatedModel(settings())
        self.prompts = {}

    async def complete(self, request):
        blocks = read_blocks(request.messages[-1].content)
        turn = orjson.loads(blocks["turn"])
        self.prompts.setdefault((turn["you"], turn["role"], "plan" in turn["may"]), blocks)
        return await self.model.complete(request)


def overhear(world):
    model = Overheard()
    chosen = topology("hierarchy", N)
    minds = build(config(), context(world, chosen, lambda _: Structuring(model, 1)))
    play(minds, world, topology=chosen)
    return model.prompts


def said(blocks):
    groups = [group for name in ("memory", "unread") for group in orjson.loads(blocks.get(name, "[]"))]
    return [(said["author"], said["content"]) for group in groups for said in group["messages"]]


@pytest.fixture(scope="module")
def of_cube():
    return overhear(cube(N, max_steps=1))


def test_an_order_of_the_root_reaches_the_prompt_in_which_a_leaf_plans_by_way_of_its_leaders(of_cube):
    from_root = dict(said(of_cube["agent_1", "branch_leader", False]))["agent_0"]
    passed = dict(said(of_cube["agent_5", "branch_leader", False]))["agent_1"]
    to_leaf = dict(said(of_cube["agent_21", "member", True]))["agent_5"]
    order = re.search(r"agent_21: block_\d+", from_root)[0]
    assert order in passed
    assert to_leaf == f"{order}."


def test_a_leader_reports_for_all_below_it_and_is_told_of_nobody_else(of_cube):
    branch = {5, 6, 7, 8, 21}
    given = dict(said(of_cube["agent_0", "root", False]))["agent_1"]
    from_root = dict(said(of_cube["agent_1", "branch_leader", False]))["agent_0"]
    assert words.read_branch(given) == branch
    assert words.read_order(from_root).keys() == {1, *branch}


def test_what_a_leaf_sees_reaches_the_prompt_in_which_one_of_another_branch_plans():
    cell = Cell.compose(["env=transport", "env.view=local", f"n={N}", "max_steps=1", "agents=naive"])
    world = parts_of(cell, lambda name: None).world
    prompts = overhear(world)
    heard = " ".join(text for _, text in said(prompts["agent_21", "member", True]))
    others = [orjson.loads(prompts[f"agent_{i}", "member", True]["observation"]) for i in range(9, 21)]
    targets = [(one["square"], item) for one in others for item in one["sees"] if "target" in item]
    assert targets
    assert all(re.search(rf"{re.escape(square)} there [^.]*{item}", heard) for square, item in targets)


def test_a_leader_of_the_open_world_passes_on_orders_and_places():
    cell = Cell.compose(["env=crafter_coop", "n=4", "agents=naive"])
    world = parts_of(cell, lambda name: None).world
    world.reset(0)
    given = "agent_1, agent_2: collect iron_2081, try 5 times. I am at cell 9. I hold nothing. I have seen diamond_7."
    message = Message(0, 0, (1,), given, MessageKind.DIRECTIVE, 0, 0, 0)
    speaker = skills_of(world.name).speaker()
    turn = {"recipients": (2, 3), "role": "branch_leader"}
    thought = speaker.answer(view(world, 1, (Act.SPEAK,), unread=(message,), **turn), Chooser(np.random.default_rng(0)))
    [passed] = thought.messages
    assert passed.recipients == (2, 3)
    assert "agent_1, agent_2: collect iron_2081, try 5 times." in passed.content
    assert "diamond_7" in passed.content


def test_a_branch_is_written_and_read():
    assert words.write_branch([7, 3, 5, 6]) == "I speak for agent_3, agent_5..agent_7."
    assert words.read_branch(f"What shall I do? {words.write_branch([7, 3, 5, 6])}") == {3, 5, 6, 7}
    assert words.read_branch("I speak for nobody..nobody.") == frozenset()
    assert words.read_branch("I speak for agent_1..agent_999999999, agent_2.") == {2}
