"""Open tasks in a prompt: their lists of agents are as short in a large team as in a small one."""

from __future__ import annotations

import pytest

from maeil import OpenTask, Task
from quorum.agents.prompting.open_tasks import OpenTaskWriter, read_open_task
from quorum.configuration.cell import Cell
from quorum.configuration.registry import worlds
from quorum_base.names import unfold_names
from tests.agents.naive_team import view

MOST, TEAM = 3, 12
ALL = tuple(range(TEAM))
TASK = OpenTask(Task("push", "block_0/left"), 3, 2, ALL[1::2], ALL, (0,), (("iron_pickaxe", 1),), ("block_2",))


def build(env: str, *options: str):
    values = Cell.compose([f"env={env}", f"n={TEAM}", *options]).configuration.env
    world = worlds.get(values.name).build(values, None)
    world.reset(0)
    return world


@pytest.mark.parametrize("env", ["cube", "crafter_coop", "squeeze"])
def test_an_agent_is_told_itself_and_the_nearest_others_and_how_many_there_are_beside_them(env: str) -> None:
    world = build(env, f"env.text.max_agents={MOST}")
    reader = 7
    reported = OpenTaskWriter(world, view(world, agent=reader)).write(TASK)
    away = {agent: world.distance(reader, agent) or 0 for agent in ALL}
    for key, agents in (("in_place", TASK.in_place), ("able", TASK.able)):
        named = [world.agents.index(name) for name in unfold_names(reported[key])]
        others = [agent for agent in agents if agent != reader]
        assert named == sorted({reader, *sorted(others, key=lambda agent: (away[agent], agent))[:MOST]})
    assert reported["planned"] == ["agent_0"]
    assert reported["not_shown"] == {"in_place": 6 - 1 - MOST, "able": TEAM - 1 - MOST}
    read = read_open_task(reported, {name: index for index, name in enumerate(world.agents)})
    assert (read.task, read.needs, read.more, read.planned) == (TASK.task, TASK.needs, TASK.more, TASK.planned)


def test_who_plans_for_all_and_who_has_no_bound_is_told_all_in_runs() -> None:
    bounded, unbounded = build("cube", f"env.text.max_agents={MOST}"), build("cube", "env.text.max_agents=null")
    coordinator = view(bounded, agent=TEAM, names=(*bounded.agents, "coordinator"))
    reported = OpenTaskWriter(bounded, coordinator).write(TASK)
    assert reported == OpenTaskWriter(unbounded, view(unbounded, agent=7)).write(TASK)
    assert (reported["able"], "not_shown" in reported) == (["agent_0..agent_11"], False)
    assert read_open_task(reported, {name: index for index, name in enumerate(bounded.agents)}) == TASK
