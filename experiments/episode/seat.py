"""A place in a team that another mind takes over in the middle of an episode."""

from __future__ import annotations

from maeil.mind import Mind, Thought, View
from maeil.trace import Prefix


class Seat:
    """Thinks with one mind until the instant at which an episode branches off, and with another one from there on.

    Args:
        before: the mind until then.
        after: the mind from then on.
        prefix: says when the instant has come.
        along: whether the second one thinks along before it, which counts for nothing.
    """

    def __init__(self, before: Mind, after: Mind, prefix: Prefix, *, along: bool) -> None:
        self._before = before
        self._after = after
        self._prefix = prefix
        self._along = along

    async def think(self, view: View) -> Thought:
        """Have the mind think whose time it is."""
        if self._prefix.live:
            return await self._after.think(view)
        thought = await self._before.think(view)
        if self._along:
            await self._after.think(view)
        return thought


class Attended:
    """Thinks with one mind, while another one thinks along, from the start to the end, and counts for nothing.

    Minds that are built together may share what they know. Where one of such a team takes over from its own copy, it
    knows what it would have known only if all of its team have thought.

    Args:
        mind: that which thinks.
        beside: that which thinks along; it asks no language model.
    """

    def __init__(self, mind: Mind, beside: Mind) -> None:
        self._mind = mind
        self._beside = beside

    async def think(self, view: View) -> Thought:
        """Have both think."""
        thought = await self._mind.think(view)
        await self._beside.think(view)
        return thought
