"""Actions, materials, items, achievements and recipes of the open world.

Positions are `(x, y)`: x counts columns to the right, y rows downward, and `(0, 0)` is the top-left cell. Arrays over
the map are indexed `[x, y]`; only pictures are `[row, col]`. Numbers and names are those of Crafter 1.8.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

Cell = tuple[int, int]
"""A cell of the map, `(x, y)`."""

VIEW: Cell = (9, 7)
"""Columns and rows of the local view, with the agent in the middle."""
CHUNK = 12
"""Edge length, in cells, of the squares in which animals and monsters are balanced."""
DAY = 300
"""Length of a day in steps."""


class Action(IntEnum):
    """A primitive action; `share` exists if the profile allows it, and takes three more numbers."""

    noop = 0
    move_left = 1
    move_right = 2
    move_up = 3
    move_down = 4
    do = 5
    sleep = 6
    place_stone = 7
    place_table = 8
    place_furnace = 9
    place_plant = 10
    make_wood_pickaxe = 11
    make_stone_pickaxe = 12
    make_iron_pickaxe = 13
    make_wood_sword = 14
    make_stone_sword = 15
    make_iron_sword = 16
    share = 17


class Material(IntEnum):
    """Material of a cell; `none` lies outside the map."""

    none = 0
    water = 1
    grass = 2
    stone = 3
    path = 4
    sand = 5
    tree = 6
    lava = 7
    coal = 8
    iron = 9
    diamond = 10
    table = 11
    furnace = 12


class Entity(IntEnum):
    """Occupant of a cell; the values continue those of `Material`, as in Crafter's semantic map."""

    none = 0
    player = 13
    cow = 14
    zombie = 15
    skeleton = 16
    arrow = 17
    plant = 18
    ripe_plant = 19
    """An edible plant, in observations."""


class Item(IntEnum):
    """Items and needs of an agent, in inventory order; the first four are the needs."""

    health = 0
    food = 1
    drink = 2
    energy = 3
    sapling = 4
    wood = 5
    stone = 6
    coal = 7
    iron = 8
    diamond = 9
    wood_pickaxe = 10
    stone_pickaxe = 11
    iron_pickaxe = 12
    wood_sword = 13
    stone_sword = 14
    iron_sword = 15


NEEDS = (Item.health, Item.food, Item.drink, Item.energy)
NEED_MAX = 9
"""Initial and maximum amount of each need."""


class Achievement(IntEnum):
    """Achievements of an agent; each is a counter."""

    collect_coal = 0
    collect_diamond = 1
    collect_drink = 2
    collect_iron = 3
    collect_sapling = 4
    collect_stone = 5
    collect_wood = 6
    defeat_skeleton = 7
    defeat_zombie = 8
    eat_cow = 9
    eat_plant = 10
    make_iron_pickaxe = 11
    make_iron_sword = 12
    make_stone_pickaxe = 13
    make_stone_sword = 14
    make_wood_pickaxe = 15
    make_wood_sword = 16
    place_furnace = 17
    place_plant = 18
    place_stone = 19
    place_table = 20
    wake_up = 21


class Result(IntEnum):
    """Result of an agent's action; its numbers are the fields of `Outcome`."""

    nothing = 0
    """A no-op."""
    moved = 1
    blocked = 2
    """The move leads off the map (`target` none), into a material or into an entity (`target`)."""
    collected = 3
    """By `do`: `amount` units of `item`, the first kind if there are several."""
    too_few_agents = 4
    """`present` agents aimed at the cell or made the item, `capable` of them could, `required` were needed."""
    missing_tool = 5
    """The agent lacks `item`; `required`, `present` and `capable` count agents as above."""
    nothing_there = 6
    """`do` found nothing within reach."""
    no_luck = 7
    """The grass yielded no sapling this time."""
    hit = 8
    """Hit an animal or a monster (`target`) for `amount`; it survives."""
    defeated = 9
    ate = 10
    not_ripe = 11
    placed = 12
    no_place = 13
    """The faced cell is occupied, or its material (`target`) does not support the object."""
    missing_input = 14
    """`required` units of `item` are needed, `present` are in the bag; in a joint craft, the leader's bag."""
    crafted = 15
    """Made with inputs from the bag of agent `other`."""
    no_station = 16
    """No `target` (table or furnace) is next to the agent."""
    shared = 17
    """Shared `amount` of `item` with agent `other`."""
    not_held = 18
    """The agent has none of the `required` units of `item` that it wants to share."""
    unknown_recipient = 19
    """Agent `other` does not exist; there are `present` agents, counted from 0."""
    recipient_dead = 20
    recipient_far = 21
    """Agent `other` is `present` cells away; `required` are allowed."""
    recipient_full = 22
    not_shareable = 23
    """Sharing health, sharing with oneself, sharing less than one unit, or any sharing if the profile has none."""
    asleep = 24
    """The agent is asleep or has fallen asleep."""
    not_tired = 25
    """The agent chose `sleep` with full energy."""
    dead = 26


FAILURES = frozenset(Result) - {
    Result.nothing,
    Result.moved,
    Result.collected,
    Result.hit,
    Result.defeated,
    Result.ate,
    Result.placed,
    Result.crafted,
    Result.shared,
    Result.asleep,
}
"""Results of actions that had no effect but were meant to."""

WALKABLE = (Material.grass, Material.path, Material.sand)
ARROW_FLIES_OVER = (*WALKABLE, Material.water, Material.lava)


@dataclass(frozen=True, slots=True)
class CollectRecipe:
    """Result of `do` on a cell."""

    item: Item
    tool: Item | None
    leaves: Material
    achievement: Achievement
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class PlaceRecipe:
    """Inputs of placing, and where it is allowed; `puts` is a material or the plant."""

    item: Item
    amount: int
    where: tuple[Material, ...]
    puts: Material | Entity
    achievement: Achievement


@dataclass(frozen=True, slots=True)
class MakeRecipe:
    """Inputs of a tool, and the stations that must be near."""

    item: Item
    uses: tuple[tuple[Item, int], ...]
    stations: tuple[Material, ...]
    achievement: Achievement


COLLECT: dict[Material, CollectRecipe] = {
    Material.tree: CollectRecipe(Item.wood, None, Material.grass, Achievement.collect_wood),
    Material.stone: CollectRecipe(Item.stone, Item.wood_pickaxe, Material.path, Achievement.collect_stone),
    Material.coal: CollectRecipe(Item.coal, Item.wood_pickaxe, Material.path, Achievement.collect_coal),
    Material.iron: CollectRecipe(Item.iron, Item.stone_pickaxe, Material.path, Achievement.collect_iron),
    Material.diamond: CollectRecipe(Item.diamond, Item.iron_pickaxe, Material.path, Achievement.collect_diamond),
    Material.water: CollectRecipe(Item.drink, None, Material.water, Achievement.collect_drink),
    Material.grass: CollectRecipe(Item.sapling, None, Material.grass, Achievement.collect_sapling, 0.1),
}

PLACE: dict[Action, PlaceRecipe] = {
    Action.place_stone: PlaceRecipe(
        Item.stone, 1, (*WALKABLE, Material.water, Material.lava), Material.stone, Achievement.place_stone
    ),
    Action.place_table: PlaceRecipe(Item.wood, 2, WALKABLE, Material.table, Achievement.place_table),
    Action.place_furnace: PlaceRecipe(Item.stone, 4, WALKABLE, Material.furnace, Achievement.place_furnace),
    Action.place_plant: PlaceRecipe(Item.sapling, 1, (Material.grass,), Entity.plant, Achievement.place_plant),
}

_WOOD = ((Item.wood, 1),)
_STONE = ((Item.wood, 1), (Item.stone, 1))
_IRON = ((Item.wood, 1), (Item.coal, 1), (Item.iron, 1))
_TABLE = (Material.table,)
_BOTH = (Material.table, Material.furnace)

MAKE: dict[Action, MakeRecipe] = {
    Action.make_wood_pickaxe: MakeRecipe(Item.wood_pickaxe, _WOOD, _TABLE, Achievement.make_wood_pickaxe),
    Action.make_stone_pickaxe: MakeRecipe(Item.stone_pickaxe, _STONE, _TABLE, Achievement.make_stone_pickaxe),
    Action.make_iron_pickaxe: MakeRecipe(Item.iron_pickaxe, _IRON, _BOTH, Achievement.make_iron_pickaxe),
    Action.make_wood_sword: MakeRecipe(Item.wood_sword, _WOOD, _TABLE, Achievement.make_wood_sword),
    Action.make_stone_sword: MakeRecipe(Item.stone_sword, _STONE, _TABLE, Achievement.make_stone_sword),
    Action.make_iron_sword: MakeRecipe(Item.iron_sword, _IRON, _BOTH, Achievement.make_iron_sword),
}
"""Recipes with the stations of the profiles `crafter` and `coop`; see `Profile.iron_needs_table`."""

DISPLACEMENT: dict[Action, Cell] = {
    Action.move_left: (-1, 0),
    Action.move_right: (1, 0),
    Action.move_up: (0, -1),
    Action.move_down: (0, 1),
}
