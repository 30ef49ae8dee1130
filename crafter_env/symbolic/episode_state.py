"""State shared by the controllers of an episode: the live state, map memories, and each agent's collecting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crafter_env.constants import DISPLACEMENT, PLACE, WALKABLE, Action, Cell, Entity, Item, Material
from crafter_env.constraints import aimed_cells
from crafter_env.kernels import sight
from crafter_env.kernels.arrays import ALIVE, SLEEPING, IntArray
from crafter_env.kernels.grid import AREA_AIM, NO_CELL
from crafter_env.profiles import Level, Profile
from crafter_env.state import CrafterState, Creature

PLACED = frozenset(recipe.puts for recipe in PLACE.values() if isinstance(recipe.puts, Material))
"""Materials that agents can place."""
_STEPS = tuple(
    DISPLACEMENT[action] for action in (Action.move_up, Action.move_down, Action.move_left, Action.move_right)
)
"""In the tie-breaking order of `sight.next_step`."""


class EpisodeState:
    """The live state of an episode, as its controllers and observers see it.

    Ids: a cell's is `x * height + y + 1` and never changes; a creature's is its number in the episode plus the number
    of cells.

    Args:
        state: the world.
        rules: see `rules.encode_rules`.
        profile: switches of the rules.
        level: how many agents must cooperate.
        oracle_map: let agents know the whole map.
        known_only: plans may name only cells that their agent has seen, and teammates only while they are in view.
    """

    def __init__(
        self,
        state: CrafterState,
        rules: IntArray,
        profile: Profile,
        level: Level,
        *,
        oracle_map: bool,
        known_only: bool,
    ) -> None:
        self.state = state
        self.rules = rules
        self.profile = profile
        self.level = level
        self.agents = len(state.positions)
        self.version = 0
        """Counts the states of the world; a result that depends only on the state is valid for one version."""
        self.named = np.full(self.agents, NO_CELL, dtype=np.int64)
        """(n,) the cell that each agent's running action collects, x * height + y; -1 for none."""
        self._oracle_map = oracle_map
        self.known_only = known_only
        self._mask = sight.SEEN_MASK if known_only else sight.HOPEFUL_MASK
        width, height = state.size
        self.memory = np.zeros((self.agents, width, height), dtype=np.uint8)
        """(n, W, H): the material that each agent last saw in each cell, 0 if it has never seen the cell."""
        self._met = np.full((self.agents, self.agents, 3), -1, dtype=np.int32)
        self._field = np.empty((width, height), dtype=np.int32)
        self._queue = np.empty((width * height, 2), dtype=np.int64)
        self._look()

    def changed(self) -> None:
        """Record that the world has advanced."""
        self.version += 1
        self._look()

    def _look(self) -> None:
        w = self.state.world
        if self._oracle_map:
            self.memory[:] = w.materials
        else:
            sight.remember(w.materials, w.objects, w.agents, self.memory)
        sight.notice(w.objects, w.agents, self.state.step, self._met)

    def lives(self, agent: int) -> bool:
        """Whether an agent lives."""
        return bool(self.state.world.agents[agent, ALIVE])

    def sleeps(self, agent: int) -> bool:
        """Whether an agent sleeps."""
        return bool(self.state.world.agents[agent, SLEEPING])

    @property
    def living(self) -> int:
        """Number of living agents."""
        return int(self.state.world.agents[:, ALIVE].sum())

    def cell_of(self, agent: int) -> Cell:
        """Return the cell where an agent stands, or fell."""
        x, y = self.state.positions[agent].tolist()
        return x, y

    def faced(self, agent: int) -> Cell:
        """Return the cell that an agent faces, on the map or not."""
        (x, y), (dx, dy) = self.cell_of(agent), self.state.facing[agent].tolist()
        return x + dx, y + dy

    def holds(self, agent: int, item: Item) -> int:
        """Return the units of an item that an agent has."""
        return int(self.state.inventory[agent, item])

    def inside(self, cell: Cell) -> bool:
        """Whether a cell is on the map."""
        width, height = self.state.size
        return 0 <= cell[0] < width and 0 <= cell[1] < height

    def in_view(self, agent: int, cell: Cell) -> bool:
        """Whether an agent sees a cell now."""
        x, y = self.cell_of(agent)
        return abs(cell[0] - x) <= sight.HALF_WIDTH and abs(cell[1] - y) <= sight.HALF_HEIGHT and self.inside(cell)

    def id_of(self, cell: Cell) -> int:
        """Return the id of a cell."""
        return cell[0] * self.state.size[1] + cell[1] + 1

    def cell_with(self, identity: int) -> Cell | None:
        """Return the cell with an id; None if no cell has it."""
        width, height = self.state.size
        return divmod(identity - 1, height) if 1 <= identity <= width * height else None

    def creature_id(self, creature: Creature) -> int:
        """Return the id of a creature."""
        width, height = self.state.size
        return width * height + creature.id

    def known(self, agent: int, cell: Cell) -> Material:
        """Return the material that an agent last saw in a cell of the map; `none` if it has never seen the cell."""
        return Material(int(self.memory[agent, cell[0], cell[1]]))

    def may_be(self, agent: int, cell: Cell, material: Material) -> bool:
        """Whether a cell can be of a material, as far as an agent knows.

        A seen cell is what it was last seen as. An unseen cell can be anything, and in a cell out of view something can
        have been placed since; with `known_only`, neither counts.
        """
        known = self.known(agent, cell)
        if known is material or self.known_only:
            return known is material
        is_old = not (self._oracle_map or self.in_view(agent, cell))
        return known is Material.none or (is_old and material in PLACED)

    def last_seen(self, agent: int, other: int) -> tuple[Cell, int] | None:
        """Return where and at which step an agent last saw another; None if it never has."""
        x, y, step = self._met[agent, other].tolist()
        return ((x, y), step) if step >= 0 else None

    def creatures(self, agent: int, kinds: Sequence[Entity] = tuple(Entity)) -> list[tuple[Entity, Creature]]:
        """Return the creatures of some kinds that an agent sees, nearest first; a ripe plant is a `ripe_plant`."""
        x, y = self.cell_of(agent)
        found = []
        for creature in self.state.creatures():
            if self.in_view(agent, creature.cell):
                kind = self.state.entity_at(creature.cell)
                if kind in kinds:
                    distance = abs(creature.cell[0] - x) + abs(creature.cell[1] - y)
                    found.append((distance, creature.id, kind, creature))
        return [(kind, creature) for _, _, kind, creature in sorted(found, key=lambda entry: entry[:2])]

    def aim(self, agent: int) -> int:
        """Return the target of the agent's `do`; see `constraints.aimed_cells`."""
        joint = np.zeros(self.agents, dtype=np.int64)
        joint[agent] = Action.do
        return int(aimed_cells(self.state, joint, self.rules)[agent])

    def acts_on(self, agent: int, cell: Cell) -> bool:
        """Whether the agent's `do` would act on a cell in its reach."""
        aim = self.aim(agent)
        if aim == AREA_AIM:
            return self.distance(agent, cell) <= self.level.radius
        return aim == self.id_of(cell) - 1

    def distance(self, agent: int, cell: Cell) -> int:
        """Return the L1 distance from an agent to a cell."""
        x, y = self.cell_of(agent)
        return abs(cell[0] - x) + abs(cell[1] - y)

    def step_towards(self, agent: int, goals: Sequence[Cell]) -> int:
        """Return the first step of the shortest path, as far as the agent knows; see `sight.next_step`.

        Unseen cells count as free, or with `known_only` as blocked.
        """
        x, y = self.cell_of(agent)
        inside = [cell for cell in goals if self.inside(cell)]
        cells = np.array(inside, dtype=np.int64).reshape(-1, 2)
        world = self.state.world
        return int(
            sight.next_step(self.memory[agent], world.occupants, self._mask, x, y, cells, self._field, self._queue)
        )

    def way_to(self, agent: int, goals: Sequence[Cell]) -> list[Cell]:
        """Return the path that `step_towards` starts, if nothing new is seen; empty at a goal or without a path."""
        cells: list[Cell] = []
        cell = self.cell_of(agent)
        if self.step_towards(agent, goals) in (Action.noop, sight.NO_WAY):
            return []
        while not cells or self._field[cell] > 0:
            x, y = cell
            around = [(x + dx, y + dy) for dx, dy in _STEPS if self.inside((x + dx, y + dy))]
            cell = min((there for there in around if self._field[there] >= 0), key=self._field.__getitem__)
            cells.append(cell)
        return cells

    def measure(self, agent: int) -> sight.FieldArray:
        """Return the path length to each cell, (W, H), -1 if there is none; the next search overwrites the array."""
        x, y = self.cell_of(agent)
        sight.measure(self.memory[agent], self.state.world.occupants, x, y, self._field, self._queue)
        return self._field

    def is_free(self, cell: Cell) -> bool:
        """Whether a cell can be walked on safely now: on the map, of a walkable material, and unoccupied."""
        return (
            self.inside(cell)
            and self.state.material_at(cell) in WALKABLE
            and int(self.state.world.occupants[cell]) == 0
        )


def around(cell: Cell, radius: int) -> list[Cell]:
    """Return the cells within an L1 distance, column by column."""
    x, y = cell
    return [
        (x + dx, y + dy) for dx in range(-radius, radius + 1) for dy in range(abs(dx) - radius, radius - abs(dx) + 1)
    ]


def beside_station(cell: Cell) -> list[Cell]:
    """Return the cells from which a station can be used: around it, but not on the left or upper map edge."""
    x, y = cell
    return [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx or dy) and x + dx > 0 and y + dy > 0]
