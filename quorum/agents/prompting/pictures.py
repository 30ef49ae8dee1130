"""Observations as pictures in prompts, if `env.observation` asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from weakref import WeakValueDictionary

import orjson

from maeil.world import World
from quorum.agents.llm.pictures import Picture
from quorum_base.drawing import Depicted, Depiction
from quorum_base.painting.scale import STYLE

SHOWN = "There is no block of data here: the picture of this message shows the observation, as it is now."
"""Replaces an observation that is shown only as a picture."""
ALSO_SHOWN = "The picture of this message shows it, too."
"""Follows an observation that is also shown as a picture."""


class Pictures:
    """Makes the pictures in one team's prompts, for a world that shows observations as pictures.

    Args:
        world: the world to draw.
    """

    def __init__(self, world: World) -> None:
        self._world = world if isinstance(world, Depicted) and world.observation.has_picture else None
        self._known: WeakValueDictionary[str, Picture] = WeakValueDictionary()

    def see(self, agent: int | None) -> Depiction | None:
        """Return the drawing of an agent's observation (None: a mind without a body); None if pictures are off."""
        return None if self._world is None else self._world.depict(agent)

    def described(self, blocks: Mapping[str, str], seen: Depiction) -> dict[str, str]:
        """Return the blocks of a prompt with words about its picture after the observation, or instead of it.

        Args:
            blocks: the blocks by name.
            seen: the drawing.
        """
        if self._world is not None and self._world.observation.has_text:
            return {**blocks, "observation": f"{blocks['observation']}\n{ALSO_SHOWN} {seen.legend}"}
        return {**blocks, "observation": f"{SHOWN} {seen.legend}"}

    def painted(self, seen: Depiction) -> Picture:
        """Return the picture of a drawing. Equal drawings at the same time share one picture, painted once."""
        digest = _digest(seen)
        known = self._known.get(digest)
        if known is None:
            from quorum_base.painting.depiction import paint, picture_size  # noqa: PLC0415 (Pillow: only where it is used)

            known = self._known[digest] = Picture(digest, *picture_size(seen), partial(paint, seen))
        return known


def _digest(seen: Depiction) -> str:
    """Hash everything that determines a picture."""
    drawing = seen.drawing
    content = [STYLE, seen.canvas, drawing.ground.hex(), drawing.marks]
    content += [seen.left, seen.top, seen.across, seen.down, seen.lines]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
