"""Streams of actions for lock-step runs: each reads the reference and gives the next action."""

from __future__ import annotations

from collections import deque

import numpy as np

from crafter_env import Action, Achievement, Item, Material
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


class Seeker(Random):
    """Walks to a cell of a kind and presses `do`; a third of the time anything, which also frees it where it is stuck."""

    noise = 0.1

    def wanted(self, reference):
        raise NotImplementedError

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
    """Climbs the technology tree: collects what the next tool takes, and crafts where it stands beside its stations."""

    def wanted(self, reference):
        inventory, achieved = reference.player.inventory, reference.player.achievements
        if inventory["sapling"]:
            return Action.place_plant
        for means, amount, end in TREE:
            have = inventory[end.name] if isinstance(end, Item) else achieved[end.name]
            if have >= amount:
                continue
            if isinstance(means, Material):
                cells = np.argwhere(reference.world._mat_map == means)
                return {tuple(cell) for cell in cells.tolist()} or Action.noop
            if means in (Action.place_table, Action.place_furnace):
                return means
            return self._craft(reference, means)
        return {tuple(cell) for cell in np.argwhere(reference.world._mat_map == Material.water).tolist()}

    def _craft(self, reference, make):
        """Beside a table (and furnace) make it, where materials lack collect them, else carry the table along."""
        nearby, _ = reference.world.nearby(reference.player.pos, 1)
        inventory = reference.player.inventory
        needs = {"wood": 1, "stone": int("stone" in make.name)}
        if "iron" in make.name:
            needs |= {"coal": 1, "iron": 1}
        for item, amount in needs.items():
            if inventory[item] < amount:
                material = Material.tree if item == "wood" else Material[item]
                return {tuple(cell) for cell in np.argwhere(reference.world._mat_map == material).tolist()} or Action.noop
        if "table" not in nearby:
            return self._station(reference, inventory["wood"] >= 3, Action.place_table, Material.tree)
        if "iron" in make.name and "furnace" not in nearby:
            return self._station(reference, inventory["stone"] >= 4, Action.place_furnace, Material.stone)
        return make

    def _station(self, reference, rich, place, material):
        if rich:
            return place
        return {tuple(cell) for cell in np.argwhere(reference.world._mat_map == material).tolist()}


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
