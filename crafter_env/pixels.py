"""Pictures of what agents see: the local view over their needs and bags, in tiles drawn by this project."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import VIEW, Entity, Item, Material
from crafter_env.kernels.arrays import World
from crafter_env.kernels.painting import (
    ARROWS,
    COWS,
    OWN,
    PLANTS,
    SPRITES,
    TEAMMATES,
    paint_agents,
)
from crafter_env.sprites import digit, ground, sprite
from maeil.environments.errors import WorldError

Picture = npt.NDArray[np.uint8]

INVENTORY_ROWS: Final = 2
GRID: Final = (VIEW[0], VIEW[1] + INVENTORY_ROWS)
"""Cells of a picture: the local view, and below it two rows of what the agent has."""
SMALLEST: Final = 7 * GRID[0]
"""Pixels below which a figure of 3 x 5 dots does not fit a cell."""
_POSES = ("left", "right", "up", "down")
_TOOLS = {"wood": "B", "stone": "W", "iron": "s"}


class Painter:
    """Paints what agents see, square pictures of 9 x 9 cells; a border is left where they do not divide evenly.

    At night colours fade towards dark blue, and for a sleeper more so; unlike Crafter's, the night has no noise, so
    that looking at the world does not change it.

    Args:
        pixels: Along an edge of a picture.

    Raises:
        WorldError: There are too few pixels for the figures of the inventory.
    """

    def __init__(self, pixels: int) -> None:
        if pixels < SMALLEST:
            raise WorldError(f"pixels = {pixels}: a picture has at least {SMALLEST} along an edge")
        self.pixels = pixels
        unit = pixels // GRID[0]
        self._grounds, self._sprites = tiles(unit)
        self._items = np.stack([_item(item, unit) for item in Item])
        self._digits = np.stack([digit(number, unit // 7) for number in range(10)])

    def paint(self, worlds: World) -> Picture:
        """What every agent sees, uint8 (B, n, pixels, pixels, 3), arrays of the caller's own; of a dead one black."""
        num_envs, n = worlds.agents.shape[:2]
        pictures = np.zeros((num_envs, n, self.pixels, self.pixels, 3), dtype=np.uint8)
        paint_agents(
            pictures, self._grounds, self._sprites, self._items, self._digits,
            worlds.materials, worlds.occupants, worlds.objects, worlds.agents, worlds.counters,
        )  # fmt: skip
        return pictures


def tiles(unit: int) -> tuple[Picture, Picture]:
    """The pictures of materials, (13, unit, unit, 3), and of what stands on them, (SPRITES, unit, unit, 4)."""
    sprites = np.zeros((SPRITES, unit, unit, 4), dtype=np.uint8)
    for first, swap in ((OWN, ("u", "u")), (TEAMMATES, ("u", "o"))):
        for number, pose in enumerate((*_POSES, "asleep")):
            sprites[first + number] = sprite(f"player_{pose}", unit, swap=swap)
    for kind in (Entity.cow, Entity.zombie, Entity.skeleton):
        sprites[COWS + kind - Entity.cow] = sprite(kind.name, unit)
    for number, turns in enumerate((1, 3, 0, 2)):
        sprites[ARROWS + number] = sprite("arrow", unit, turns=turns)
    for number, name in enumerate(("plant", "ripe_plant")):
        sprites[PLANTS + number] = sprite(name, unit)
    return np.stack([ground(material.name, unit) for material in Material]), sprites


def _item(item: Item, unit: int) -> Picture:
    material, _, tool = item.name.partition("_")
    return sprite(tool, unit, swap=("#", _TOOLS[material])) if tool else sprite(item.name, unit)
