"""Wall-clock limits: they end an episode, and never change what agents see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from maeil.errors import LimitReached


class Limits:
    """The limits of one episode, counted from here.

    Args:
        thought_seconds: longest time that a mind may take for a thought; None for any.
        episode_seconds: longest time that the episode may take; None for any.
    """

    def __init__(self, thought_seconds: float | None, episode_seconds: float | None) -> None:
        self._thought_seconds = thought_seconds
        self._episode_seconds = episode_seconds
        self._begin = time.perf_counter()

    def check_episode(self) -> None:
        """End an episode that has taken too long.

        Raises:
            LimitReached: it has.
        """
        limit = self._episode_seconds
        if limit is not None and time.perf_counter() - self._begin >= limit:
            raise LimitReached(f"episode_seconds: {limit:g} s are over")

    @asynccontextmanager
    async def thought(self, name: str) -> AsyncIterator[None]:
        """Bound what stands inside by the limit of a thought, and by what is left of the episode.

        Args:
            name: who thinks.

        Raises:
            LimitReached: the time is over; what stood inside is cancelled.
        """
        left = None
        if self._episode_seconds is not None:
            left = max(self._episode_seconds - (time.perf_counter() - self._begin), 0)
        bounds = [bound for bound in (self._thought_seconds, left) if bound is not None]
        if not bounds:
            yield
            return
        try:
            async with asyncio.timeout(min(bounds)) as scope:
                yield
        except TimeoutError:
            if not scope.expired():
                raise
            self.check_episode()
            raise LimitReached(f"thought_seconds: {name} thought longer than {self._thought_seconds:g} s") from None
