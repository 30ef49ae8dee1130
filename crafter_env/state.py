"""Typed access to one world, for observers, renderers and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crafter_env.constants import VIEW, Cell, Entity, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ByteArray, IntArray, World
from crafter_env.kernels.daylight import daylight
from crafter_env.kernels.living import RIPE_AGE
from crafter_env.outcome import Outcome, read_outcome
from maeil.environments.errors import WorldError

WORLD_SEEDS = 2**31 - 1


def world_seed(seed: int, episode: int) -> int:
    """The seed of an episode's world: Crafter's, the hash of the pair on a 64-bit CPython. Episodes count from 1."""
    return hash((seed, episode)) % WORLD_SEEDS


@dataclass(frozen=True, slots=True)
class Creature:
    """A cow, zombie, skeleton, arrow or plant."""

    id: int
    """Its number, which no other object of the episode has; agents have the first ones."""
    kind: Entity
    cell: Cell
    health: int
    direction: Cell
    """Where an arrow flies; (0, 0) for others."""
    timer: int
    """A zombie's cooldown, a skeleton's reload, or a plant's age."""


@dataclass(frozen=True, slots=True)
class LocalView:
    """The cells around an agent, as it sees them."""

    origin: Cell
    """The cell of the map at `[0, 0]`; it may lie off the map."""
    materials: ByteArray
    """`Material` of each cell, uint8 (9, 7), indexed `[x, y]`; `none` off the map."""
    entities: ByteArray
    """`Entity` on each cell, uint8 (9, 7)."""
    teammates: tuple[int, ...]
    """Living agents in view but for the one that looks, by index."""


class CrafterState:
    """One world: live arrays, which the kernels advance in place, and views of them.

    Read them, or `copy()` them; what is written to them is written to the world.
    """

    __slots__ = ("world",)

    world: World

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def of(cls, worlds: World, number: int) -> CrafterState:
        """A world of a batch; nothing is copied."""
        return cls(World._make(array[number] for array in worlds))

    def __getstate__(self) -> World:
        """The arrays without rows that are not in use."""
        return arrays.packed(self.world)

    def __setstate__(self, packed: World) -> None:
        self.world = arrays.unpacked(packed)

    @property
    def step(self) -> int:
        """Steps taken."""
        return int(self.world.counters[arrays.STEP])

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the map."""
        width, height = self.world.materials.shape
        return width, height

    @property
    def daylight(self) -> float:
        """From 0 at midnight to 1 at noon."""
        return daylight(self.step)

    @property
    def materials(self) -> ByteArray:
        """`Material` of each cell, uint8 (W, H), indexed `[x, y]`; live."""
        return self.world.materials

    @property
    def positions(self) -> IntArray:
        """X and y of each agent, int64 (n, 2), live; a dead one's are where it fell."""
        return self.world.objects[: len(self.world.agents), arrays.X : arrays.Y + 1]

    @property
    def facing(self) -> IntArray:
        """The direction that each agent faces, int64 (n, 2), live."""
        return self.world.agents[:, arrays.FACING_X : arrays.FACING_Y + 1]

    @property
    def sleeping(self) -> npt.NDArray[np.bool_]:
        """Whether each agent sleeps, bool (n,), a copy."""
        sleeping: npt.NDArray[np.bool_] = self.world.agents[:, arrays.SLEEPING] != 0
        return sleeping

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Whether each agent lives, bool (n,), a copy."""
        alive: npt.NDArray[np.bool_] = self.world.agents[:, arrays.ALIVE] != 0
        return alive

    @property
    def inventory(self) -> IntArray:
        """Amount of each `Item` that each agent has, int64 (n, 16), live."""
        return self.world.agents[:, arrays.INVENTORY : arrays.ACHIEVED]

    @property
    def achievements(self) -> IntArray:
        """How often each agent has reached each `Achievement`, int64 (n, 22), live."""
        return self.world.agents[:, arrays.ACHIEVED : arrays.GAINED]

    @property
    def gained(self) -> IntArray:
        """Units of each `Item` that each agent's `do` brought in the last step, int64 (n, 16), live."""
        return self.world.agents[:, arrays.GAINED : arrays.OUTCOME]

    def outcome(self, agent: int) -> Outcome:
        """What came of an agent's action in the last step."""
        return read_outcome(self.world.agents[agent, arrays.GAINED :].tolist())

    def creatures(self) -> tuple[Creature, ...]:
        """Everything on the map that is not an agent, in the order in which it acts."""
        rows = self.world.objects[len(self.world.agents) : int(self.world.counters[arrays.SLOTS])].tolist()
        return tuple(
            Creature(identity, Entity(kind), (x, y), health, (dx, dy), timer)
            for kind, x, y, health, dx, dy, timer, _, identity in rows
            if kind
        )

    def entity_at(self, cell: Cell) -> Entity:
        """What stands on a cell; a plant that can be eaten is a `ripe_plant`."""
        slot = int(self.world.occupants[cell]) - 1
        if slot < 0:
            return Entity.none
        kind = Entity(self.world.objects[slot, arrays.KIND])
        ripe = kind == Entity.plant and self.world.objects[slot, arrays.TIMER] > RIPE_AGE
        return Entity.ripe_plant if ripe else kind

    def view(self, agent: int, size: Cell = VIEW) -> LocalView:
        """What a living agent sees; a dead one would, from where it fell.

        Args:
            agent: Its index.
            size: Columns and rows, odd.
        """
        left, top = (int(here) - length // 2 for here, length in zip(self.positions[agent], size, strict=True))
        materials, entities = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
        x, y = max(left, 0), max(top, 0)
        window = np.s_[x : left + size[0], y : top + size[1]]
        seen = self.world.materials[window]
        inner = np.s_[x - left : x - left + seen.shape[0], y - top : y - top + seen.shape[1]]
        materials[inner] = seen
        slots = self.world.occupants[window].astype(np.int64) - 1
        rows = self.world.objects[slots]
        kinds = rows[..., arrays.KIND]
        ripe = (kinds == Entity.plant) & (rows[..., arrays.TIMER] > RIPE_AGE)
        entities[inner] = np.where(slots < 0, Entity.none, np.where(ripe, Entity.ripe_plant, kinds))
        others = slots[(slots >= 0) & (slots < len(self.world.agents)) & (slots != agent)]
        return LocalView((left, top), materials, entities, tuple(sorted(others.tolist())))

    def semantic(self) -> ByteArray:
        """Crafter's semantic map, uint8 (W, H), a copy: materials, and over them `Entity` values."""
        canvas = self.world.materials.copy()
        rows = self.world.objects[: int(self.world.counters[arrays.SLOTS])]
        there = rows[rows[:, arrays.KIND] > 0]
        canvas[there[:, arrays.X], there[:, arrays.Y]] = there[:, arrays.KIND]
        return canvas

    def material_at(self, cell: Cell) -> Material:
        """The material of a cell; `none` off the map."""
        x, y = cell
        width, height = self.size
        return Material(self.world.materials[x, y]) if 0 <= x < width and 0 <= y < height else Material.none

    def copy(self) -> CrafterState:
        """An independent copy, with the outcomes of the last step."""
        copied = CrafterState(World._make(np.zeros_like(array) for array in self.world))
        copied.restore(self)
        return copied

    def restore(self, other: CrafterState) -> None:
        """Become the state of `other`, in place; every array and view of it stays where it is.

        Raises:
            WorldError: `other` has another size or another number of agents.
        """
        pairs: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = list(zip(self.world, other.world, strict=True))
        for mine, theirs in pairs:
            if mine.shape != theirs.shape:
                raise WorldError(
                    f"a state of {other.size} cells and {len(other.world.agents)} agents cannot be restored into one "
                    f"of {self.size} cells and {len(self.world.agents)} agents: use copy()"
                )
        used = int(other.world.counters[arrays.SLOTS])
        for mine, theirs in pairs:
            if theirs is other.world.objects:  # rows beyond those in use are never read
                mine[:used] = theirs[:used]
            else:
                mine[...] = theirs
