"""The constraints of cooperative tasks, attempts at them, and who is capable, in cases made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crafter_env import Action, Collect, Craft, Direction, Item, Material, Move, Resource, Tool
from crafter_env.constraints import aimed_cells
from crafter_env.kernels.grid import AREA_AIM
from maeil import Plan
from maeil.constraints import missing
from maeil.metrics.task_history import cooperative
from maeil.tasks import CapabilityChange, Constraint
from tests.crafter_env.joined import advance, cell, number, run, states, world

DO = int(Action.do)
PICK = {Item.wood_pickaxe: 1}


def numbers(state):
    return state.threshold, state.spatial, state.temporal, state.participation, state.joint, state.dependency


def test_the_first_report_gives_every_task_in_view_and_later_ones_the_changes():
    w = world("0T#..\n.~...\n.....")
    assert set(states(w)) == {f"tree_{number(w, (1, 0))}", f"stone_{number(w, (2, 0))}"}
    assert states(w) == {}
    (changed,) = states(w, {0: DO}).values()
    assert numbers(changed) == (1, 1, 1, 1, 1, True)


def test_who_plans_for_a_cell_or_acts_on_it_takes_part_and_counts_once():
    w = world("0T1.....2\n.........\n.........")
    tree = number(w, (1, 0))
    plan = Plan((Collect(resource=Resource.wood, target=tree),))
    state = states(w, {0: DO}, {0: plan, 2: plan})[f"tree_{tree}"]
    assert numbers(state) == (1, 2, 1, 2, 1, True)


def test_near_capable_and_acting_agents_are_counted_each_for_itself():
    # agents 0 and 1 are next to the stone, 2 is far; 1 has no tool; 0 and 2 press `do`
    w = world("0#1.....2\n.........\n.........", {0: PICK, 2: PICK}, level="hard")
    state = states(w, {0: DO, 2: DO})[f"stone_{number(w, (1, 0))}"]
    assert numbers(state) == (2, 2, 1, 1, 1, True)
    assert missing(state) == (Constraint.PARTICIPATION, Constraint.TEMPORAL)


def test_enough_for_each_but_not_the_same_agents_is_no_quorum():
    # 0 and 1 are near and act, but the tools are 0's and the far agent 2's
    w = world("0#1.....2\n.........\n.........", {0: PICK, 2: PICK}, level="hard")
    state = states(w, {0: DO, 1: DO})[f"stone_{number(w, (1, 0))}"]
    assert numbers(state) == (2, 2, 2, 2, 1, True)
    assert missing(state) == (Constraint.JOINT,)
    assert not cooperative(state)


@pytest.mark.parametrize(("bags", "able", "joint"), [({}, 0, 0), ({0: PICK}, 1, 1)])
def test_without_the_tool_for_each_of_them_the_dependency_is_missing(bags, able, joint):
    w = world("0#1\n...\n...", bags, level="hard")
    state = states(w, {0: DO, 1: DO})[f"stone_{number(w, (1, 0))}"]
    assert numbers(state) == (2, 2, 2, 2, joint, False)
    assert state.literal == (2, 2, able)
    assert missing(state) == (Constraint.DEPENDENCY,)


def test_the_joint_condition_is_what_the_world_goes_by():
    w = world("0#1\n...\n...", {0: PICK, 1: PICK}, level="hard")
    state = states(w, {0: DO, 1: DO})[f"stone_{number(w, (1, 0))}"]
    assert cooperative(state)
    transition = w.step([DO, DO])
    (attempt,) = transition.attempts
    assert (attempt.task.target, attempt.agents, attempt.succeeded) == (state.task.target, (0, 1), True)
    assert states(w)[state.task.target].threshold == 0  # over


def test_a_named_cell_counts_as_worked_on_while_it_is_out_of_reach():
    w = world("0...T\n.....\n.....")
    tree = number(w, (4, 0))
    w.start_action(0, Collect(resource=Resource.wood, target=tree)).status()
    state = states(w, {0: DO})[f"tree_{tree}"]
    assert (state.spatial, state.temporal, state.joint) == (0, 1, 0)


def test_a_task_ends_when_nobody_sees_it_and_begins_again():
    w = world("T0.........\n...........\n...........")
    name = f"tree_{number(w, (0, 0))}"
    assert name in states(w)
    for _ in range(4):
        w.step([int(Action.move_right)])
    assert states(w)[name].threshold == 0
    w.step([int(Action.move_left)])
    assert states(w)[name].threshold == 1


def test_in_an_area_all_cells_around_are_attempted():
    w = world(".#.\n#0T\n.#.", {0: PICK}, profile="coop2", level="coop2")
    transition = advance(w, {0: DO})
    assert sorted(a.task.target.split("_")[0] for a in transition.attempts) == ["stone", "stone", "stone", "tree"]
    assert all(attempt.succeeded for attempt in transition.attempts)


def test_a_craft_is_a_task_while_somebody_makes():
    w = world(".....\n.0t1.\n.....", {0: {Item.wood: 1}}, level="hard")
    states(w)
    make = int(Action.make_wood_pickaxe)
    alone = states(w, {0: make})["wood_pickaxe"]
    assert numbers(alone) == (2, 2, 1, 1, 1, True)
    planned = states(w, {0: make}, {1: Plan((Craft(item=Tool.wood_pickaxe),))})["wood_pickaxe"]
    assert numbers(planned) == (2, 2, 1, 2, 1, True)
    transition = w.step([make, 0])
    assert [(a.task.kind, a.agents, a.succeeded) for a in transition.attempts] == [("craft", (0,), False)]
    both = states(w, {0: make, 1: make})["wood_pickaxe"]
    assert cooperative(both)
    assert w.step([make, make]).attempts[0].succeeded
    assert states(w)["wood_pickaxe"].threshold == 0


def test_tools_and_materials_are_capabilities_that_come_and_go():
    w = world("0T.\n...\n...")
    gained = advance(w, {0: DO}).capabilities
    assert gained == (CapabilityChange(0, "wood", True),)
    w.env.crafter_state.inventory[0, Item.wood] = 0
    assert advance(w).capabilities == (CapabilityChange(0, "wood", False),)


def test_death_takes_all_capabilities():
    w = world("0..\n..1\n...", {0: {Item.wood_pickaxe: 1}})
    advance(w)
    w.env.crafter_state.inventory[0, Item.health] = 0
    transition = advance(w)
    assert CapabilityChange(0, "wood_pickaxe", False) in transition.capabilities
    assert {"what": "death", "agent": 0} in transition.outcomes


@given(st.integers(0, 10_000), st.sampled_from(["facing", "nearest", "area"]), st.booleans())
def test_what_a_do_is_said_to_act_on_is_what_the_step_takes(seed, rule, mobs):
    """Against the step itself, on generated maps with random walks in between."""
    rng = np.random.default_rng(seed)
    drawing = "\n".join("".join(rng.choice(list(".._TT#~c"), 7)) for _ in range(6))
    drawing = "0" + drawing[1:]
    w = world(drawing, {0: {Item.wood_pickaxe: 1}}, switches={"mobs": mobs, "collect": rule}, level="easy")
    for _ in range(4):
        advance(w, {0: int(rng.integers(1, 5))})
        state = w.env.crafter_state
        (aim,) = aimed_cells(state, np.array([DO]), w._rules).tolist()
        before = state.materials.copy()
        w.step([DO])
        outcome = state.outcome(0)
        taken = {tuple(found) for found in np.argwhere(state.materials != before).tolist()}
        if aim == AREA_AIM:
            near = [
                tuple(c) for c in np.argwhere(np.isin(before, [Material.tree, Material.stone, Material.coal])).tolist()
            ]
            x, y = cell(w, 0)
            assert taken == {c for c in near if abs(c[0] - x) + abs(c[1] - y) <= 2}
        elif aim >= 0:
            target = divmod(aim, state.size[1])
            assert outcome.cell == target
            assert taken == (set() if before[target] in (Material.water, Material.grass) else {target})
        else:
            assert not taken


def test_moving_agents_change_the_counts():
    w = world("..T..\n0....\n.....")
    tree = f"tree_{number(w, (2, 0))}"
    assert states(w)[tree].spatial == 0
    run(w, {0: Move(direction=Direction.right)})
    assert states(w)[tree].spatial == 1
