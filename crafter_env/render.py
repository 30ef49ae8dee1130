"""The map as text, and the agents' views as pictures, with tiles drawn by this project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import VIEW, Entity, Item, Material
from crafter_env.kernels.arrays import World
from crafter_env.kernels.painting import ARROWS, COWS, OWN, PLANTS, SPRITES, TEAMMATES, paint_agents
from crafter_env.layout import AGENT_CHARACTERS, ARROW, CREATURE_CHARACTERS, UNNAMED_AGENT, draw
from crafter_env.state import CrafterState
from quorum_base.environments.errors import WorldError

SpriteArray = npt.NDArray[np.uint8]

_ART: Final = json.loads((Path(__file__).parent / "tiles.json").read_text(encoding="utf-8"))
PALETTE: Final[dict[str, tuple[int, int, int]]] = _ART["palette"]
DRAWINGS: Final[dict[str, list[str]]] = _ART["drawings"]
"""Rows from top to bottom, in palette letters. `#` is the colour of a tool's material."""
DIGITS: Final[list[list[str]]] = _ART["digits"]
"""Digits of 3 x 5 dots."""


def sprite(name: str, unit: int, *, swap: tuple[str, str] = ("#", "#"), turns: int = 0) -> SpriteArray:
    """Return a picture, uint8 (unit, unit, 4): red, green, blue, and 0 where transparent.

    Args:
        name: A name in `DRAWINGS`.
        unit: Pixels along an edge.
        swap: A letter, and the letter whose colour replaces its colour.
        turns: Quarter turns to the left.
    """
    rows = [row.replace(*swap) for row in DRAWINGS[name]]
    dots = np.array([[(*PALETTE[c], 255) if c != "." else (0, 0, 0, 0) for c in row] for row in rows], np.uint8)
    return np.ascontiguousarray(np.rot90(_scaled(dots, unit), turns))


def ground(name: str, unit: int) -> SpriteArray:
    """Return the picture of a material, uint8 (unit, unit, 3)."""
    look = _ART["grounds"][name]
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    is_grain = (x * 5 + y * 3 + x * y) % look["every"] == 0
    dots = np.where(is_grain[..., None], look["grain"], look["colour"]).astype(np.uint8)
    for colour, (left, right), (top, bottom) in _ART["marks"].get(name, ()):  # rectangles over the grain
        dots[top:bottom, left:right] = PALETTE[colour]
    return np.ascontiguousarray(_scaled(dots, unit))


def digit(number: int, scale: int) -> npt.NDArray[np.bool_]:
    """Return the ink of a digit from 0 to 9, bool (5 scale, 3 scale)."""
    dots = np.array([[c == "#" for c in row] for row in DIGITS[number]])
    return dots.repeat(scale, axis=0).repeat(scale, axis=1)


def _scaled(dots: SpriteArray, unit: int) -> SpriteArray:
    nearest = np.arange(unit) * len(dots) // unit
    return dots[nearest][:, nearest]


Picture = npt.NDArray[np.uint8]

INVENTORY_ROWS: Final = 2
GRID: Final = (VIEW[0], VIEW[1] + INVENTORY_ROWS)
"""Cells of a picture: the local view, and below it two rows of inventory."""
SMALLEST: Final = 7 * GRID[0]
"""Minimum cell size in pixels for digits of 3 x 5 dots."""
_POSES = ("left", "right", "up", "down")
_TOOLS = {"wood": "B", "stone": "W", "iron": "s"}


class Painter:
    """Paints the agents' views, square pictures of 9 x 9 cells; a border remains if they do not divide evenly.

    At night colours fade towards dark blue, more so for sleepers. Unlike Crafter's, the night has no noise, so looking
    at the world does not change it.

    Args:
        pixels: Edge length of a picture.

    Raises:
        WorldError: There are too few pixels for the digits of the inventory.
    """

    def __init__(self, pixels: int) -> None:
        if pixels < SMALLEST:
            raise WorldError(f"pixels = {pixels}: a picture needs at least {SMALLEST} along each edge")
        self.pixels = pixels
        unit = pixels // GRID[0]
        self._grounds, self._sprites = tiles(unit)
        self._items = np.stack([_item(item, unit) for item in Item])
        self._digits = np.stack([digit(number, unit // 7) for number in range(10)])

    def paint(self, worlds: World) -> Picture:
        """Return every agent's view, uint8 (B, n, pixels, pixels, 3), as copies; black for dead agents."""
        num_envs, n = worlds.agents.shape[:2]
        pictures = np.zeros((num_envs, n, self.pixels, self.pixels, 3), dtype=np.uint8)
        paint_agents(
            pictures, self._grounds, self._sprites, self._items, self._digits,
            worlds.materials, worlds.occupants, worlds.objects, worlds.agents, worlds.counters,
        )  # fmt: skip
        return pictures


def tiles(unit: int) -> tuple[Picture, Picture]:
    """Return the pictures of materials, (13, unit, unit, 3), and of entities, (SPRITES, unit, unit, 4)."""
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


_CREATURES = {kind: character for character, kind in CREATURE_CHARACTERS.items()}


def render_ansi(state: CrafterState) -> str:
    """Draw the whole map in the characters of `Layout`; `*` is an arrow, `@` an agent above 9; without dead agents."""
    entities = [
        (_CREATURES.get(state.entity_at(creature.cell), ARROW), creature.cell) for creature in state.creatures()
    ]
    for agent, (x, y) in enumerate(state.positions.tolist()):
        if state.alive[agent]:
            entities.append((AGENT_CHARACTERS[agent] if agent < len(AGENT_CHARACTERS) else UNNAMED_AGENT, (x, y)))
    return draw(state.materials, entities)
