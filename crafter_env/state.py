"""Typed access to one world, for observers, renderers and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict

from crafter_env.constants import FAILURES, NEED_MAX, NEEDS, VIEW, Action, Cell, Entity, Item, Material, Result
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ACHIEVEMENTS, ITEMS, ByteArray, IntArray, World
from crafter_env.kernels.living import RIPE_AGE
from crafter_env.kernels.rules import daylight
from quorum_base.environments.errors import WorldError


class Outcome(NamedTuple):
    """The outcome of an agent's action in the last step. None for fields without a value; see `Result`."""

    result: Result
    action: Action
    """The action carried out; a sleeper does `sleep`, whatever its action."""
    target: Material | Entity | None
    """Material or entity that the action met."""
    cell: Cell | None
    """Its cell."""
    required: int | None
    """Agents required; for an input, the units required; for a share, the cells allowed."""
    present: int | None
    """Agents with the same aim; for an input, the units held; for a share, the distance in cells."""
    capable: int | None
    """Those of the present agents that hold the tool."""
    item: Item | None
    amount: int | None
    """Units of the item; damage of a hit."""
    other: int | None
    """The recipient of a share, or the leader of a craft."""
    gained: dict[Item, int]
    """Units of each item gained by its `do`, before the cap."""

    @property
    def failed(self) -> bool:
        """Whether the action had no effect but was meant to; see `FAILURES`."""
        return self.result in FAILURES


def read_outcome(numbers: Sequence[int]) -> Outcome:
    """Return the outcome in an agent's row of `World.agents`, from column `GAINED` on."""
    gains = numbers[:ITEMS]
    result, did, target, x, y, required, present, capable, item, amount, other = numbers[ITEMS:]
    return Outcome(
        _RESULTS[result],
        _ACTIONS[did],
        None if target < 0 else _TARGETS[target],
        None if target < 0 else (x, y),
        _given(required),
        _given(present),
        _given(capable),
        None if item < 0 else _ITEMS[item],
        _given(amount),
        _given(other),
        {_ITEMS[i]: units for i, units in enumerate(gains) if units} if any(gains) else {},
    )


# A tuple lookup takes a tenth of the time of an enumeration lookup.
_RESULTS, _ACTIONS, _ITEMS = tuple(Result), tuple(Action), tuple(Item)
_TARGETS: tuple[Material | Entity, ...] = (*Material, *(entity for entity in Entity if entity))


def _given(number: int) -> int | None:
    return None if number < 0 else number


WORLD_SEEDS = 2**31 - 1


def world_seed(seed: int, episode: int) -> int:
    """Return Crafter's seed of an episode's world: the pair's hash on 64-bit CPython; episodes count from 1."""
    return hash((seed, episode)) % WORLD_SEEDS


@dataclass(frozen=True, slots=True)
class Creature:
    """A cow, zombie, skeleton, arrow or plant."""

    id: int
    """Its number, unique in the episode: its first step and cell; see `kernels.arrays`."""
    kind: Entity
    cell: Cell
    health: int
    direction: Cell
    """Direction of an arrow; (0, 0) for others."""
    timer: int
    """A zombie's cooldown, a skeleton's reload, or a plant's age."""


@dataclass(frozen=True, slots=True)
class LocalView:
    """The cells around an agent, as it sees them."""

    origin: Cell
    """Map cell at `[0, 0]`; it may lie off the map."""
    materials: ByteArray
    """`Material` of each cell, uint8 (9, 7), indexed `[x, y]`; `none` off the map."""
    entities: ByteArray
    """`Entity` on each cell, uint8 (9, 7)."""
    teammates: tuple[int, ...]
    """Other living agents in view, by index."""


class CrafterState:
    """One world: live arrays, which the kernels advance in place, and views of them.

    Read them, or `copy()` them; writing to them changes the world.
    """

    __slots__ = ("world",)

    world: World

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def of(cls, worlds: World, number: int) -> CrafterState:
        """Return a world of a batch without copying."""
        return cls(World._make(array[number] for array in worlds))

    def __getstate__(self) -> World:
        """Return the arrays without unused rows."""
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
        """X and y of each agent, int64 (n, 2), live; a dead agent's are where it fell."""
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
        """Amount of each `Item` for each agent, int64 (n, 16), live."""
        return self.world.agents[:, arrays.INVENTORY : arrays.ACHIEVED]

    @property
    def achievements(self) -> IntArray:
        """How often each agent has reached each `Achievement`, int64 (n, 22), live."""
        return self.world.agents[:, arrays.ACHIEVED : arrays.GAINED]

    @property
    def gained(self) -> IntArray:
        """Units of each `Item` gained by each agent's `do` in the last step, int64 (n, 16), live."""
        return self.world.agents[:, arrays.GAINED : arrays.OUTCOME]

    def outcome(self, agent: int) -> Outcome:
        """Return the outcome of an agent's action in the last step."""
        return read_outcome(self.world.agents[agent, arrays.GAINED :].tolist())

    def creatures(self) -> tuple[Creature, ...]:
        """Return every object on the map that is not an agent, in acting order."""
        rows = self.world.objects[len(self.world.agents) : int(self.world.counters[arrays.SLOTS])].tolist()
        return tuple(
            Creature(identity, Entity(kind), (x, y), health, (dx, dy), timer)
            for kind, x, y, health, dx, dy, timer, _, identity in rows
            if kind
        )

    def entity_at(self, cell: Cell) -> Entity:
        """Return the entity on a cell; an edible plant is a `ripe_plant`."""
        slot = int(self.world.occupants[cell]) - 1
        if slot < 0:
            return Entity.none
        kind = Entity(self.world.objects[slot, arrays.KIND])
        ripe = kind == Entity.plant and self.world.objects[slot, arrays.TIMER] > RIPE_AGE
        return Entity.ripe_plant if ripe else kind

    def view(self, agent: int, size: Cell = VIEW) -> LocalView:
        """Return an agent's view; for a dead agent, from where it fell.

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

    def material_at(self, cell: Cell) -> Material:
        """Return the material of a cell; `none` off the map."""
        x, y = cell
        width, height = self.size
        return Material(self.world.materials[x, y]) if 0 <= x < width and 0 <= y < height else Material.none

    def copy(self) -> CrafterState:
        """An independent copy, with the outcomes of the last step."""
        copied = CrafterState(World._make(np.zeros_like(array) for array in self.world))
        copied.restore(self)
        return copied

    def restore(self, other: CrafterState) -> None:
        """Take over the state of `other`, in place; all arrays and views stay valid.

        Raises:
            WorldError: `other` has a different size or number of agents.
        """
        pairs: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = list(zip(self.world, other.world, strict=True))
        for here, there in pairs:
            if here.shape != there.shape:
                raise WorldError(
                    f"a state of {other.size} cells and {len(other.world.agents)} agents cannot be restored into one "
                    f"of {self.size} cells and {len(self.world.agents)} agents: use copy()"
                )
        used = int(other.world.counters[arrays.SLOTS])
        for here, there in pairs:
            if there is other.world.objects:  # unused rows are never read
                here[:used] = there[:used]
            else:
                here[...] = there


StateArray = npt.NDArray[np.float32]

_BODY = 6


def state_parts(size: tuple[int, int], n: int, item_cap: int, max_steps: int) -> Dict:
    """Return the parts of a state; `gymnasium.spaces.unflatten(parts, state)` splits a state into them.

    In order: `agents`, (n, 44): alive, x, y, facing x, facing y, sleeping, amounts of the 16 items with the needs
        first, and 1 for each of the 22 achievements reached; `clock`, (2,): steps taken and daylight; `entities` and
        `materials`, (W, H), by `Entity` and `Material`. The agent of a row stands at its x and y.
    """
    width, height = size
    amounts = np.full(ITEMS, item_cap)
    amounts[: len(NEEDS)] = NEED_MAX
    unlocked = np.ones(ACHIEVEMENTS)
    low = np.concatenate([[0, 0, 0, -1, -1, 0], np.zeros(ITEMS + ACHIEVEMENTS)])
    high = np.concatenate([[1, width - 1, height - 1, 1, 1, 1], amounts, unlocked])
    return Dict(
        {
            "agents": _box(np.tile(low, (n, 1)), np.tile(high, (n, 1))),
            "clock": _box(np.zeros(2), np.array([max_steps, 1.0])),
            "entities": _box(np.zeros(size), np.full(size, max(Entity))),
            "materials": _box(np.zeros(size), np.full(size, max(Material))),
        }
    )


def central_states(worlds: World) -> StateArray:
    """Return the states of a batch of worlds, float32 (B, S), as a copy; see `state_parts` for S."""
    num_envs, n = worlds.agents.shape[:2]
    agents = np.zeros((num_envs, n, _BODY + ITEMS + ACHIEVEMENTS), dtype=np.float32)
    agents[..., 0] = worlds.agents[..., arrays.ALIVE]
    agents[..., 1:3] = worlds.objects[:, :n, arrays.X : arrays.Y + 1]
    agents[..., 3:5] = worlds.agents[..., arrays.FACING_X : arrays.FACING_Y + 1]
    agents[..., 5] = worlds.agents[..., arrays.SLEEPING]
    agents[..., _BODY : _BODY + ITEMS] = worlds.agents[..., arrays.INVENTORY : arrays.ACHIEVED]
    agents[..., _BODY + ITEMS :] = worlds.agents[..., arrays.ACHIEVED : arrays.GAINED] > 0
    steps = worlds.counters[:, arrays.STEP]
    clock = np.column_stack([steps, [daylight(step) for step in steps.tolist()]])
    parts = agents, clock, _entities(worlds), worlds.materials
    return np.concatenate([part.reshape(num_envs, -1) for part in parts], axis=1, dtype=np.float32)


def _entities(worlds: World) -> npt.NDArray[np.int64]:
    """Return the entity on each cell, (B, W, H), by `Entity`."""
    slots = worlds.occupants.astype(np.int64) - 1
    number = np.arange(len(slots))[:, None, None]
    kinds = worlds.objects[number, slots, arrays.KIND]
    ripe = (kinds == Entity.plant) & (worlds.objects[number, slots, arrays.TIMER] > RIPE_AGE)
    found: npt.NDArray[np.int64] = np.where(slots < 0, Entity.none, np.where(ripe, Entity.ripe_plant, kinds))
    return found


def _box(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> Box:
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
