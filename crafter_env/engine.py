"""The arrays of a batch of worlds and their reset and step, shared by both environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crafter_env.constants import Achievement, Entity, Item
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import Ends, FlagArray, IntArray, MaskArray, Views, World
from crafter_env.kernels.generation import FIELDS
from crafter_env.kernels.living import RIPE_AGE
from crafter_env.kernels.masking import mask_worlds
from crafter_env.kernels.rules import MAX_STEPS, encode_rules
from crafter_env.kernels.worlds import begin_layout, begin_world, step_worlds
from crafter_env.layout import Layout
from crafter_env.profiles import Level, Profile
from crafter_env.spaces import mask_length
from crafter_env.state import CrafterState
from quorum_base.environments.errors import PlacementError

AREA = (64, 64)
"""Columns and rows of a generated world."""


class Engine:
    """B worlds of one size and team, with their rules.

    Args:
        num_envs: Number of worlds.
        n: Agents in each world.
        size: Columns and rows.
        profile: Switches of the rules.
        level: How many agents must cooperate.
        max_steps: Steps after which an episode is truncated.
        goal: The achievement that ends an episode, if any.
        observe: Store the agents' observations as arrays.
        masks: Store the action masks as an array.

    Copies and pickles continue like the original, with their own arrays.
    """

    def __init__(
        self,
        num_envs: int,
        n: int,
        size: tuple[int, int],
        *,
        profile: Profile,
        level: Level,
        max_steps: int,
        goal: Achievement | None,
        observe: bool,
        masks: bool,
    ) -> None:
        self.num_envs, self.n, self.size = num_envs, n, size
        self.rules = encode_rules(profile, level, n, size, max_steps, goal)
        self.worlds = arrays.allocate_worlds(num_envs, size, n)
        self.choices = mask_length(profile, n)
        self.views = arrays.allocate_views(num_envs, n, seen=observe, choices=self.choices if masks else 0)
        self.ends = arrays.allocate_ends(num_envs, n)
        self._prepare()

    def _prepare(self) -> None:
        size = self.size
        self._scratch = (
            np.zeros((3, 256), dtype=np.int64),
            np.zeros((FIELDS, *size)),
            np.zeros(size, dtype=np.bool_),
            np.zeros(size, dtype=np.uint8),
            np.zeros((size[0] * size[1], 2), dtype=np.int64),
        )
        self._arrays: tuple[Any, ...] = (*self.ends, *self.views, *self.worlds)
        self._noops = np.zeros((self.num_envs, self.n, arrays.ACTION_COLUMNS), dtype=np.int64)

    def seen(self) -> dict[str, npt.NDArray[Any]]:
        """The agents' observations by name, each (B, n, ...), live; empty if not stored."""
        if not self.views.materials.size:
            return {}
        return {
            "materials": self.views.materials,
            "entities": self.views.entities,
            "inventory": self.worlds.agents[..., arrays.INVENTORY : arrays.ACHIEVED],
            "pose": self.views.poses,
            "daylight": self.views.daylight,
        }

    def informed(self) -> dict[str, npt.NDArray[Any]]:
        """The content of plain infos about the agents, each (B, n, ...), live."""
        achievements = self.worlds.agents[..., arrays.ACHIEVED : arrays.GAINED]
        return {"achievements": achievements, "action_mask": self.views.masks}

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps."""
        self.rules[MAX_STEPS] = max_steps

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts that cannot be rebuilt."""
        kept = {name: getattr(self, name) for name in ("num_envs", "n", "size", "rules", "choices")}
        return {**kept, "worlds": arrays.packed(self.worlds), "views": self.views, "ends": self.ends}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.worlds = arrays.unpacked(self.worlds)
        self.views = Views._make(np.array(array, order="C") for array in self.views)
        self.ends = Ends._make(np.array(array, order="C") for array in self.ends)
        self._prepare()

    def begin(self, number: int, seed: int, layout: Layout | None) -> None:
        """Start an episode in a world; `show_world` then writes its observations.

        Args:
            number: Number of the world.
            seed: Seed of its generator.
            layout: Its layout; None to generate the world.

        Raises:
            PlacementError: There is no room for the agents.
        """
        world: Any = World._make(array[number] for array in self.worlds)
        if layout is None:
            room = begin_world(seed, self.rules, world, *self._scratch)
            if room >= 0:
                raise PlacementError(
                    f"the world of seed {seed} has room for {room} agents in one place, not for {self.n}: "
                    "choose another seed, fewer agents, or another spawn"
                )
            return
        begin_layout(seed, layout.material_array(), layout.agent_array(), layout.creature_array(), world)
        state = CrafterState(world)
        for agent, inventory in enumerate(layout.inventories):
            for item, amount in inventory.items():
                state.inventory[agent, item] = amount
            health = state.inventory[agent, Item.health]
            world.agents[agent, arrays.LAST_HEALTH] = world.agents[agent, arrays.REWARDED_HEALTH] = health
        for slot, (kind, _) in enumerate(layout.creatures, start=self.n):
            if kind == Entity.ripe_plant:
                world.objects[slot, arrays.TIMER] = RIPE_AGE + 1

    def take(self, number: int, other: Engine) -> None:
        """Continue with another engine's world of this number."""
        used = other.worlds.counters[number, arrays.SLOTS]
        self.worlds.objects[number, :used] = other.worlds.objects[number, :used]
        for name in set(World._fields) - {"objects"}:
            getattr(self.worlds, name)[number] = getattr(other.worlds, name)[number]

    def show_world(self, number: int) -> None:
        """Write the observations of one world that has just started; rewards and ends stay unchanged."""
        one = slice(number, number + 1)
        ends = arrays.allocate_ends(1, self.n)
        shown: list[Any] = [array[one] for array in (*self.views, *self.worlds)]
        step_worlds(self._noops[one], np.ones(1, dtype=np.bool_), self.rules, *ends, *shown)

    def masks(self) -> MaskArray:
        """Return the action mask of each agent, (B, n, A), as a copy; see `kernels.masking`."""
        masks = np.empty((self.num_envs, self.n, self.choices), dtype=np.int8)
        mask_worlds(masks, self.rules, *self.worlds)
        return masks

    def advance(self, actions: IntArray, begins: FlagArray) -> None:
        """Advance every world except those that start an episode; see `kernels.worlds.step_worlds`."""
        step_worlds(actions, begins, self.rules, *self._arrays)
