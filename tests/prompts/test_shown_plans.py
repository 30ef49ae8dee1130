"""Joint plans in prompts: short, and nothing of them is lost."""

from __future__ import annotations

from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil.actions import read_call
from maeil.plans import Plan, Task
from maeil.testing.sampling import ActionSampler
from quorum.agents.coordination.joint import named
from quorum.agents.coordination.prompts import read_plans_shown, show_plans
from quorum.agents.prompting.blocks import write_json
from tests.prompts.test_frame import WORLDS, made

NAMES = [f"agent_{index}" for index in range(12)]

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.lists(st.integers(0, 3), max_size=2),
    st.text(max_size=8),
    st.sampled_from(["left", "5", "null", "a, b=c", "square[0.5, 1.5]", ")", "=", '"', "box_red"]),
)
actions = st.builds(
    lambda name, arguments: {"action": name, **arguments},
    st.sampled_from(["move", "wait_agents", "noop"]),
    st.dictionaries(st.sampled_from(["block", "to", "steps"]), values, max_size=3),
)
tasks = st.builds(lambda target: {"task": {"kind": "deliver", "target": target}}, st.text(max_size=5))
plans = st.builds(
    lambda found, task: {**task, "actions": found},
    st.lists(actions, min_size=1, max_size=3),
    st.one_of(tasks, st.just({})),
)
teams = st.dictionaries(st.sampled_from(NAMES), plans, min_size=1)


@given(st.recursive(teams | plans, lambda part: st.lists(part) | st.dictionaries(st.sampled_from("abc"), part)))
def test_what_is_shown_reads_back(value: object) -> None:
    shown = orjson.loads(write_json(show_plans(value)))
    assert read_plans_shown(shown) == value


@pytest.mark.parametrize("name", [world for world in WORLDS if world != "transport"])
def test_the_plans_of_every_vocabulary_read_back(name: str) -> None:
    world = made(name, 2)
    sampler = ActionSampler(world.vocabulary, ())
    for seed in range(20):
        drawn = tuple(sampler.action(model, Random(seed)) for model in world.vocabulary)
        team = named({0: Plan(drawn, Task("deliver", "block_1")), 1: Plan(drawn[:1])}, world.agents)
        assert read_plans_shown(orjson.loads(write_json(show_plans(team)))) == team
        assert [read_call(str(action)) for action in drawn] == [action.model_dump(mode="json") for action in drawn]


def test_agents_of_one_plan_stand_together_in_entries_like_those_of_answers() -> None:
    push = {"actions": [{"action": "push_block", "block": 3, "steps": 2, "timeout": None}]}
    wait = {"actions": [{"action": "idle", "steps": 1}], "task": {"kind": "deliver", "target": "block_3"}}
    team = {"agent_0": push, "agent_1": push, "agent_2": push, "agent_3": wait, "agent_5": push}
    assert show_plans({"plans": team, "thoughts": "x"}) == {
        "plans": [{"agent": "agent_0..agent_2, agent_5", "plan": push}, {"agent": "agent_3", "plan": wait}],
        "thoughts": "x",
    }


def test_what_came_of_plans_is_shown_without_what_there_is_nothing_to_say_about() -> None:
    past = {"task": None, "actions": ["idle(steps=1)"], "status": "dropped", "reason": ""}
    known = {**past, "task": "deliver:block_3"}
    idle = {"actions": [{"action": "idle", "steps": 1}], "status": "dropped"}
    assert show_plans([{"plans": {"agent_0": past, "agent_1": past, "agent_2": known}}]) == [
        {
            "plans": [
                {"agent": "agent_0, agent_1", "plan": idle},
                {"agent": "agent_2", "plan": {**idle, "task": {"kind": "deliver", "target": "block_3"}}},
            ]
        }
    ]
