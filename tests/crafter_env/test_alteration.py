"""An open world that is changed in the middle of an episode: bodies, bags and cells, and what agents know of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crafter_env import Action, CrafterEnv, Entity, Item, Material, WorldError
from crafter_env.alteration import same
from crafter_env.constants import CHUNK, WALKABLE
from crafter_env.kernels import arrays
from crafter_env.symbolic.actions import Collect, Navigate
from maeil.actions import ActionStatus
from tests.crafter_env.joined import world

MAP = """
    0...T.....
    ..........
    1...#.....
    ~.........
    """


def started(seed: int, steps: int) -> CrafterEnv:
    """A generated world with creatures, in the middle of an episode."""
    env = CrafterEnv(3, profile="coop", infos="none", max_steps=500)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        env.step({agent: np.array([int(rng.integers(1, 5)), 0, 0, 1]) for agent in env.agents})
    return env


def assert_sound(env: CrafterEnv) -> None:
    """Hold the bookkeeping against what it counts, cell by cell."""
    state = env.crafter_state
    w = state.world
    used = int(w.counters[arrays.SLOTS])
    cells = {
        tuple(row[[arrays.X, arrays.Y]]): slot + 1 for slot, row in enumerate(w.objects[:used]) if row[arrays.KIND]
    }
    assert {tuple(cell): int(w.occupants[tuple(cell)]) for cell in np.argwhere(w.occupants)} == cells
    rows = arrays.chunk_rows(state.size[1])
    for column in range(0, state.size[0], CHUNK):
        for row in range(0, state.size[1], CHUNK):
            part = w.materials[column : column + CHUNK, row : row + CHUNK]
            counts = w.chunks[column // CHUNK * rows + row // CHUNK]
            assert counts[arrays.GRASS] == (part == Material.grass).sum()
            assert counts[arrays.PATHS] == (part == Material.path).sum()
    order = w.chunks[: w.counters[arrays.VISITED_CHUNKS], arrays.VISITED_AT].tolist()
    assert sorted(order) == np.flatnonzero(w.chunks[:, arrays.VISITED]).tolist()


near = st.tuples(st.integers(20, 44), st.integers(20, 44))
values = st.fixed_dictionaries(
    {},
    optional={
        "cell": near.map(list),
        "needs": st.dictionaries(st.sampled_from(["health", "food", "energy"]), st.integers(0, 10), max_size=2),
        "inventory": st.dictionaries(
            st.sampled_from(["wood", "iron", "stone_pickaxe"]), st.integers(0, 10), max_size=2
        ),
    },
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "agents": st.dictionaries(st.sampled_from(["agent_0", "agent_1", "agent_2"]), values, max_size=2),
        "cells": st.dictionaries(
            near.map("{0[0]},{0[1]}".format),
            st.sampled_from(["grass", "path", "stone", "water", "table", "lava"]),
            max_size=3,
        ),
    },
)


def can_be(env: CrafterEnv, change: dict[str, Any]) -> bool:
    """Whether there can be such a state; written without the package."""
    state = env.crafter_state
    stands = {agent: tuple(state.positions[agent].tolist()) for agent in range(3)}
    there = dict(stands)
    for name, found in change.get("agents", {}).items():
        there[int(name[6:])] = tuple(found.get("cell", stands[int(name[6:])]))
        needs, bag = found.get("needs", {}), found.get("inventory", {})
        if needs.get("health", 1) < 1 or any(units > 9 for units in (*needs.values(), *bag.values())):
            return False
    cells = {tuple(map(int, name.split(","))): Material[kind] for name, kind in change.get("cells", {}).items()}
    cells = {cell: kind for cell, kind in cells.items() if state.materials[cell] != kind}
    left = {cell for agent, cell in stands.items() if there[agent] != cell}
    creatures = {creature.cell for creature in state.creatures()}
    if any(cell in creatures or cell in set(stands.values()) - left for cell in cells):
        return False
    if len(set(there.values())) < len(there):
        return False
    arrived = {cell for agent, cell in there.items() if cell != stands[agent]}
    return all(cells.get(cell, state.materials[cell]) in WALKABLE and cell not in creatures for cell in arrived)


@given(seed=st.integers(0, 5), steps=st.integers(0, 10), change=changes)
def test_a_change_gives_the_state_that_it_names_or_is_refused_and_leaves_all_as_it_is(
    seed: int, steps: int, change: dict[str, Any]
) -> None:
    env = started(seed, steps)
    before = env.crafter_state.copy()
    if not can_be(env, change):
        with pytest.raises(WorldError):
            env.change(change)
        assert same(before, env.crafter_state)
        return
    changed = env.change(change)
    state = env.crafter_state
    assert changed == (not same(before, state))
    assert not env.change(change)
    assert_sound(env)
    for name, found in change.get("agents", {}).items():
        agent = int(name[6:])
        assert state.positions[agent].tolist() == list(found.get("cell", before.positions[agent].tolist()))
        for item, units in (found.get("needs", {}) | found.get("inventory", {})).items():
            assert state.inventory[agent, Item[item]] == units
    for cell, kind in change.get("cells", {}).items():
        assert state.materials[tuple(map(int, cell.split(",")))] == Material[kind]
    env.step({agent: np.array([0, 0, 0, 1]) for agent in env.agents})
    assert_sound(env)


def test_a_change_to_what_is_so_already_is_none() -> None:
    env = started(1, 8)
    state = env.crafter_state
    agents = {
        f"agent_{i}": {
            "cell": state.positions[i].tolist(),
            "needs": {item.name: int(state.inventory[i, item]) for item in Item if item <= Item.energy},
            "inventory": {item.name: int(state.inventory[i, item]) for item in Item if item > Item.energy},
        }
        for i in range(3)
    }
    assert not env.change({"agents": agents, "cells": {"3,4": Material(state.materials[3, 4]).name}})


def test_a_walk_to_another_chunk_and_a_change_to_there_leave_the_same_books() -> None:
    drawing = "\n".join("." * CHUNK + "." * CHUNK if y else "." * (CHUNK - 1) + "0" + "." * CHUNK for y in range(4))
    walked, put = world(drawing), world(drawing)
    walked.step([Action.move_right])
    put.change({"agents": {"agent_0": {"cell": [CHUNK, 0]}}})
    one, other = walked.env.crafter_state.world, put.env.crafter_state.world
    assert (one.chunks == other.chunks).all()
    assert (one.counters[1:] == other.counters[1:]).all()
    assert (one.objects[:1] == other.objects[:1]).all()


def test_health_that_is_given_is_no_reward_and_wakes_nobody() -> None:
    w = world(MAP)
    w.change({"agents": {"agent_0": {"needs": {"health": 4}}}})
    assert w.step([0, 0]).reward == 0.0
    assert w.observe(0).needs["health"] == 4


def test_agents_see_what_is_new_in_view_and_remember_what_is_not() -> None:
    far = "0" + "." * 11 + "T"
    w = world(f"{far}\n" + "." * 13 + "\n" + "." * 13, known_only=True)
    w.change({"cells": {"2,0": "stone", "12,0": "stone"}})
    assert w._episode.known(0, (2, 0)) is Material.stone
    assert w._episode.known(0, (12, 0)) is Material.none
    w.change({"agents": {"agent_0": {"cell": [10, 0]}}})
    assert w._episode.known(0, (12, 0)) is Material.stone
    w.change({"cells": {"2,0": "grass"}})
    assert w._episode.known(0, (2, 0)) is Material.stone, "it was seen as that last, and is out of view"


def test_actions_whose_premises_are_gone_end_as_they_do_when_others_take_them() -> None:
    w = world(MAP)
    tree = w._episode.id_of((4, 0))
    walker = w.start_action(0, Navigate(target="tree", id=tree))
    assert walker.status() is None
    w.change({"cells": {"4,0": "grass"}})
    end = walker.status()
    assert end is not None
    assert (end.status, end.reason.split()[0]) == (ActionStatus.FAILED, "gone")
    collector = w.start_action(1, Collect(resource="wood"))
    w.change({"cells": {"1,2": "tree"}})
    assert collector.status() is None
    assert [state.task.target for state in w.constraints([0, 0], [None] * 2) if state.threshold] != []


def test_what_an_agent_has_come_to_hold_is_told_with_the_next_step() -> None:
    w = world(MAP)
    w.change({"agents": {"agent_1": {"inventory": {"stone_pickaxe": 1}}}})
    reported = [(c.agent, c.capability, c.gained) for c in w.step([0, 0]).capabilities]
    assert reported == [(1, "stone_pickaxe", True)]


REFUSED = {
    "daylight: it cannot be changed; you can change agents, cells": {"daylight": 0.5},
    "agents.agent_7: no such agent": {"agents": {"agent_7": {}}},
    "agents.agent_0.sleeping: it cannot be changed": {"agents": {"agent_0": {"sleeping": True}}},
    "agents.agent_0.cell: .* is not a cell": {"agents": {"agent_0": {"cell": [1]}}},
    r"agents.agent_0.cell: \(99, 0\) is off the map": {"agents": {"agent_0": {"cell": [99, 0]}}},
    r"agents.agent_0.cell: \(0, 3\) is water": {"agents": {"agent_0": {"cell": [0, 3]}}},
    r"agents.agent_0.cell: agent_1 is on \(0, 2\)": {"agents": {"agent_0": {"cell": [0, 2]}}},
    "agents.agent_0.needs.health: 0 is not an integer from 1 to 9": {"agents": {"agent_0": {"needs": {"health": 0}}}},
    "agents.agent_0.needs.wood: not one of health": {"agents": {"agent_0": {"needs": {"wood": 1}}}},
    "agents.agent_0.inventory.wood: 99 is not": {"agents": {"agent_0": {"inventory": {"wood": 99}}}},
    "agents.agent_0.inventory: 3 is not an object": {"agents": {"agent_0": {"inventory": 3}}},
    "cells.here: not a cell": {"cells": {"here": "grass"}},
    "cells.1,1: 'none' is not one of": {"cells": {"1,1": "none"}},
    "cells.0,0: agent_0 is on this cell": {"cells": {"0,0": "stone"}},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_with_its_place(message: str) -> None:
    w = world(MAP)
    before = w.env.crafter_state.copy()
    with pytest.raises(WorldError, match=message):
        w.change(REFUSED[message])
    assert same(before, w.env.crafter_state)


def test_the_dead_do_not_come_back() -> None:
    w = world(MAP)
    w.env.crafter_state.inventory[0, Item.health] = 0
    w.step([0, 0])
    with pytest.raises(WorldError, match=r"agents\.agent_0: the agent is dead"):
        w.change({"agents": {"agent_0": {"needs": {"health": 5}}}})


def test_two_agents_can_change_places_and_leave_a_cell_that_becomes_stone() -> None:
    w = world(MAP)
    w.change({"agents": {"agent_0": {"cell": [0, 2]}, "agent_1": {"cell": [0, 0]}}})
    assert w.env.crafter_state.positions.tolist() == [[0, 2], [0, 0]]
    w.change({"agents": {"agent_0": {"cell": [3, 3]}}, "cells": {"0,2": "stone"}})
    assert w.env.crafter_state.entity_at((3, 3)) is Entity.player
    assert_sound(w.env)
