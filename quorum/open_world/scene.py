"""One open-world agent's reading of its map: its knowledge, and paths to places.

All of it derives from that agent's typed observation alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from crafter_env import (
    COLLECT,
    MATERIAL_CHARACTERS,
    VIEW,
    Cell,
    Collect,
    CrafterObservation,
    Direction,
    Item,
    Material,
    Navigate,
    Resource,
    SeenEntity,
    Target,
)
from maeil.actions import SymbolicAction
from maeil.mind import Observation

STEPS: dict[Direction, Cell] = {
    Direction.up: (0, -1),
    Direction.down: (0, 1),
    Direction.left: (-1, 0),
    Direction.right: (1, 0),
}
WALKABLE = frozenset({Material.grass, Material.path, Material.sand})
RESOURCE = {Material[name]: Resource[COLLECT[Material[name]].item.name] for name in ("tree", "stone", "coal", "iron")}
RESOURCE |= {Material.diamond: Resource.diamond, Material.water: Resource.drink}
DIG = 3
"""Cost of a step into a cell that must be dug first; a step into a free cell costs 1."""
EVENING = range(110, 160)
"""Steps of a day in which agents prepare for the night."""
DAY_STEPS = 300
DAY, DUSK = 0.85, 0.65
"""Daylight above which sleep is safe, and below which monsters must be expected."""
STAGE = 5
"""Steps that an agent in danger walks before it looks around again."""
_MATERIALS = {**MATERIAL_CHARACTERS, "?": Material.none}


def distance(a: Cell, b: Cell) -> int:
    """Return the L1 distance of two cells."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def around(cell: Cell, radius: int) -> list[Cell]:
    """Return the other cells within an L1 distance of a cell."""
    reach = range(-radius, radius + 1)
    return [(cell[0] + dx, cell[1] + dy) for dx in reach for dy in reach if 0 < abs(dx) + abs(dy) <= radius]


@dataclass(frozen=True, slots=True)
class Trip:
    """A path to a cell, and the first cell on it that must be dug, if any."""

    cell: Cell
    cost: int
    before: Cell
    """Cell to walk to: the last free cell before the one to dig, or the end of this stage."""
    dig: Cell | None
    way: tuple[Cell, ...]
    """All cells from the agent's own to the last."""
    is_stage: bool = False
    """Whether the path continues from there: an agent in danger looks around after a few steps."""


class Scene:
    """One agent's knowledge, as a map with path search.

    Args:
        observation: observation of an agent with a body.
        heard: materials of cells known from messages; used only for cells the agent has not seen.
        judge: returns the handicap of a goal as the agent judges it.
    """

    def __init__(
        self,
        observation: CrafterObservation,
        heard: Mapping[Cell, Material] | None = None,
        judge: Callable[[float], float] = float,
    ) -> None:
        assert observation.cell is not None
        self.seen = observation
        self.cell: Cell = observation.cell
        self._judge = judge
        self._rows = observation.map.rows
        self._left, self._top = observation.map.left, observation.map.top
        self._heard = {
            cell: material
            for cell, material in (heard or {}).items()
            if not observation.known_only and self._seen(cell) is Material.none
        }
        self._taken = {entity.cell for entity in observation.entities} | {t.cell for t in observation.teammates}

    @property
    def monsters(self) -> list[SeenEntity]:
        """The monsters in view, nearest first."""
        return [entity for entity in self.seen.entities if entity.kind in ("zombie", "skeleton")]

    @property
    def in_danger(self) -> bool:
        """Whether monsters are in view, or it is dark enough for them to come."""
        return self.seen.cooperation.mobs and (bool(self.monsters) or self.seen.daylight < DUSK)

    @property
    def is_evening(self) -> bool:
        """Whether it is time to prepare for a night with monsters."""
        return self.seen.cooperation.mobs and self.seen.step % DAY_STEPS in EVENING

    @property
    def left_steps(self) -> int:
        """Steps left in the episode."""
        return self.seen.max_steps - self.seen.step

    def id_of(self, cell: Cell) -> int:
        """Return the id of a cell."""
        return cell[0] * self.seen.size[1] + cell[1] + 1

    def cell_of(self, identity: int) -> Cell:
        """Return the cell with an id."""
        return divmod(identity - 1, self.seen.size[1])

    def held(self, item: Item) -> int:
        """Return the units of an item in the inventory."""
        return self.seen.inventory.get(item.name, 0)

    def material(self, cell: Cell) -> Material:
        """Return the known material of a cell: grass under agents; `none` if unknown or off the map."""
        return self._heard.get(cell) or self._seen(cell)

    def _seen(self, cell: Cell) -> Material:
        x, y = cell[0] - self._left, cell[1] - self._top
        if not (0 <= y < len(self._rows) and 0 <= x < len(self._rows[0])):
            return Material.none
        return _MATERIALS.get(self._rows[y][x], Material.grass)

    def known(self, material: Material) -> list[Cell]:
        """Return the known cells of a material: seen ones row by row, then those heard of."""
        characters = [character for character, found in _MATERIALS.items() if found is material]
        return [
            (self._left + x, self._top + y)
            for y, row in enumerate(self._rows)
            for x, character in enumerate(row)
            if character in characters
        ] + self.heard(material)

    def nearest(self, material: Material) -> Cell | None:
        """Return the nearest known cell of a material."""
        return min(self.known(material), key=lambda cell: (distance(cell, self.cell), cell), default=None)

    def heard(self, material: Material) -> list[Cell]:
        """Return the cells of a material that the agent has only heard of."""
        return [cell for cell, found in self._heard.items() if found is material]

    def on_map(self, cell: Cell) -> bool:
        """Return whether a cell is on the map."""
        return 0 <= cell[0] < self.seen.size[0] and 0 <= cell[1] < self.seen.size[1]

    def in_view(self, cell: Cell) -> bool:
        """Return whether the agent currently sees a cell."""
        return abs(cell[0] - self.cell[0]) <= VIEW[0] // 2 and abs(cell[1] - self.cell[1]) <= VIEW[1] // 2

    def needed(self, material: Material) -> int:
        """Return the number of agents that a cell of a material takes."""
        return self.seen.cooperation.agents.get(COLLECT[material].item.name, 1) if material in COLLECT else 1

    def can_collect(self, material: Material) -> bool:
        """Return whether this agent holds the tool for a material."""
        tool = COLLECT[material].tool
        return tool is None or self.held(tool) > 0

    def would_collect(self, place: Cell, cell: Cell) -> bool:
        """Return whether an agent at a place can act on a cell: adjacent, or the nearest target of a `do`."""
        apart = distance(place, cell)
        if apart == 1 or self.seen.cooperation.area:
            return True
        for size in range(1, apart + 1):
            for dy in range(-size, size + 1):
                for dx in sorted({abs(dy) - size, size - abs(dy)}):
                    other = place[0] + dx, place[1] + dy
                    if other == cell:
                        return True
                    if self.material(other) in RESOURCE:
                        return False
        return False

    def digs(self, material: Material) -> bool:
        """Return whether this agent can collect a material alone."""
        return material in DIGGABLE and self.needed(material) == 1 and self.can_collect(material)

    def search(self, wanted: Callable[[Cell], float | None], limit: int = 80, *, hopeful: bool = False) -> Trip | None:
        """Find the cell with the smallest sum of path cost and handicap.

        Args:
            wanted: returns the handicap of a cell one can stand on, at least 0; None if it is not a goal.
            limit: maximum path cost.
            hopeful: whether unseen cells count as free.
        """
        cost = {self.cell: 0}
        previous: dict[Cell, Cell] = {}
        queue = [(0, self.cell)]
        best: tuple[float, Cell] | None = None
        while queue:
            spent, cell = heapq.heappop(queue)
            if spent > cost[cell]:
                continue
            if best is not None and spent >= best[0]:
                break
            handicap = wanted(cell)
            if handicap is not None and (best is None or spent + (handicap := self._judge(handicap)) < best[0]):
                best = spent + handicap, cell
            for dx, dy in STEPS.values():
                neighbour = cell[0] + dx, cell[1] + dy
                material = self.material(neighbour)
                is_free = material in WALKABLE or (hopeful and material is Material.none and self.on_map(neighbour))
                if is_free and neighbour not in self._taken:
                    price = spent + 1
                elif self.digs(material):
                    price = spent + DIG
                else:
                    continue
                if price <= limit and price < cost.get(neighbour, limit + 1):
                    cost[neighbour] = price
                    previous[neighbour] = cell
                    heapq.heappush(queue, (price, neighbour))
        return self._trip(best[1], cost[best[1]], previous) if best is not None else None

    def _trip(self, end: Cell, cost: int, previous: dict[Cell, Cell]) -> Trip:
        way = [end]
        while way[-1] != self.cell:
            way.append(previous[way[-1]])
        way.reverse()
        stage = way[: STAGE + 1] if self.in_danger else way
        for before, cell in pairwise(stage):
            if self.material(cell) not in WALKABLE and self.material(cell) is not Material.none:
                return Trip(end, cost, before, cell, tuple(way))
        return Trip(end, cost, stage[-1], None, tuple(way), is_stage=len(stage) < len(way))

    def neighbours(self, cell: Cell) -> list[Cell]:
        """Return the four neighbours of a cell."""
        return [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS.values()]

    def go(self, cell: Cell) -> list[SymbolicAction]:
        """Return the actions to walk to a cell; empty if already there."""
        return [] if cell == self.cell else [Navigate(target=Target.cell, id=self.id_of(cell))]

    def comes_to(self, entity: SeenEntity, steps: int) -> bool:
        """Return whether the agent can walk up to a creature within some steps."""
        trip = self.search(lambda cell: 0 if distance(cell, entity.cell) == 1 else None, steps)
        return trip is not None and all(self.material(cell) in WALKABLE for cell in trip.way)

    def advance(self, trip: Trip) -> list[SymbolicAction] | None:
        """Return actions for the first stage of a path, up to the first dig; None if the path is one free stage."""
        if trip.dig is None:
            return self.go(trip.before) if trip.is_stage else None
        resource = RESOURCE[self.material(trip.dig)]
        return [*self.go(trip.before), Collect(resource=resource, target=self.id_of(trip.dig))]


DIGGABLE = frozenset({Material.stone, Material.tree, Material.coal, Material.iron, Material.diamond})


def is_sheltered(scene: Scene) -> bool:
    """Return whether nothing can approach: the agent's cell and at most two more are enclosed."""
    found, edge = {scene.cell}, [scene.cell]
    while edge and len(found) <= 3:
        cell = edge.pop()
        for neighbour in scene.neighbours(cell):
            if scene.material(neighbour) is Material.none and scene.on_map(neighbour):
                return False
            if scene.material(neighbour) in WALKABLE and neighbour not in found:
                found.add(neighbour)
                edge.append(neighbour)
    return len(found) <= 3


def scenes_of(observations: Iterable[Observation]) -> dict[int, Scene]:
    """Return the scene of each living agent, given all observations by index."""
    found = {}
    for agent, seen in enumerate(observations):
        assert isinstance(seen, CrafterObservation)
        if seen.alive:
            found[agent] = Scene(seen)
    return found
