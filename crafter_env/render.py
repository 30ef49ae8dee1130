"""The map as text and as a picture."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crafter_env.kernels.painting import paint_map
from crafter_env.layout import AGENT_CHARACTERS, ARROW, CREATURE_CHARACTERS, UNNAMED_AGENT, draw
from crafter_env.pixels import tiles
from crafter_env.state import CrafterState

MAP_UNIT = 8
"""Pixels along an edge of a cell of the whole map."""
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


def render_rgb(state: CrafterState) -> npt.NDArray[np.uint8]:
    """The whole map by day, uint8 (8 height, 8 width, 3)."""
    world, (width, height) = state.world, state.size
    picture = np.zeros((height * MAP_UNIT, width * MAP_UNIT, 3), dtype=np.uint8)
    paint_map(picture, *tiles(MAP_UNIT), world.materials, world.occupants, world.objects, world.agents)
    return picture
