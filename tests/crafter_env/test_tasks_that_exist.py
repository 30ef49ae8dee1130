"""What a plan in the open world may be for: as far as its agent can know, no less and no more."""

from __future__ import annotations

import pytest

from crafter_env import Direction, Item, Move, Noop
from maeil.plans import Plan, Task
from tests.crafter_env.joined import advance, number, run, world

LONG = "....................\n0T.................T\n...................1"


def takes(w, agent, kind, target):
    task = Task(kind, target)
    refused = w.check_plan(agent, Plan((Noop(),), task))
    assert all(reason.startswith(f"there is no task {task}; there are, for example, collect:") for reason in refused)
    return not refused


def tree(w, cell):
    return f"tree_{number(w, cell)}"


@pytest.mark.parametrize("known_only", [False, True])
def test_a_cell_is_what_its_agent_has_seen_and_may_be_anything_where_it_has_not(known_only):
    w = world(LONG, known_only=known_only)
    near, bare, far, empty = (tree(w, cell) for cell in ((1, 1), (2, 1), (19, 1), (18, 0)))
    assert takes(w, 0, "collect", near)
    assert not takes(w, 0, "collect", bare)
    assert not takes(w, 0, "collect", f"iron_{number(w, (1, 1))}")
    assert takes(w, 0, "collect", far) is takes(w, 0, "collect", empty) is not known_only
    assert not takes(w, 0, "collect", "tree_61")  # no such cell
    assert not takes(w, 0, "collect", "tree_0")
    assert not takes(w, 0, "deliver", "block_7")
    assert near in w.tasks(0)["collect"]
    assert far in w.tasks(None)["collect"]  # the other has seen it


def test_only_what_it_has_seen_or_heard_of_is_listed():
    w = world(LONG)
    near, bare, far = (tree(w, cell) for cell in ((1, 1), (2, 1), (19, 1)))
    assert far not in w.tasks(0)["collect"]
    heard = w.tasks(0, f"agent_1: collect {far}, try 3 times. I have seen {bare} and tree_61.")["collect"]
    assert {near, far} <= set(heard)
    assert not {bare, "tree_61"} & set(heard)


def test_a_stone_may_have_been_placed_where_the_agent_does_not_look():
    w = world(LONG)
    first = number(w, (2, 0))
    assert not takes(w, 0, "collect", f"stone_{first}")
    run(w, {0: Move(direction=Direction.up)})
    run(w, {0: Move(direction=Direction.right, steps=12)})
    assert takes(w, 0, "collect", f"stone_{first}")
    assert not takes(w, 0, "collect", f"tree_{first}")


def test_a_tool_a_direction_and_a_material_are_tasks_and_a_creature_while_it_is_in_view():
    w = world("....................\n0..C...............1\n....................")
    always = [("craft", "iron_pickaxe"), ("explore", "left"), ("collect", "iron"), ("collect", "wood"), ("eat", "cow")]
    assert all(takes(w, 0, *task) for task in always)
    (seen,) = w.observe(0).entities
    cow = f"cow_{seen.id}"
    assert takes(w, 0, "eat", cow)
    assert not takes(w, 0, "eat", f"cow_{seen.id + 1}")
    assert not takes(w, 1, "eat", cow)
    assert cow in w.tasks(0)["eat"]
    assert cow not in w.tasks(1)["eat"]


def test_the_dead_have_no_task():
    w = world(LONG)
    w.env.crafter_state.inventory[0, Item.health] = 0
    advance(w)
    assert w.tasks(0) == {}
    assert w.check_plan(0, Plan((Noop(),), Task("collect", "tree"))) == ("there is no task collect:tree",)
    assert tree(w, (19, 1)) in w.tasks(None)["collect"]
