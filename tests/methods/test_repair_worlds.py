"""Repair in the other worlds: states made by hand that trip each constraint, and the advice that mends them."""

from __future__ import annotations

import pytest

from crafter_env import Collect, Craft, Item, Navigate, Noop, Resource, Target, Tool
from maeil import Plan, Task, World
from maeil.judging import Moment
from maeil.plans import LivePlan
from maeil.tasks import Constraint
from quorum.agents.skills import role_of
from quorum.methods.repair.rollout import NoCopy, roll_out
from tests.agents.naive_team import cube
from tests.crafter_env.joined import world as crafter
from tests.maeil.corridor import Corridor, Walk

SPATIAL, TEMPORAL, PARTICIPATION, DEPENDENCY = (
    Constraint.SPATIAL,
    Constraint.TEMPORAL,
    Constraint.PARTICIPATION,
    Constraint.DEPENDENCY,
)


def moment(world: World, *plans: Plan) -> Moment:
    rules = role_of(world.name, "repair", "repair")(world)
    served = {agent: rules.task_of(world, agent, plan) for agent, plan in enumerate(plans)}
    live = [LivePlan(f"P{agent}.1", agent, plan) for agent, plan in enumerate(plans)]
    tasks = {agent: task for agent, task in served.items() if task is not None}
    return Moment(world, live, [None] * len(plans), {}, tasks, {})


def found(violations) -> dict[str, set[Constraint]]:
    by_task: dict[str, set[Constraint]] = {}
    for violation in violations:
        by_task.setdefault(violation.task.target, set()).add(violation.constraint)
    return by_task


def both(world: World, *plans: Plan):
    now = moment(world, *plans)
    return found(role_of(world.name, "repair", "repair")(world).predict(now)), found(roll_out(now, 40))


TREE = """
    ........
    .0.T....
    ........
    .1......
    ........
    ........
    ........
    ........
    ........
"""


def wood(world: World) -> int:
    seen = world.observe(0)
    return seen.visible["tree"][0]


def collect(identity: int, *, tries: int = 3, wait: int = 0, resource=Resource.wood, target=Target.tree) -> Plan:
    before = (Noop(steps=wait),) if wait else ()
    walk = Navigate(target=target, id=identity)
    return Plan((*before, walk, Collect(resource=resource, target=identity, steps=tries)))


def forest(**changes):
    return crafter(TREE, thresholds={"wood": 2}, **changes)


def test_two_at_a_tree_for_two_collect_it():
    world = forest()
    assert both(world, collect(wood(world), tries=9), collect(wood(world), tries=9)) == ({}, {})


def test_one_alone_at_a_tree_for_two_violates_participation_and_all_that_follows():
    world = forest()
    heuristic, exact = both(world, collect(wood(world)), Plan((Noop(steps=9),)))
    assert list(heuristic.values()) == [{PARTICIPATION, SPATIAL, TEMPORAL}]
    assert list(exact) == list(heuristic)


def test_one_who_gives_up_before_the_other_comes_violates_temporal_and_is_alone_in_place():
    world = forest()
    heuristic, _ = both(world, collect(wood(world), tries=1), collect(wood(world), tries=1, wait=9))
    assert list(heuristic.values()) == [{SPATIAL, TEMPORAL}]


STONE = TREE.replace("T", "#")


def test_without_the_tool_the_dependency_is_violated():
    world = crafter(STONE, thresholds={"stone": 2})
    stone = world.observe(0).visible["stone"][0]
    plan = collect(stone, tries=9, resource=Resource.stone, target=Target.stone)
    heuristic, exact = both(world, plan, plan)
    assert list(heuristic.values()) == [{DEPENDENCY}]
    assert list(exact.values()) == [{DEPENDENCY, TEMPORAL}], "both are refused"
    bags = {agent: {Item.wood_pickaxe: 1} for agent in (0, 1)}
    assert both(crafter(STONE, bags, thresholds={"stone": 2}), plan, plan) == ({}, {})
    idle = Plan((Noop(steps=9),))
    alone, _ = both(crafter(STONE, bags, thresholds={"stone": 2}), plan, idle)
    assert DEPENDENCY in next(iter(alone.values())), "a tool counts where its holder collects (published)"


def test_a_tool_that_takes_two_is_not_made_by_one():
    world = crafter(TREE, thresholds={"craft_quorum": 2})
    craft = Plan((Craft(item=Tool.wood_pickaxe),))
    assert both(world, craft, Plan((Noop(steps=3),)))[0] == {"wood_pickaxe": {PARTICIPATION, TEMPORAL}}
    assert both(world, craft, craft)[0] == {}


def test_kinds_of_targets_cool_down_together():
    rules = role_of("crafter", "repair", "repair")(forest())
    keys = [rules.cooldown_key(Task("collect", target)) for target in ("tree_5", "tree_9", "iron_5")]
    assert keys == ["collect:tree", "collect:tree", "collect:iron"]
    assert (rules.cooldown, role_of("cube", "repair", "repair")(cube()).cooldown) == (20, 5)


def test_the_nearest_capable_agents_are_advised_to_gather():
    world = forest()
    now = moment(world, collect(wood(world)), Plan((Noop(steps=9),)))
    rules = role_of("crafter", "repair", "repair")(world)
    advice = rules.advise(now, rules.predict(now))
    assert advice is not None
    assert advice.agents == (0, 1)
    assert both(world, advice.plans[0], advice.plans[1]) == ({}, {})


def test_a_rehearsal_does_not_know_the_luck_of_the_world():
    one, other = crafter(seed=3, n=2), crafter(seed=3, n=2)
    other.draw_from(0)
    assert not (one.env.crafter_state.world.generator == other.env.crafter_state.world.generator).all()


def test_a_world_that_cannot_be_copied_is_named():
    class Locked(Corridor):
        def __deepcopy__(self, memo):
            raise TypeError("it holds a socket")

    world = Locked(1)
    world.reset(0)
    now = Moment(world, [LivePlan("P0.1", 0, Plan((Walk(),)))], [None], {}, {}, {})
    with pytest.raises(NoCopy, match="the world 'hallway' cannot be copied: it holds a socket"):
        roll_out(now, 5)
