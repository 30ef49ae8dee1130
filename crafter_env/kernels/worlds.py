"""The kernels that Python calls: they start worlds and step them.

One call covers a batch; a single environment is a batch of one. Nothing in a step allocates or visits all cells:
objects are found through their table, habitats through the counts of their chunks.
"""

from __future__ import annotations

from typing import Any, Final

from crafter_env.constants import Entity, Item
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ByteArray, Ends, FlagArray, IntArray, Views, World
from crafter_env.kernels.collecting import collect
from crafter_env.kernels.crafting import craft, share_items
from crafter_env.kernels.creatures import EVERY, balance, update_creature
from crafter_env.kernels.generation import generate_terrain, place_agent, populate, spawn
from crafter_env.kernels.grid import (
    add_object,
    close_up,
    inside,
    material_at,
    nearest_distance,
    remove_object,
    set_material,
    slot_at,
)
from crafter_env.kernels.jit import compiled, inner
from crafter_env.kernels.living import RIPE_AGE, choose_actions, update_player
from crafter_env.kernels.masking import write_masks
from crafter_env.kernels.mt19937 import seed_generator
from crafter_env.kernels.rules import CENTRE_X, CENTRE_Y, GOAL, MAX_STEPS, SPAWN, SPAWN_CENTRE, UPDATE_RADIUS, daylight

daylight_at: Final = inner(daylight)
_HEALTH: Final = int(Item.health)
_PLANT: Final = int(Entity.plant)
_RIPE_PLANT: Final = int(Entity.ripe_plant)


@compiled
def begin_world(seed: int, rules: IntArray, w: World, *scratch: Any) -> int:
    """Generate one world and put the agents in it. Source: Crafter 1.8.3, `worldgen.py`.

    Args:
        seed: Seed of the world; see `crafter_env.state.world_seed`.
        rules: See `rules.encode_rules`.
        w: Its arrays; all are written.
        scratch: Noise (3, 256), fields (11, W, H), tunnels (W, H), marks (W, H) and a queue (W H, 2).

    Returns:
        -1; or the number of agents that fit, if it is too small.
    """
    noise, fields, tunnels, marks, queue = scratch
    # The order of these calls is the order of draws: noise, terrain, creatures, agents.
    _clear(w, seed)
    if rules[SPAWN] == SPAWN_CENTRE:
        place_agent(w, 0, rules[CENTRE_X], rules[CENTRE_Y])
    generate_terrain(w, rules, noise, fields, marks, tunnels)
    populate(w, rules, tunnels)
    return spawn(w, rules, marks, queue)


@compiled
def begin_layout(seed: int, drawn: ByteArray, cells: IntArray, creatures: IntArray, w: World) -> None:
    """Set up one world from a layout.

    Args:
        seed: Seed of the world's generator.
        drawn: Shape (W, H): materials.
        cells: Shape (n, 2): the cell of each agent.
        creatures: Shape (k, 4): `Entity`, x, y and health of each other object.
        w: Its arrays; all are written.
    """
    _clear(w, seed)
    for x in range(drawn.shape[0]):
        for y in range(drawn.shape[1]):
            set_material(w, x, y, drawn[x, y])
    for agent in range(cells.shape[0]):
        place_agent(w, agent, cells[agent, 0], cells[agent, 1])
    for k in range(creatures.shape[0]):
        add_object(w, creatures[k, 0], creatures[k, 1], creatures[k, 2], creatures[k, 3])


@compiled
def step_worlds(actions: IntArray, begins: FlagArray, rules: IntArray, *batch: Any) -> None:
    """Advance B worlds, each by its own joint action, and write the agents' views.

    Args:
        actions: Shape (B, n, 4): an `Action`, and the recipient, item and quantity of a share, otherwise ignored.
        begins: Shape (B,): worlds that have just started an episode; they take no step, and only their views are
            written.
        rules: See `rules.encode_rules`.
        batch: The fields of `Ends`, `Views` and `World`, in their order; all are written.
    """
    rewards, terminations, truncations, seen_materials, seen_entities, poses, daylight, masks = batch[:8]
    materials, occupants, objects, agents, chunks, counters, generator = batch[8:]
    # World by world, not kernel by kernel: one world's arrays stay in the cache for its whole step.
    for b in range(actions.shape[0]):
        w = World(materials[b], occupants[b], objects[b], agents[b], chunks[b], counters[b], generator[b])
        ends = Ends(rewards[b], terminations[b], truncations[b])
        if begins[b]:
            _begin_ends(ends)
        else:
            _step(w, rules, actions[b])
            _end_step(w, rules, ends)
        _show(w, Views(seen_materials[b], seen_entities[b], poses[b], daylight[b], masks[b]))
        if masks.shape[2] > 0:
            write_masks(w, rules, masks[b])


@inner
def _clear(w: World, seed: int) -> None:
    # Overwrite everything: an array may come from an episode with another map.
    seed_generator(w.generator, seed)
    w.materials[:] = 0
    w.occupants[:] = 0
    w.chunks[:] = 0
    w.agents[:] = 0
    w.agents[:, arrays.OUTCOME :] = -1
    w.counters[:] = 0
    w.counters[arrays.SLOTS] = w.agents.shape[0]


@inner
def _step(w: World, rules: IntArray, actions: IntArray) -> None:
    """Resolve joint actions, then update every object near an agent in order, then balance the chunks."""
    w.counters[arrays.STEP] += 1
    # Actions that need several agents are resolved first, against the state before the step, in agent order. In a team
    # of one, these calls do and draw what `Player.update` does.
    choose_actions(w, actions)
    share_items(w, rules, actions)
    collect(w, rules)
    craft(w, rules)
    for slot in range(w.counters[arrays.SLOTS]):
        if w.objects[slot, arrays.KIND] == 0:
            continue
        # `Env.step` updates only objects near the player; here, near any living agent. Distant objects draw nothing.
        if nearest_distance(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y]) >= rules[UPDATE_RADIUS]:
            continue
        if slot < w.agents.shape[0]:
            update_player(w, rules, slot)
        else:
            update_creature(w, rules, slot)
    # Crafter balances in every tenth step, after all updates, by the light of this step.
    if w.counters[arrays.STEP] % EVERY == 0:
        balance(w, rules, daylight_at(w.counters[arrays.STEP]))
    close_up(w)


@inner
def _begin_ends(ends: Ends) -> None:
    ends.rewards[:] = 0.0
    ends.terminations[:] = False
    ends.truncations[:] = False


@inner
def _end_step(w: World, rules: IntArray, ends: Ends) -> None:
    """Write rewards, deaths, the goal, and the step limit."""
    _begin_ends(ends)
    reached = False
    for agent in range(w.agents.shape[0]):
        if not w.agents[agent, arrays.ALIVE]:
            continue
        # A tenth per unit of health, and 1 for new achievements, however many came at once: `Env.step`.
        health = w.agents[agent, arrays.INVENTORY + _HEALTH]
        ends.rewards[agent] = (health - w.agents[agent, arrays.REWARDED_HEALTH]) / 10 + _unlock(w, agent)
        w.agents[agent, arrays.REWARDED_HEALTH] = health
        reached = reached or (rules[GOAL] >= 0 and w.agents[agent, arrays.ACHIEVED + rules[GOAL]] > 0)
        # Rewards need only health and achievements, so bodies can leave the map in the same pass.
        if health <= 0:
            ends.terminations[agent] = True
            w.agents[agent, arrays.ALIVE] = 0
            remove_object(w, agent)
    for agent in range(w.agents.shape[0]):
        if w.agents[agent, arrays.ALIVE]:
            ends.terminations[agent] = reached
            ends.truncations[agent] = not reached and w.counters[arrays.STEP] >= rules[MAX_STEPS]


@inner
def _unlock(w: World, agent: int) -> float:
    """Return 1 if an agent has reached at least one achievement for the first time."""
    unlocked = w.agents[agent, arrays.UNLOCKED]
    for achievement in range(arrays.ACHIEVEMENTS):
        if w.agents[agent, arrays.ACHIEVED + achievement] > 0:
            unlocked |= 1 << achievement
    new = unlocked != w.agents[agent, arrays.UNLOCKED]
    w.agents[agent, arrays.UNLOCKED] = unlocked
    return 1.0 if new else 0.0


@inner
def _show(w: World, views: Views) -> None:
    """Write each agent's view; a dead agent sees nothing."""
    light = daylight_at(w.counters[arrays.STEP])
    columns, rows = views.materials.shape[1], views.materials.shape[2]
    for agent in range(w.agents.shape[0]):
        views.daylight[agent, 0] = light
        views.poses[agent, arrays.POSE_X] = w.objects[agent, arrays.X]
        views.poses[agent, arrays.POSE_Y] = w.objects[agent, arrays.Y]
        views.poses[agent, arrays.POSE_FACING_X] = w.agents[agent, arrays.FACING_X]
        views.poses[agent, arrays.POSE_FACING_Y] = w.agents[agent, arrays.FACING_Y]
        views.poses[agent, arrays.POSE_SLEEPING] = w.agents[agent, arrays.SLEEPING]
        left, top = w.objects[agent, arrays.X] - columns // 2, w.objects[agent, arrays.Y] - rows // 2
        for i in range(columns):
            for j in range(rows):
                material = entity = 0
                if w.agents[agent, arrays.ALIVE] and inside(w, left + i, top + j):
                    material = material_at(w, left + i, top + j)
                    entity = _entity_at(w, left + i, top + j)
                views.materials[agent, i, j] = material
                views.entities[agent, i, j] = entity


@inner
def _entity_at(w: World, x: int, y: int) -> int:
    slot = slot_at(w, x, y)
    if slot < 0:
        return 0
    kind = w.objects[slot, arrays.KIND]
    return _RIPE_PLANT if kind == _PLANT and w.objects[slot, arrays.TIMER] > RIPE_AGE else kind
