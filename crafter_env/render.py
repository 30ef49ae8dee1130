"""The map as text, and what agents see as pictures, in tiles drawn by this project."""

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
from crafter_env.layout import AGENT_CHARACTERS, ARROW, CREATURE_CHARACTERS, UNNAMED_AGENT, draw
from crafter_env.state import CrafterState
from maeil.environments.errors import WorldError

SpriteArray = npt.NDArray[np.uint8]

PALETTE: Final[dict[str, tuple[int, int, int]]] = {
    "k": (20, 20, 24),
    "w": (240, 240, 235),
    "g": (96, 160, 64),
    "G": (44, 104, 40),
    "b": (112, 74, 40),
    "B": (160, 112, 64),
    "s": (232, 190, 150),
    "u": (40, 88, 200),
    "o": (240, 136, 32),
    "r": (208, 40, 48),
    "y": (248, 216, 72),
    "z": (112, 150, 96),
    "c": (96, 216, 224),
    "n": (128, 128, 128),
    "N": (88, 88, 92),
    "p": (236, 150, 168),
    "W": (200, 200, 200),
}

DRAWINGS: Final[dict[str, str]] = {
    "player_down": "..bbbb.. ..ssss.. ..kssk.. ..ssss.. .uuuuuu. .suuuus. ..uuuu.. ..k..k..",
    "player_up": "..bbbb.. ..bbbb.. ..bbbb.. ..ssss.. .uuuuuu. .suuuus. ..uuuu.. ..k..k..",
    "player_left": "..bbbb.. ..sssb.. ..ksss.. ..ssss.. ..uuuu.. ..suuu.. ..uuuu.. ..k..k..",
    "player_right": "..bbbb.. ..bsss.. ..sssk.. ..ssss.. ..uuuu.. ..uuus.. ..uuuu.. ..k..k..",
    "player_asleep": "........ ........ ........ .bssuuuu bsssuuuu bksssuuk .bssuuuu ........",
    "cow": "........ k......k wkkwwkkw kwwwwkwp wwkkwwwp wwkkwww. .k.kk.k. .w.ww.w.",
    "zombie": "..GGGG.. ..zzzz.. ..rzzr.. ..zkkz.. zzGGGGzz ..GGGG.. ..GGGG.. ..z..z..",
    "skeleton": "..wwww.. ..kwwk.. ..wwww.. ...kk... wwwwwwww ..kwwk.. ..wwww.. ..w..w..",
    "arrow": "...w.... ..www... ...b.... ...b.... ...b.... ...b.... ..wbw... ..w.w...",
    "plant": "........ ........ ...g.... ..gGg... ...G..g. .g.G.G.. ..GGG... ...G....",
    "ripe_plant": "..r..... .rrr..r. ..rGgrrr ...G..r. .g.G.G.. ..GGG... ...G.... ...G....",
    "health": "........ .rr..rr. rwrrrrrr rrrrrrrr .rrrrrr. ..rrrr.. ...rr... ........",
    "food": "........ ....bbb. ...bBBBb ...bBBBb ..wbbbb. .w...... ww...... ........",
    "drink": "...u.... ...u.... ..ucu... ..ucu... .uccuu.. .ucuuu.. .uuuuu.. ..uuu...",
    "energy": "....yy.. ...yy... ..yy.... .yyyyyy. ....yy.. ...yy... ..yy.... ..y.....",
    "sapling": "........ ........ ..g.g... .gGgGg.. ..gGg... ...G.... ...G.... ..bbb...",
    "wood": "........ .bbbbbb. bBBBBBBb bbbbbbbb bBBBBBBb bbbbbbbb .bbbbbb. ........",
    "stone": "........ ..nnnn.. .nWWnnn. nWWnnnnN nnnnnNNN nnNnnNNN .nnnNNN. ........",
    "coal": "........ ..kkk... .kNkkkk. kkkkkNkk kNkkkkkk kkkkNkkk .kkkkkk. ........",
    "iron": "........ ..sss... .sWssBB. sssssBBB ssBssBBB sBBBBBBB .BBBBBB. ........",
    "diamond": "........ ..wwww.. .wccccw. wcwccccw .wccccw. ..wccw.. ...ww... ........",
    "pickaxe": "..###... ....##.. ....b##. ...b..#. ..b....# .b.....# b....... ........",
    "sword": "......## .....##. ....##.. b..##... .b##.... ..b..... .b.b.... b.......",
}  # fmt: skip
"""Rows from top to bottom. `#` is the colour of a tool's material."""

DIGITS: Final = (
    "### #.# #.# #.# ###", "..# ..# ..# ..# ..#", "### ..# ### #.. ###", "### ..# ### ..# ###", "#.# #.# ### ..# ..#",
    "### #.. ### ..# ###", "### #.. ### #.# ###", "### ..# ..# ..# ..#", "### #.# ### #.# ###", "### #.# ### ..# ###",
)  # fmt: skip
"""Figures of 3 x 5 dots."""


def sprite(name: str, unit: int, *, swap: tuple[str, str] = ("#", "#"), turns: int = 0) -> SpriteArray:
    """A picture, uint8 (unit, unit, 4): red, green, blue, and 0 where it is transparent.

    Args:
        name: One of `DRAWINGS`.
        unit: Pixels along an edge.
        swap: A letter, and the one whose colour takes its place.
        turns: Quarter turns to the left.
    """
    rows = DRAWINGS[name].replace(*swap).split()
    dots = np.array([[(*PALETTE[c], 255) if c != "." else (0, 0, 0, 0) for c in row] for row in rows], np.uint8)
    return np.ascontiguousarray(np.rot90(_scaled(dots, unit), turns))


def ground(name: str, unit: int) -> SpriteArray:
    """The picture of a material, uint8 (unit, unit, 3)."""
    base, grain, every = _GROUNDS[name]
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    dots = np.where(((x * 5 + y * 3 + x * y) % every == 0)[..., None], grain, base).astype(np.uint8)
    for colour, columns, rows in _MARKS.get(name, ()):
        dots[rows, columns] = PALETTE[colour]
    return np.ascontiguousarray(_scaled(dots, unit))


def digit(number: int, scale: int) -> npt.NDArray[np.bool_]:
    """Where a figure from 0 to 9 has ink, bool (5 scale, 3 scale)."""
    dots = np.array([[c == "#" for c in row] for row in DIGITS[number].split()])
    return dots.repeat(scale, axis=0).repeat(scale, axis=1)


def _scaled(dots: SpriteArray, unit: int) -> SpriteArray:
    nearest = np.arange(unit) * len(dots) // unit
    return dots[nearest][:, nearest]


_STONE = ((128, 128, 128), (108, 108, 110), 4)
_GRASS = ((96, 160, 64), (84, 146, 54), 5)
_GROUNDS: Final[dict[str, tuple[tuple[int, int, int], tuple[int, int, int], int]]] = {
    "none": ((127, 127, 127), (127, 127, 127), 1),
    "water": ((56, 104, 216), (92, 140, 236), 6),
    "grass": _GRASS,
    "stone": _STONE,
    "path": ((184, 172, 148), (170, 158, 134), 5),
    "sand": ((232, 216, 152), (218, 200, 134), 5),
    "tree": _GRASS,
    "lava": ((232, 88, 24), (252, 176, 48), 4),
    "coal": _STONE,
    "iron": _STONE,
    "diamond": _STONE,
    "table": ((160, 112, 64), (112, 74, 40), 3),
    "furnace": ((88, 88, 92), (70, 70, 74), 3),
}
"""Colour, colour of the grain, and how sparse the grain is."""

_Mark = tuple[str, slice, slice]
_ORE: Final = ((slice(1, 3), slice(1, 3)), (slice(5, 7), slice(2, 4)), (slice(2, 4), slice(5, 7)))
_MARKS: Final[dict[str, tuple[_Mark, ...]]] = {
    "tree": (("G", slice(1, 7), slice(0, 6)), ("g", slice(2, 4), slice(1, 3)), ("b", slice(3, 5), slice(5, 8))),
    "coal": tuple(("k", columns, rows) for columns, rows in _ORE),
    "iron": tuple(("s", columns, rows) for columns, rows in _ORE),
    "diamond": tuple(("c", columns, rows) for columns, rows in _ORE),
    "table": (("b", slice(0, 8), slice(0, 1)), ("b", slice(0, 1), slice(0, 8)), ("W", slice(3, 6), slice(3, 5))),
    "furnace": (("n", slice(0, 8), slice(0, 1)), ("k", slice(2, 6), slice(3, 7)), ("o", slice(3, 5), slice(5, 7))),
}
"""Colour, columns and rows of rectangles over the grain."""


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


_CREATURES = {kind: character for character, kind in CREATURE_CHARACTERS.items()}


def render_ansi(state: CrafterState) -> str:
    """The whole map in the characters of `Layout`, and `*` for an arrow; agents above 9 are `@`, the dead are gone."""
    entities = [
        (_CREATURES.get(state.entity_at(creature.cell), ARROW), creature.cell) for creature in state.creatures()
    ]
    for agent, (x, y) in enumerate(state.positions.tolist()):
        if state.alive[agent]:
            entities.append((AGENT_CHARACTERS[agent] if agent < len(AGENT_CHARACTERS) else UNNAMED_AGENT, (x, y)))
    return draw(state.materials, entities)
