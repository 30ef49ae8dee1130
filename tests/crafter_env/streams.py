"""Streams of actions for lock-step runs: each reads the reference and gives the next action."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque

import numpy as np

from crafter_env import Achievement, Action, Item, Material
from crafter_env.constants import DISPLACEMENT

WALK = {delta: action for action, delta in DISPLACEMENT.items()}
TREE = (
    (Material.tree, 5, Item.wood),
    (Action.place_table, 1, Achievement.place_table),
    (Action.make_wood_pickaxe, 1, Item.wood_pickaxe),
    (Action.make_wood_sword, 1, Item.wood_sword),
    (Material.stone, 8, Item.stone),
    (Action.make_stone_pickaxe, 1, Item.stone_pickaxe),
    (Action.make_stone_sword, 1, Item.stone_sword),
    (Action.place_furnace, 1, Achievement.place_furnace),
    (Material.coal, 2, Item.coal),
    (Material.iron, 2, Item.iron),
    (Action.make_iron_pickaxe, 1, Item.iron_pickaxe),
    (Action.make_iron_sword, 1, Item.iron_sword),
    (Material.diamond, 1, Item.diamond),
)


class Random:
    """Every action with equal probability."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __call__(self, reference):
        return int(self.rng.integers(17))


class Sleeper(Random):
    """Mostly sleep, now and then anything."""

    def __call__(self, reference):
        return int(Action.sleep) if self.rng.random() < 0.8 else super().__call__(reference)


class Seeker(Random, ABC):
    """Walks to a cell of a kind and presses `do`; now and then anything, which frees it where it is stuck."""

    noise = 0.05

    @abstractmethod
    def wanted(self, reference):
        """Cells to stand next to, or an action to take at once."""

    def cells(self, reference, material):
        return {tuple(cell) for cell in np.argwhere(reference.world._mat_map == material).tolist()} or Action.noop

    def __call__(self, reference):
        if self.rng.random() < self.noise:
            return super().__call__(reference)
        wanted = self.wanted(reference)
        if isinstance(wanted, Action):
            return int(wanted)
        return int(step_to(reference, wanted, self.rng))


class Fighter(Seeker):
    """Seeks what lives, and hits it."""

    def wanted(self, reference):
        near = min(
            (thing for thing in reference.world.objects if thing is not reference.player),
            key=reference.player.distance,
            default=None,
        )
        return Action.noop if near is None else {tuple(near.pos.tolist())}


class Climber(Seeker):
    """Climbs the technology tree: collects what the next tool takes, and crafts next to its stations."""

    stage = 0

    def wanted(self, reference):
        if reference._step == 0:
            self.stage = 0
        inventory, achieved = reference.player.inventory, reference.player.achievements
        for means, amount, end in TREE[self.stage :]:
            if (inventory if isinstance(end, Item) else achieved)[end.name] < amount:
                if isinstance(means, Material):
                    return self.cells(reference, means)
                return self._craft(reference, means) if isinstance(end, Item) else means
            self.stage += 1
        return Action.place_plant if inventory["sapling"] else self.cells(reference, Material.water)

    def _craft(self, reference, make):
        """First collect what the tool and its stations take, then put up the stations, then make it."""
        nearby, _ = reference.world.nearby(reference.player.pos, 1)
        inventory = reference.player.inventory
        iron = "iron" in make.name
        table, furnace = "table" in nearby, "furnace" in nearby or not iron
        needs = {Item.wood: 1 + 2 * (not table), Item.stone: int("stone" in make.name) + 4 * (not furnace)}
        needs |= {Item.coal: int(iron), Item.iron: int(iron)}
        for item, amount in needs.items():
            if inventory[item.name] < amount:
                return self.cells(reference, Material.tree if item == Item.wood else Material[item.name])
        if table and furnace:
            return make
        faced = reference.player.pos + reference.player.facing
        if not reference.player.is_free(faced, ["grass", "sand", "path"]):
            return Action(int(self.rng.integers(1, 5)))
        return Action.place_furnace if table else Action.place_table


def step_to(reference, targets, rng):
    """The next action on a shortest way to face a target, `do` when it is faced; a random walk where there is none."""
    player = reference.player
    start = tuple(player.pos.tolist())
    faced = (start[0] + player.facing[0], start[1] + player.facing[1])
    if faced in targets:
        return Action.do
    first = {start: None}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for delta, action in WALK.items():
            to = (cell[0] + delta[0], cell[1] + delta[1])
            if to in first:
                continue
            if to in targets:
                return first[cell] or action
            if player.is_free(to, ["grass", "sand", "path"]):
                first[to] = first[cell] or action
                queue.append(to)
    return Action(int(rng.integers(1, 7)))


STREAMS = (Random, Climber, Sleeper, Fighter)
