"""The open tasks of the open world, on maps made by hand."""

from __future__ import annotations

import pytest

from crafter_env import Collect, Craft, Item, Navigate, Noop, Resource, Target, Tool
from crafter_env.kernels.arrays import ALIVE
from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from tests.crafter_env.joined import number, states, world

PICK = {Item.wood_pickaxe: 1}
TOOLS = {Item.wood_pickaxe: 1, Item.stone_pickaxe: 1, Item.iron_pickaxe: 1}


def reported(w, plans=None):
    return {str(task.task): task for task in w.open_tasks([(plans or {}).get(agent) for agent in range(len(w.agents))])}


def test_a_cell_tells_who_is_there_who_has_the_tool_and_who_makes_it_first():
    w = world("0#1.....2\n.........\n.........", {0: PICK}, level="hard")
    target = number(w, (1, 0))
    plan = Plan((Collect(resource=Resource.stone, target=target),))
    stone = OpenTask(
        Task("collect", f"stone_{target}"), 2, 1, (0, 1), (0,), (2,), (("wood_pickaxe", 1),), ("craft:wood_pickaxe",)
    )
    tasks = reported(w, {2: plan})
    assert tasks.pop(f"collect:stone_{target}") == stone
    (craft,) = tasks.values()
    assert craft == OpenTask(
        Task("craft", "wood_pickaxe"), 2, 2, (), None, (), (("wood", 1), ("table", 1)), ("collect:wood", "place:table")
    )


def test_a_quorum_that_is_able_and_in_place_misses_nothing():
    w = world("0#1\n...\n...", {0: PICK, 1: PICK}, level="hard")
    (stone,) = reported(w).values()
    assert (stone.more, stone.missing, stone.before) == (0, (), ())


def test_of_each_resource_the_nearest_known_cell_is_shown_and_cells_that_nobody_knows_are_not():
    w = world("0..T.T...........#\n..................\n..................", level="easy")
    assert set(reported(w)) == {f"collect:tree_{number(w, (3, 0))}"}
    # a plan may name what nobody has seen: whether it is there, feedback must not tell
    far, nowhere = number(w, (17, 0)), number(w, (16, 0))
    for guess in (far, nowhere):
        assert set(reported(w, {0: Plan((Collect(resource=Resource.stone, target=guess),))})) == set(reported(w))
    heard = world("0...............1#\n..................\n..................", level="easy")
    told_of = Plan((Collect(resource=Resource.stone, target=number(heard, (17, 0))),))
    assert f"collect:stone_{number(heard, (17, 0))}" in reported(heard, {0: told_of}), "agent 1 sees it"


def test_what_a_text_names_is_shown_where_somebody_knows_it_and_lacks_it():
    w = world("0T.T.............#\n..................\n..................", {0: PICK}, level="easy")
    near, far, unseen = (number(w, cell) for cell in ((1, 0), (3, 0), (17, 0)))

    def named(text):
        return {str(task.task) for task in w.open_tasks([None], text)}

    assert named("") == {f"collect:tree_{near}"}
    assert named(f"go to tree_{far}, not to stone_{unseen} or stone_{near}") == {
        f"collect:tree_{c}" for c in (near, far)
    }
    assert named("make a stone_pickaxe with your wood_pickaxe") == {f"collect:tree_{near}", "craft:stone_pickaxe"}
    assert named(f"xtree_{far}, tree_{far}1, tree_99999999999999999999") == {f"collect:tree_{near}"}


def test_a_cell_that_is_closed_in_is_shown_where_there_is_no_other():
    for last, expected in ((".", (2, 2)), ("#", (8, 1))):
        w = world(f"....0....\n.~~~....{last}\n.~#~.....\n.~~~.....", {0: PICK}, level="easy")
        (stone,) = reported(w).values()
        assert stone.task.target == f"stone_{number(w, expected)}"


def test_a_craft_tells_what_the_best_supplied_agent_lacks_and_who_can_make_it():
    w = world("0t..\n1...\n....", {0: {Item.wood: 1}, 1: {Item.wood: 1, Item.stone: 1}}, level="easy")
    craft = Plan((Craft(item=Tool.stone_pickaxe),))
    (both,) = reported(w, {0: craft, 1: craft}).values()
    assert (both.in_place, both.able, both.planned, both.missing, both.more) == ((0, 1), (1,), (0, 1), (), 0)
    (alone,) = reported(w, {0: craft}).values()
    assert (alone.missing, alone.before) == ((("stone", 1),), ("collect:stone",))
    w.env.crafter_state.inventory[0, Item.stone_pickaxe] = 1
    assert reported(w, {0: craft}) == {}


@pytest.mark.parametrize(
    "plan",
    [
        lambda w: Plan((Navigate(target=Target.tree, id=number(w, (5, 0))),)),
        lambda w: Plan((Noop(),), Task("collect", f"tree_{number(w, (5, 0))}")),
        lambda w: Plan((Collect(resource=Resource.stone, target=number(w, (9, 0))), Collect(resource=Resource.wood))),
    ],
)
def test_a_plan_names_its_cell_by_its_actions_or_its_words(plan):
    w = world("....0T...T\n..........\n..........")
    planned = [task for task in reported(w, {0: plan(w)}).values() if task.planned]
    assert [task.task.target for task in planned] == [f"tree_{number(w, (5, 0))}"]


def test_it_says_by_name_what_the_constraints_count_and_changes_nothing():
    w = world(seed=3, n=4, level="hard", bags={0: TOOLS, 1: PICK})
    w.open_tasks([None] * 4)
    counted = {state.task: state for state in states(w).values()}
    tasks = [task for task in w.open_tasks([None] * 4) if task.task.kind == "collect"]
    assert tasks
    for task in tasks:
        state = counted[task.task]
        able = range(4) if task.able is None else task.able
        assert (task.needs, len(task.in_place)) == (state.threshold, state.spatial)
        assert (len(able) >= task.needs) is state.dependency
    assert states(w) == {}, "the next report of the constraints is the same with and without feedback"


def test_the_dead_take_no_part_and_of_a_dead_team_nothing_is_told():
    w = world("0#1\n...\n...", {0: PICK, 1: PICK}, level="hard")
    w.env.crafter_state.world.agents[1, ALIVE] = 0
    stone, _craft = reported(w).values()
    assert (stone.in_place, stone.able, stone.more) == ((0,), None, 1), "all who live hold the tool"
    w.env.crafter_state.world.agents[0, ALIVE] = 0
    assert reported(w) == {}
