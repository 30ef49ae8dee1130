"""The kernels that Python calls: worlds begin, and worlds take a step.

One call covers a batch; a single environment is a batch of one. Nothing in a step allocates, and nothing visits all cells:
objects are found through their table, habitats through the counts of their chunks.
"""

from __future__ import annotations

from typing import Final

from crafter_env.arrays import (
    ACHIEVED,
    ACHIEVEMENTS,
    ACTION,
    ALIVE,
    FACING_X,
    FACING_Y,
    INVENTORY,
    ITEMS,
    KIND,
    OUTCOME,
    POSE_FACING_X,
    POSE_FACING_Y,
    POSE_SLEEPING,
    POSE_X,
    POSE_Y,
    QUANTITY,
    RECIPIENT,
    REWARDED_HEALTH,
    SHARED_ITEM,
    SLEEPING,
    SLOTS,
    STEP,
    TIMER,
    UNLOCKED,
    ByteArray,
    Ends,
    FlagArray,
    IntArray,
    LightArray,
    RealArray,
    SlotArray,
    Views,
    WordArray,
    World,
    X,
    Y,
)
from crafter_env.balance import EVERY, balance
from crafter_env.collecting import collect
from crafter_env.constants import Entity, Item
from crafter_env.crafting import craft
from crafter_env.daylight import daylight
from crafter_env.grid import (
    add_object,
    close_up,
    inside,
    material_at,
    nearest_distance,
    remove_object,
    set_material,
    slot_at,
)
from crafter_env.jit import compiled, inner
from crafter_env.living import RIPE_AGE, choose_actions, update_player
from crafter_env.mobs import update_creature
from crafter_env.mt19937 import seed_generator
from crafter_env.rules import CENTRE_X, CENTRE_Y, GOAL, MAX_STEPS, SHARING, SPAWN, SPAWN_CENTRE, UPDATE_RADIUS
from crafter_env.sharing import SHARE, share_items
from crafter_env.spawn import place_agent, spawn
from crafter_env.terrain import generate_terrain, populate

daylight_at: Final = inner(daylight)
_HEALTH: Final = int(Item.health)
_PLANT: Final = int(Entity.plant)
_RIPE_PLANT: Final = int(Entity.ripe_plant)


@compiled
def begin_world(  # noqa: PLR0917 (Numba takes loose arrays an order of magnitude faster than a tuple of them)
    seed: int,
    rules: IntArray,
    noise: IntArray,
    tunnels: FlagArray,
    marks: ByteArray,
    queue: IntArray,
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    chunks: IntArray,
    counters: IntArray,
    generator: WordArray,
) -> int:
    """Generate one world, and put the agents in it. Source: spec 5.8, and section 1 for several agents.

    Args:
        seed: Of the world; see `crafter_env.state.world_seed`.
        rules: See `rules.encode_rules`.
        noise: Scratch, shape (3, 256); so are the next three.
        tunnels: Shape (W, H).
        marks: Shape (W, H).
        queue: Shape (W H, 2).
        materials: This and the following are the fields of `World`, in its order; all are written.
        occupants: See `World`.
        objects: See `World`.
        agents: See `World`.
        chunks: See `World`.
        counters: See `World`.
        generator: See `World`.

    Returns:
        -1; or the number of agents for whom there is room, which is too small.
    """
    w = World(materials, occupants, objects, agents, chunks, counters, generator)
    _clear(w, seed)
    if rules[SPAWN] == SPAWN_CENTRE:
        place_agent(w, 0, rules[CENTRE_X], rules[CENTRE_Y])
    generate_terrain(w, rules, noise, tunnels)
    populate(w, rules, tunnels)
    return spawn(w, rules, marks, queue)


@compiled
def begin_layout(  # noqa: PLR0917 (see `begin_world`)
    seed: int,
    drawn: ByteArray,
    cells: IntArray,
    creatures: IntArray,
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    chunks: IntArray,
    counters: IntArray,
    generator: WordArray,
) -> None:
    """Lay one world out as drawn.

    Args:
        seed: Of the world's generator.
        drawn: Shape (W, H): materials.
        cells: Shape (n, 2): where each agent stands.
        creatures: Shape (k, 4): `Entity`, x, y and health of each other object.
        materials: This and the following are the fields of `World`, in its order; all are written.
        occupants: See `World`.
        objects: See `World`.
        agents: See `World`.
        chunks: See `World`.
        counters: See `World`.
        generator: See `World`.
    """
    w = World(materials, occupants, objects, agents, chunks, counters, generator)
    _clear(w, seed)
    for x in range(drawn.shape[0]):
        for y in range(drawn.shape[1]):
            set_material(w, x, y, drawn[x, y])
    for agent in range(cells.shape[0]):
        place_agent(w, agent, cells[agent, 0], cells[agent, 1])
    for k in range(creatures.shape[0]):
        add_object(w, creatures[k, 0], creatures[k, 1], creatures[k, 2], creatures[k, 3])


@compiled
def step_worlds(  # noqa: PLR0917 (see `begin_world`)
    actions: IntArray,
    begins: FlagArray,
    rules: IntArray,
    rewards: RealArray,
    terminations: FlagArray,
    truncations: FlagArray,
    seen_materials: ByteArray,
    seen_entities: ByteArray,
    poses: IntArray,
    daylight: LightArray,
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    chunks: IntArray,
    counters: IntArray,
    generator: WordArray,
) -> int:
    """Advance B worlds, each by its own joint action, and show the agents what has become of them.

    Args:
        actions: Shape (B, n, 4): the primitive, and the recipient, item and quantity of a share.
        begins: Shape (B,): worlds that have just begun an episode; they take no step, only their views are written.
        rules: See `rules.encode_rules`.
        rewards: Shape (B, n): this and the following two are the fields of `Ends`, written.
        terminations: See `Ends`.
        truncations: See `Ends`.
        seen_materials: Shape (B, n, 9, 7): this and the following three are the fields of `Views`, written.
        seen_entities: See `Views`.
        poses: See `Views`.
        daylight: See `Views`.
        materials: This and the following are the fields of `World`, in its order; all are written.
        occupants: See `World`.
        objects: See `World`.
        agents: See `World`.
        chunks: See `World`.
        counters: See `World`.
        generator: See `World`.

    Returns:
        -1; or, with nothing changed, the first (world x n + agent) whose action is out of range.
    """
    wrong = _first_wrong(actions, begins, rules)
    if wrong >= 0:
        return wrong
    for b in range(actions.shape[0]):
        w = World(materials[b], occupants[b], objects[b], agents[b], chunks[b], counters[b], generator[b])
        ends = Ends(rewards[b], terminations[b], truncations[b])
        if begins[b]:
            _begin_ends(ends)
        else:
            _step(w, rules, actions[b])
            _end_step(w, rules, ends)
        _show(w, Views(seen_materials[b], seen_entities[b], poses[b], daylight[b]))
    return -1


@inner
def _first_wrong(actions: IntArray, begins: FlagArray, rules: IntArray) -> int:
    agents = actions.shape[1]
    for b in range(actions.shape[0]):
        for agent in range(0 if begins[b] else agents):
            action = actions[b, agent, ACTION]
            allowed = 0 <= action < SHARE
            if action == SHARE and rules[SHARING]:
                allowed = 0 <= actions[b, agent, RECIPIENT] < agents and actions[b, agent, QUANTITY] > 0
                allowed = allowed and 0 <= actions[b, agent, SHARED_ITEM] < ITEMS
            if not allowed:
                return b * agents + agent
    return -1


@inner
def _clear(w: World, seed: int) -> None:
    seed_generator(w.generator, seed)
    w.materials[:] = 0
    w.occupants[:] = 0
    w.chunks[:] = 0
    w.agents[:] = 0
    w.agents[:, OUTCOME:] = -1
    w.counters[:] = 0
    w.counters[SLOTS] = w.agents.shape[0]


@inner
def _step(w: World, rules: IntArray, actions: IntArray) -> None:
    """What agents do together, then every object near an agent in its order, then the balance of the chunks."""
    w.counters[STEP] += 1
    choose_actions(w, actions)
    share_items(w, rules, actions)
    collect(w, rules)
    craft(w, rules)
    for slot in range(w.counters[SLOTS]):
        if w.objects[slot, KIND] == 0:
            continue
        if nearest_distance(w, w.objects[slot, X], w.objects[slot, Y]) >= rules[UPDATE_RADIUS]:
            continue
        if slot < w.agents.shape[0]:
            update_player(w, rules, slot)
        else:
            update_creature(w, slot)
    if w.counters[STEP] % EVERY == 0:
        balance(w, rules, daylight_at(w.counters[STEP]))
    close_up(w)


@inner
def _begin_ends(ends: Ends) -> None:
    ends.rewards[:] = 0.0
    ends.terminations[:] = False
    ends.truncations[:] = False


@inner
def _end_step(w: World, rules: IntArray, ends: Ends) -> None:
    """Rewards, deaths, the goal, and the limit of steps."""
    _begin_ends(ends)
    reached = False
    for agent in range(w.agents.shape[0]):
        if not w.agents[agent, ALIVE]:
            continue
        health = w.agents[agent, INVENTORY + _HEALTH]
        ends.rewards[agent] = (health - w.agents[agent, REWARDED_HEALTH]) / 10 + _unlock(w, agent)
        w.agents[agent, REWARDED_HEALTH] = health
        reached = reached or (rules[GOAL] >= 0 and w.agents[agent, ACHIEVED + rules[GOAL]] > 0)
        if health <= 0:
            ends.terminations[agent] = True
            w.agents[agent, ALIVE] = 0
            remove_object(w, agent)
    for agent in range(w.agents.shape[0]):
        if w.agents[agent, ALIVE]:
            ends.terminations[agent] = reached
            ends.truncations[agent] = not reached and w.counters[STEP] >= rules[MAX_STEPS]


@inner
def _unlock(w: World, agent: int) -> float:
    """1 when an agent has reached at least one achievement for the first time."""
    unlocked = w.agents[agent, UNLOCKED]
    for achievement in range(ACHIEVEMENTS):
        if w.agents[agent, ACHIEVED + achievement] > 0:
            unlocked |= 1 << achievement
    new = unlocked != w.agents[agent, UNLOCKED]
    w.agents[agent, UNLOCKED] = unlocked
    return 1.0 if new else 0.0


@inner
def _show(w: World, views: Views) -> None:
    """Write what each agent sees; a dead one sees nothing from where it fell."""
    views.daylight[0] = daylight_at(w.counters[STEP])
    columns, rows = views.materials.shape[1], views.materials.shape[2]
    for agent in range(w.agents.shape[0]):
        views.poses[agent, POSE_X] = w.objects[agent, X]
        views.poses[agent, POSE_Y] = w.objects[agent, Y]
        views.poses[agent, POSE_FACING_X] = w.agents[agent, FACING_X]
        views.poses[agent, POSE_FACING_Y] = w.agents[agent, FACING_Y]
        views.poses[agent, POSE_SLEEPING] = w.agents[agent, SLEEPING]
        left, top = w.objects[agent, X] - columns // 2, w.objects[agent, Y] - rows // 2
        for i in range(columns):
            for j in range(rows):
                material = entity = 0
                if w.agents[agent, ALIVE] and inside(w, left + i, top + j):
                    material = material_at(w, left + i, top + j)
                    entity = _entity_at(w, left + i, top + j)
                views.materials[agent, i, j] = material
                views.entities[agent, i, j] = entity


@inner
def _entity_at(w: World, x: int, y: int) -> int:
    slot = slot_at(w, x, y)
    if slot < 0:
        return 0
    kind = w.objects[slot, KIND]
    return _RIPE_PLANT if kind == _PLANT and w.objects[slot, TIMER] > RIPE_AGE else kind
