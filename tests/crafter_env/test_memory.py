"""What an agent knows: its own map memory, the typed observation made of it, and the ways over it."""

from __future__ import annotations

from collections import deque
from dataclasses import fields

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from crafter_env import CrafterObservation, Direction, Item, Material, Move, Navigate, Target, read_shown
from crafter_env.kernels import sight
from maeil.plans import Plan
from quorum.agents.prompting.blocks import write_json
from tests.crafter_env.joined import advance, cell, number, run, world

LONG = "....................\n0..................T\n...................."


def go(w, target, identity):
    return {0: Navigate(target=target, id=identity)}


def test_an_agent_knows_the_cells_in_its_view_and_remembers_them():
    w = world(LONG)
    assert w.observe(0).map.rows == (".....", "0....", ".....")
    run(w, {0: Move(direction=Direction.right, steps=3)})
    assert w.observe(0).map.rows == ("........", "...0....", "........")
    run(w, {0: Move(direction=Direction.left, steps=3)})
    assert w.observe(0).map.rows == ("........", "0.......", "........")


def test_what_is_out_of_view_is_remembered_as_it_was():
    w = world("..........\nT0........\n..........")
    run(w, {0: Move(direction=Direction.right, steps=6)})
    w.env.crafter_state.materials[0, 1] = Material.grass
    advance(w)
    assert w.observe(0).map.rows[1].startswith("T")
    run(w, {0: Move(direction=Direction.left, steps=3)})
    assert w.observe(0).map.rows[1].startswith(".")


def test_memories_are_the_agents_own():
    w = world("0.......................1\n.........................\n.........................")
    assert w.observe(0).map.left == 0
    assert w.observe(1).map.left == 20
    assert w.observe(0).teammates == ()


def test_with_known_only_unseen_ids_are_unknown_unless_the_map_is_given():
    tree = number(world(LONG), (19, 1))
    w = world(LONG, known_only=True)
    assert run(w, go(w, Target.tree, tree)) == {0: (f"unknown_id tree {tree}", 0)}
    refused = w.check_plan(0, Plan((Navigate(target=Target.tree, id=tree),)))
    assert refused == (f"navigate(target=tree, id={tree}, near=null): this agent has seen no cell with the id {tree}",)
    oracle = world(LONG, oracle_map=True, known_only=True)
    assert oracle.check_plan(0, Plan((Navigate(target=Target.tree, id=tree),))) == ()
    assert run(oracle, go(oracle, Target.tree, tree)) == {0: ("success", 17)}
    assert cell(oracle, 0) == (17, 1)


def test_navigate_ends_where_the_target_can_be_acted_on():
    drawing = "......\n.0....\n....t.\n......\n.~..c."
    ends = {}
    for target, place in ((Target.table, (4, 2)), (Target.water, (1, 4)), (Target.coal, (4, 4)), (Target.cell, (5, 0))):
        w = world(drawing)
        assert run(w, go(w, target, number(w, place)))[0][0] == "success"
        ends[target] = tuple(abs(a - b) for a, b in zip(cell(w, 0), place, strict=True))
    assert max(ends[Target.table]) == 1
    assert sum(ends[Target.water]) == 1
    assert sum(ends[Target.coal]) == 2  # the radius of the level
    assert ends[Target.cell] == (0, 0)


def test_navigate_goes_around_tables_and_other_agents():
    w = world("..t...\n0.1...\n..t...\n......")
    assert run(w, go(w, Target.cell, number(w, (4, 1)))) == {0: ("success", 8)}


def test_a_way_that_is_cut_off_while_walking_is_planned_again():
    w = world("......\n0.....\n......")
    controller = w.start_action(0, Navigate(target=Target.cell, id=number(w, (4, 1))))
    steps = 0
    while controller.status() is None:
        advance(w, {0: controller.act()})
        steps += 1
        if steps == 1:
            w.env.crafter_state.materials[2, 0:2] = Material.stone
            advance(w)
    assert controller.status().reason == ""
    assert (cell(w, 0), steps) == ((4, 1), 6)


def test_no_way_a_wrong_kind_and_a_creature_out_of_sight_are_reported():
    w = world("0#T..\n##...\n.....")
    tree, coal = number(w, (2, 0)), number(w, (1, 0))
    assert run(w, go(w, Target.cell, number(w, (4, 0)))) == {0: (f"no_path cell {number(w, (4, 0))}", 0)}
    assert run(w, go(w, Target.coal, coal)) == {0: ("gone coal stone", 0)}
    assert run(w, go(w, Target.cow, 99)) == {0: ("out_of_sight cow 99", 0)}
    assert run(w, go(w, Target.agent, 4)) == {0: ("no_such_agent 4", 0)}
    assert run(w, go(w, Target.tree, tree)) == {0: ("success", 0)}  # two cells away, as the level allows


def test_navigate_gives_up_after_64_steps():
    w = world("...\n.0.\n...\n...\n...\n...")
    controller = w.start_action(0, Navigate(target=Target.cell, id=number(w, (1, 4))))
    while controller.status() is None:
        controller.act()
        advance(w)  # somebody else holds it where it is
    assert controller.status().status == "timeout"
    assert controller.status().reason == "not_reached 64"


def test_with_known_only_a_teammate_is_found_while_in_view():
    w = world("0.....1...\n..........\n..........", known_only=True)
    assert run(w, go(w, Target.agent, 1)) == {0: ("out_of_sight agent 1", 0)}
    run(w, {1: Move(direction=Direction.left, steps=2)})
    assert run(w, go(w, Target.agent, 1)) == {0: ("success", 3)}


def test_an_observation_lists_what_can_be_reached_with_its_rules():
    w = world("......\n.0.T..\n..#i#.\n......\n~.....", {0: {Item.wood_pickaxe: 1}}, level="medium")
    seen = w.observe(0)
    hints = {hint.kind: hint for hint in (*seen.tasks, *seen.supplies)}
    assert (hints["tree"].id, hints["tree"].distance, hints["tree"].ready) == (number(w, (3, 1)), 0, True)
    assert (hints["iron"].ready, hints["stone"].ready) == (False, True)
    assert seen.cooperation.points["stone"] == 15
    assert hints["water"].distance == 3
    assert seen.visible["iron"] == (number(w, (3, 2)),)
    assert "grass" not in seen.visible
    assert seen.cooperation.agents == {"wood": 1, "stone": 1, "coal": 1, "iron": 1, "diamond": 1}


def test_thresholds_in_the_observation_are_those_of_the_level_and_the_team():
    w = world("0.1\n...\n2..", level="hard")
    assert w.observe(0).cooperation.agents == {"wood": 1, "stone": 2, "coal": 2, "iron": 3, "diamond": 3}
    assert w.observe(0).cooperation.craft_agents == 2


def test_frontiers_name_the_nearest_edge_in_each_direction():
    w = world(LONG)
    (edge,) = w.observe(0).frontiers
    assert (edge.direction, edge.cell, edge.distance) == ("right", (4, 1), 4)


def test_an_observation_is_json_and_can_be_read_back():
    w = world("..C...\n.0.T..\n..#i#1\n......")
    seen = w.observe(0)
    assert TypeAdapter(CrafterObservation).validate_json(orjson.dumps(seen)) == seen
    global_observation = w.global_observation()
    assert global_observation.cell is None
    assert global_observation.map.rows[1] == ".0.T.."
    assert [teammate.agent for teammate in global_observation.teammates] == ["agent_0", "agent_1"]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_first_step_is_one_of_a_shortest_way(seed, hopeful):
    """Against a breadth-first search in plain Python."""
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(3, 12)), int(rng.integers(3, 12)))
    known = rng.choice([0, 2, 2, 2, 3], size=size).astype(np.uint8)
    occupants = (rng.random(size) < 0.1).astype(np.int16)
    x, y = int(rng.integers(size[0])), int(rng.integers(size[1]))
    occupants[x, y] = 0
    goal = int(rng.integers(size[0])), int(rng.integers(size[1]))
    field, queue = np.empty(size, dtype=np.int32), np.empty((size[0] * size[1], 2), dtype=np.int64)
    mask = sight.HOPEFUL_MASK if hopeful else sight.SEEN_MASK
    step = sight.next_step(known, occupants, mask, x, y, np.array([goal]), field, queue)

    def free(cell):
        in_view = abs(cell[0] - x) <= 4 and abs(cell[1] - y) <= 3
        inside = 0 <= cell[0] < size[0] and 0 <= cell[1] < size[1]
        return inside and known[cell] in ((0, 2) if hopeful else (2,)) and not (in_view and occupants[cell])

    def lengths(start):
        found, edge = {start: 0}, deque([start])
        while edge:
            u, v = edge.popleft()
            for neighbour in ((u, v - 1), (u, v + 1), (u - 1, v), (u + 1, v)):
                if free(neighbour) and neighbour not in found:
                    found[neighbour] = found[u, v] + 1
                    edge.append(neighbour)
        return found

    ways = lengths((x, y))
    if goal == (x, y):
        assert step == 0
    elif goal not in ways:
        assert step == sight.NO_WAY
    else:
        dx, dy = {3: (0, -1), 4: (0, 1), 1: (-1, 0), 2: (1, 0)}[step]
        assert free((x + dx, y + dy))
        assert lengths((x + dx, y + dy))[goal] == ways[goal] - 1


@pytest.mark.parametrize("oracle", [False, True])
def test_a_dead_agent_sees_no_more(oracle):
    w = world(LONG, oracle_map=oracle)
    w.env.crafter_state.inventory[0, Item.health] = 0
    advance(w)
    seen = w.observe(0)
    assert (seen.alive, seen.visible, seen.tasks, seen.frontiers) == (False, {}, (), ())


def test_teammates_are_listed_nearest_first_and_the_rest_is_counted():
    w = world("0..1.....2\n..........\n...3......", text={"max_agents": 2})
    seen = w.observe(0)
    assert [t.agent for t in seen.teammates] == ["agent_1", "agent_3"]
    assert (seen.last_seen, seen.agents_not_shown) == ((), 0)
    alone = world("0..1.....2\n..........\n...3......", text={"max_agents": 1}).observe(0)
    assert ([t.agent for t in alone.teammates], alone.agents_not_shown) == (["agent_1"], 1)
    run(w, {2: Move(direction=Direction.left, steps=5)})
    run(w, {3: Move(direction=Direction.right, steps=6)})
    seen = w.observe(0)
    assert [t.agent for t in seen.teammates] == ["agent_1", "agent_2"]
    assert (seen.last_seen, seen.agents_not_shown) == ((), 1)
    assert seen.shown()["you"]["agents_not_shown"] == 1
    assert len(w.observe(1).teammates) == 2
    assert len(w.global_observation().teammates) == 4, "who has no body sees all"


@pytest.mark.parametrize("agent", [0, 1, 2, None])
def test_what_a_prompt_shows_is_read_back_with_all_that_a_plan_needs(agent):
    w = world(None, n=3, level="hard", switches={})
    for step in range(40):
        advance(w, {a: (step + a) % 6 for a in range(3)})
    seen = w.observe(agent) if agent is not None else w.global_observation()
    shown = write_json(seen)
    again = read_shown(orjson.loads(shown), w.prompt_facts(), 3)
    assert write_json(again) == shown
    found_elsewhere = {"agent", "facing", "entities", "tasks", "supplies", "frontiers", "history"}
    kept = {f.name for f in fields(seen)} - found_elsewhere
    assert {key: getattr(again, key) for key in kept} == {key: getattr(seen, key) for key in kept}
    order = [(e.id, e.kind, e.cell) for e in seen.entities]
    assert [(e.id, e.kind, e.cell) for e in again.entities] == (order if agent is not None else sorted(order))
    for name in ("tasks", "supplies", "frontiers"):
        assert set(getattr(again, name)) == set(getattr(seen, name))


def test_a_prompt_shows_nothing_that_is_empty_or_full_and_the_ids_of_ore_behind_stone():
    w = world("0....\n#####\n#####\n##i##")
    shown = w.observe(0).shown()
    assert set(shown) == {"now", "you"}
    assert set(shown["you"]) == {"cell", "map", "visible", "tasks"}
    assert shown["you"]["visible"] == {"iron": [number(w, (2, 3))]}
    w.env.crafter_state.inventory[0, Item.food] = 4
    advance(w)
    assert w.observe(0).shown()["you"]["vitals"] == {"food": 4}


@pytest.mark.parametrize("n", [1, 2, 5])
def test_what_rules_tell_of_a_large_team_is_read_as_it_holds_for_this_one(n):
    w = world(None, n=n, level="hard", switches={"sharing": False})
    seen = w.observe(0)
    assert read_shown(orjson.loads(write_json(seen)), w.prompt_facts(), n).cooperation == seen.cooperation
