"""An explicit world: every cell, agent and creature, as data and as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import digits

import numpy as np

from crafter_env.constants import NEED_MAX, NEEDS, WALKABLE, Cell, Entity, Item, Material
from crafter_env.kernels.arrays import ByteArray, IntArray
from crafter_env.kernels.generation import COW_HEALTH, SKELETON_HEALTH, ZOMBIE_HEALTH
from quorum_base.environments.errors import LayoutError

MATERIAL_CHARACTERS: Mapping[str, Material] = {
    ".": Material.grass,
    "_": Material.path,
    ":": Material.sand,
    "~": Material.water,
    "!": Material.lava,
    "#": Material.stone,
    "T": Material.tree,
    "c": Material.coal,
    "i": Material.iron,
    "d": Material.diamond,
    "t": Material.table,
    "f": Material.furnace,
}
CREATURE_CHARACTERS: Mapping[str, Entity] = {
    "C": Entity.cow,
    "Z": Entity.zombie,
    "K": Entity.skeleton,
    "P": Entity.plant,
    "R": Entity.ripe_plant,
}
ARROW, UNNAMED_AGENT = "*", "@"
AGENT_CHARACTERS = digits
HEALTH: Mapping[Entity, int] = {
    Entity.cow: COW_HEALTH,
    Entity.zombie: ZOMBIE_HEALTH,
    Entity.skeleton: SKELETON_HEALTH,
    Entity.plant: 1,
    Entity.ripe_plant: 1,
}
SMALLEST_SIDE = 3

Inventory = Mapping[Item, int]


@dataclass(frozen=True)
class Layout:
    r"""A world as data. The constructor rejects impossible worlds.

    `Layout.parse` reads a drawing with one line per row: `.` grass, `_` path, `:` sand, `~` water, `!` lava, `#` stone,
    `T` tree, `c` coal, `i` iron, `d` diamond, `t` table, `f` furnace; `C` cow, `Z` zombie, `K` skeleton, `P` plant and
    `R` ripe plant; an agent is the digit of its index. There is grass under agents and creatures, and path under
    skeletons.

    Example:
        `Layout.parse("0.T\n.t.\n..1", inventories={1: {Item.wood: 3}})`

    Raises:
        LayoutError: The world is impossible; the message names the entity.
    """

    rows: tuple[tuple[Material, ...], ...]
    """Material of each cell: `rows[y][x]`."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index."""
    creatures: tuple[tuple[Entity, Cell], ...] = ()
    """Cows, zombies, skeletons and plants, in acting order."""
    inventories: tuple[Inventory, ...] = ()
    """Initial inventory of each agent, by index, besides full needs; trailing empty ones may be left out."""

    def __init__(
        self,
        rows: Iterable[Iterable[Material]],
        agents: Iterable[Cell],
        creatures: Iterable[tuple[Entity, Cell]] = (),
        inventories: Mapping[int, Inventory] | None = None,
    ) -> None:
        given = inventories or {}
        cells = tuple((int(x), int(y)) for x, y in agents)
        for agent in given:
            if not 0 <= agent < len(cells):
                raise LayoutError(f"inventories: there is no agent {agent}; the agents are 0 to {len(cells) - 1}")
        object.__setattr__(self, "rows", tuple(tuple(Material(m) for m in row) for row in rows))
        object.__setattr__(self, "agents", cells)
        object.__setattr__(self, "creatures", tuple((Entity(kind), (int(x), int(y))) for kind, (x, y) in creatures))
        object.__setattr__(self, "inventories", tuple(dict(given.get(agent, {})) for agent in range(len(cells))))
        _validate(self)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return len(self.rows[0]), len(self.rows)

    @classmethod
    def parse(cls, text: str, inventories: Mapping[int, Inventory] | None = None) -> Layout:
        """Read a drawing; blank lines around it and indentation are ignored.

        Raises:
            LayoutError: The text is not a world; the message gives line and column, counted from 1.
        """
        lines = [line.strip() for line in text.strip().splitlines()]
        rows: list[list[Material]] = []
        agents: dict[int, Cell] = {}
        creatures: list[tuple[Entity, Cell]] = []
        for y, line in enumerate(lines):
            rows.append([])
            for x, character in enumerate(line):
                material = MATERIAL_CHARACTERS.get(character, Material.grass)
                if character in CREATURE_CHARACTERS:
                    kind = CREATURE_CHARACTERS[character]
                    creatures.append((kind, (x, y)))
                    material = Material.path if kind == Entity.skeleton else Material.grass
                elif character in AGENT_CHARACTERS:
                    if int(character) in agents:
                        raise LayoutError(f"line {y + 1}, column {x + 1}: agent {character} is drawn twice")
                    agents[int(character)] = (x, y)
                elif character not in MATERIAL_CHARACTERS:
                    known = "".join((*MATERIAL_CHARACTERS, *CREATURE_CHARACTERS))
                    raise LayoutError(
                        f"line {y + 1}, column {x + 1}: {character!r} is not one of {known} or an agent's digit"
                    )
                rows[-1].append(material)
        missing = sorted(set(range(len(agents))) - set(agents))
        if missing:
            raise LayoutError(f"agent {max(agents)} is drawn, but agent {missing[0]} is not: number agents from 0")
        return cls(rows, [agents[agent] for agent in range(len(agents))], creatures, inventories)

    def material_array(self) -> ByteArray:
        """Materials, uint8 (W, H), indexed `[x, y]`."""
        return np.ascontiguousarray(np.array(self.rows, dtype=np.uint8).T)

    def agent_array(self) -> IntArray:
        """Cells of the agents, int64 (n, 2)."""
        return np.array(self.agents, dtype=np.int64).reshape(-1, 2)

    def creature_array(self) -> IntArray:
        """Kind, x, y and health of the creatures, int64 (k, 4); a ripe plant is a plant here."""
        rows = [(min(kind, Entity.plant), x, y, HEALTH[kind]) for kind, (x, y) in self.creatures]
        return np.array(rows, dtype=np.int64).reshape(-1, 4)


def draw(materials: ByteArray, entities: Iterable[tuple[str, Cell]]) -> str:
    """Draw a map in the characters of `Layout`.

    Args:
        materials: Shape (W, H), indexed `[x, y]`.
        entities: The character and cell of each agent and creature.
    """
    characters = {int(material): character for character, material in MATERIAL_CHARACTERS.items()}
    rows = [[characters[material] for material in row] for row in materials.T.tolist()]
    for character, (x, y) in entities:
        rows[y][x] = character
    return "\n".join("".join(row) for row in rows)


def _validate(layout: Layout) -> None:
    rows = layout.rows
    if len(rows) < SMALLEST_SIDE or len(rows[0]) < SMALLEST_SIDE:
        raise LayoutError(f"a world has at least {SMALLEST_SIDE} x {SMALLEST_SIDE} cells")
    for y, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise LayoutError(f"row {y} has {len(row)} cells, but row 0 has {len(rows[0])}: a map is a rectangle")
        if Material.none in row:
            raise LayoutError(f"cell ({row.index(Material.none)}, {y}) has no material")
    if not layout.agents:
        raise LayoutError("a layout needs at least one agent: draw a 0")
    taken: dict[Cell, str] = {}
    for agent, cell in enumerate(layout.agents):
        _take(layout, taken, f"agent {agent}", cell, WALKABLE)
    for kind, cell in layout.creatures:
        if kind not in HEALTH:
            raise LayoutError(f"a {kind.name} at {cell}: creatures are {', '.join(k.name for k in HEALTH)}")
        _take(layout, taken, f"the {kind.name}", cell, WALKABLE)
    for agent, inventory in enumerate(layout.inventories):
        for item, amount in inventory.items():
            if amount < 0 or (item in NEEDS and not 0 < amount <= NEED_MAX):
                raise LayoutError(f"agent {agent} cannot begin with {amount} of {Item(item).name}")


def _take(layout: Layout, taken: dict[Cell, str], name: str, cell: Cell, allowed: Sequence[Material]) -> None:
    x, y = cell
    width, height = layout.size
    if not (0 <= x < width and 0 <= y < height):
        raise LayoutError(f"{name} at {cell} is off the map of {width} x {height} cells")
    if layout.rows[y][x] not in allowed:
        raise LayoutError(f"{name} at {cell} stands on {layout.rows[y][x].name}: choose a cell that can be walked on")
    if cell in taken:
        raise LayoutError(f"{name} at {cell} stands on {taken[cell]}: choose a free cell")
    taken[cell] = name
