"""Kernels for pictures: copy tiles cell by cell, then apply daylight."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Entity
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ByteArray, FlagArray, IntArray, SlotArray
from crafter_env.kernels.jit import compiled, inner
from crafter_env.kernels.living import RIPE_AGE
from crafter_env.kernels.rules import daylight

OWN: Final = 0
"""Sprite of the observing agent facing left; then right, up, down and asleep."""
TEAMMATES: Final = 5
COWS: Final = 10
"""First cow sprite; zombies and skeletons follow."""
ARROWS: Final = 13
"""Facing left; then right, up and down."""
PLANTS: Final = 17
"""First plant sprite; ripe plants follow."""
SPRITES: Final = 19
_COLUMNS, _ROWS = 9, 7
_ASLEEP: Final = 4
_COW, _ARROW, _PLANT = int(Entity.cow), int(Entity.arrow), int(Entity.plant)
_NIGHT, _DREAM = (0, 16, 64), (0, 0, 16)
"""Colours towards which a picture fades."""
_SATURATION: Final = 0.4
"""Saturation of the colours at midnight."""

_light_at = inner(daylight)


@compiled
def paint_agents(
    pictures: ByteArray,
    grounds: ByteArray,
    sprites: ByteArray,
    items: ByteArray,
    digits: FlagArray,
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    counters: IntArray,
) -> None:
    """Paint the view of every living agent of B worlds.

    Args:
        pictures: Shape (B, n, P, P, 3), black; written.
        grounds: Shape (13, u, u, 3): the picture of each material.
        sprites: Shape (SPRITES, u, u, 4): the pictures of entities, transparent where the last number is 0.
        items: Shape (16, u, u, 4): the picture of each item.
        digits: Shape (10, h, w): the ink of each digit.
        materials: This and the following are fields of `World`.
        occupants: See `World`.
        objects: See `World`.
        agents: See `World`.
        counters: See `World`.
    """
    unit = grounds.shape[1]
    border = (pictures.shape[2] - 9 * unit) // 2
    for b in range(pictures.shape[0]):
        light = _light_at(counters[b, arrays.STEP])
        for agent in range(pictures.shape[1]):
            if not agents[b, agent, arrays.ALIVE]:
                continue
            picture = pictures[b, agent, border:, border:]
            left, top = objects[b, agent, arrays.X] - _COLUMNS // 2, objects[b, agent, arrays.Y] - _ROWS // 2
            for i in range(_COLUMNS):
                for j in range(_ROWS):
                    _paint_cell(
                        picture[j * unit : (j + 1) * unit, i * unit : (i + 1) * unit], grounds, sprites,
                        materials[b], occupants[b], objects[b], agents[b], left + i, top + j, agent,
                    )  # fmt: skip
            seen = picture[: _ROWS * unit, : _COLUMNS * unit]
            if agents[b, agent, arrays.SLEEPING]:
                _fade(seen, 0.0, 0.0, _DREAM)
            else:
                _fade(seen, light, _SATURATION, _NIGHT)
            for item in range(arrays.ITEMS):
                row, column = _ROWS + item // _COLUMNS, item % _COLUMNS
                _paint_item(
                    picture[row * unit : (row + 1) * unit, column * unit : (column + 1) * unit],
                    items[item], digits, agents[b, agent, arrays.INVENTORY + item],
                )  # fmt: skip


@inner
def _paint_cell(
    canvas: ByteArray,
    grounds: ByteArray,
    sprites: ByteArray,
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    x: int,
    y: int,
    viewer: int,
) -> None:
    """Paint one cell of the map as seen by an agent; -1 for no agent."""
    if not (0 <= x < materials.shape[0] and 0 <= y < materials.shape[1]):
        _cover(canvas, grounds[0])
        return
    _cover(canvas, grounds[materials[x, y]])
    slot = occupants[x, y] - 1
    if slot >= 0:
        _overlay(canvas, sprites[_sprite_of(objects, agents, slot, viewer)])


@inner
def _sprite_of(objects: IntArray, agents: IntArray, slot: int, viewer: int) -> int:
    if slot < agents.shape[0]:
        first = OWN if slot == viewer else TEAMMATES
        if agents[slot, arrays.SLEEPING]:
            return first + _ASLEEP
        return first + _side(agents[slot, arrays.FACING_X], agents[slot, arrays.FACING_Y])
    kind = objects[slot, arrays.KIND]
    if kind == _ARROW:
        return ARROWS + _side(objects[slot, arrays.DIRECTION_X], objects[slot, arrays.DIRECTION_Y])
    if kind == _PLANT:
        return PLANTS + (1 if objects[slot, arrays.TIMER] > RIPE_AGE else 0)
    return COWS + kind - _COW


@inner
def _side(dx: int, dy: int) -> int:
    """Return the index of a direction: left, right, up, down."""
    if dx != 0:
        return 0 if dx < 0 else 1
    return 2 if dy < 0 else 3


@inner
def _cover(canvas: ByteArray, tile: ByteArray) -> None:
    for row in range(tile.shape[0]):
        for column in range(tile.shape[1]):
            for colour in range(3):
                canvas[row, column, colour] = tile[row, column, colour]


@inner
def _overlay(canvas: ByteArray, sprite: ByteArray) -> None:
    for row in range(sprite.shape[0]):
        for column in range(sprite.shape[1]):
            if sprite[row, column, 3]:
                for colour in range(3):
                    canvas[row, column, colour] = sprite[row, column, colour]


@inner
def _fade(canvas: ByteArray, light: float, saturation: float, tint: tuple[int, int, int]) -> None:
    """Blend a picture with its dark version, less saturated and half tinted; light 1 leaves it unchanged."""
    dark = 1.0 - light
    for row in range(canvas.shape[0]):
        for column in range(canvas.shape[1]):
            red, green, blue = canvas[row, column, 0], canvas[row, column, 1], canvas[row, column, 2]
            grey = (1.0 - saturation) * (0.299 * red + 0.587 * green + 0.114 * blue)
            canvas[row, column, 0] = int(light * red + dark * 0.5 * (saturation * red + grey + tint[0]))
            canvas[row, column, 1] = int(light * green + dark * 0.5 * (saturation * green + grey + tint[1]))
            canvas[row, column, 2] = int(light * blue + dark * 0.5 * (saturation * blue + grey + tint[2]))


@inner
def _paint_item(canvas: ByteArray, item: ByteArray, digits: FlagArray, amount: int) -> None:
    """Paint an item and its amount in the lower right corner, with two digits if needed."""
    if amount <= 0:
        return
    _overlay(canvas, item)
    right = canvas.shape[1]
    while amount > 0:
        _ink(canvas, digits[amount % 10], right)
        right -= digits.shape[2] + 1
        amount //= 10


@inner
def _ink(canvas: ByteArray, figure: FlagArray, right: int) -> None:
    top, left = canvas.shape[0] - figure.shape[0], right - figure.shape[1]
    for row in range(figure.shape[0]):
        for column in range(figure.shape[1]):
            if left + column >= 0:
                for colour in range(3):
                    canvas[top + row, left + column, colour] = 255 if figure[row, column] else 0
