"""What a participant observes as a picture in its prompt, where `env.observation` asks for one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

import orjson

from maeil.world import World
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import ChatMessage
from quorum_base.drawing import Depicted, Depiction
from quorum_base.painting.scale import STYLE

SHOWN = "There is no block of data here: the picture of this message shows the observation, as it is now."
"""What stands in a prompt in the place of an observation that a picture shows."""
ALSO_SHOWN = "The picture of this message shows it, too."
"""What follows an observation that a picture shows, too."""


class Pictures:
    """Makes the pictures of the prompts of one team, in a world that shows observations so.

    Args:
        world: whose agents observe.
    """

    def __init__(self, world: World) -> None:
        self._world = world if isinstance(world, Depicted) and world.observation.has_picture else None
        self._known: WeakValueDictionary[str, Picture] = WeakValueDictionary()

    def see(self, agent: int | None) -> Depiction | None:
        """Return what an agent observes, None for one without a body, as a drawing; None where nothing is drawn."""
        return None if self._world is None else self._world.depict(agent)

    def described(self, blocks: Mapping[str, str], name: str, seen: Depiction | None) -> Mapping[str, str]:
        """Return the blocks of a prompt with words about its picture after the observation, or in its place.

        Args:
            blocks: as `write_blocks` writes them.
            name: of the block with the observation.
            seen: what is drawn.
        """
        if self._world is None or seen is None:
            return blocks
        if self._world.observation.has_text:
            return {**blocks, name: f"{blocks[name]}\n{ALSO_SHOWN} {seen.legend}"}
        return {**blocks, name: f"{SHOWN} {seen.legend}"}

    def attached(self, messages: tuple[ChatMessage, ...], seen: Depiction | None) -> tuple[ChatMessage, ...]:
        """Return the messages of a prompt with the picture in the last of them, that of the turn."""
        if seen is None:
            return messages
        return (*messages[:-1], replace(messages[-1], pictures=(self._picture(seen),)))

    def _picture(self, seen: Depiction) -> Picture:
        """Return the picture of a drawing. Those who see the same at the same time share it: it is painted once."""
        digest = _digest(seen)
        known = self._known.get(digest)
        if known is None:
            from quorum_base.painting.depiction import paint, picture_size  # noqa: PLC0415 (Pillow: only where it is used)

            known = self._known[digest] = Picture(digest, *picture_size(seen), partial(paint, seen))
        return known


def _digest(seen: Depiction) -> str:
    """Hash all that a picture is painted from."""
    drawing = seen.drawing
    content = [STYLE, seen.canvas, drawing.ground.hex(), drawing.marks]
    content += [seen.left, seen.top, seen.across, seen.down, seen.lines]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
