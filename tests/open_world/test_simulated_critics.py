"""The joint plans of the simulated critics in the open world."""

from __future__ import annotations

import numpy as np
import orjson

from crafter_env import Collect, Item, Resource
from maeil import Plan
from quorum.agents.prompting.blocks import write_json
from quorum.agents.skills import Chooser, JointPlanRequest
from quorum.open_world.briefing import show_team
from quorum.open_world.speaker import CrafterSpeaker
from tests.crafter_env.joined import world

PICKAXE = {Item.wood_pickaxe: 1}
GROVE = f"""
{"." * 40}
.0T.T1{"." * 34}
{"." * 40}
"""
POND = """
.....
.0~1.
.....
"""
QUARRY = """
.....
.0#1.
..#..
"""
ROCK = """
~~~~~
~0#1~
~~~~~
"""


def plans(drawing: str, bags=None, *, oracle_map: bool = True, poor: float = 0.0, given=()) -> dict[int, Plan]:
    """The exploiter's joint plan for all agents."""
    w = world(drawing, bags=bags, profile="coop2", level="solo", max_steps=100, oracle_map=oracle_map)
    asked = list(range(len(w.agents)))
    state = orjson.loads(write_json(show_team([w.observe(agent) for agent in asked])))
    return CrafterSpeaker(w.prompt_facts(), len(asked)).propose(
        JointPlanRequest("exploiter", state, {}, asked, Chooser(np.random.default_rng(0), poor), frozenset(given))
    )


def collected(found: dict[int, Plan], resource: Resource) -> list[int | None]:
    """The cells from which agents collect something."""
    actions = [action for plan in found.values() for action in plan.actions]
    return [action.target for action in actions if isinstance(action, Collect) and action.resource is resource]


def test_what_lasts_is_shared():
    thirsty = {agent: {Item.drink: 2} for agent in range(2)}
    drinks = plans(POND, thirsty)
    assert set(drinks) == {0, 1}
    assert len(set(collected(drinks, Resource.drink))) == 1


def test_what_is_gone_when_it_is_collected_has_one_collector():
    first, second = collected(plans(QUARRY, {0: PICKAXE, 1: PICKAXE}), Resource.stone)
    assert first != second


def test_an_agent_that_could_do_nothing_has_no_plan():
    assert list(plans(ROCK, {0: PICKAXE, 1: PICKAXE})) == [0]


def test_a_part_that_was_found_wrong_is_not_drawn_at_random_again():
    sure, poor = plans(GROVE, oracle_map=False), plans(GROVE, oracle_map=False, poor=1.0, given=[0])
    assert poor.get(0) == sure[0]
    assert poor[1] != sure[1]
