"""The watchdog reads the frames of the event loop's thread while that thread runs."""

import asyncio
import sys
from types import FrameType

from quorum.episode.watchdog import _episode_of


def test_a_callback_that_has_just_returned_belongs_to_no_episode() -> None:
    """`Handle._run` drops its `self` before it returns; the watchdog may look in between."""
    seen: list[object] = []

    def look(frame: FrameType, event: str, _argument: object) -> None:
        if event == "return" and frame.f_code is asyncio.Handle._run.__code__:
            assert frame.f_locals["self"] is None
            seen.append(_episode_of([frame]))

    async def turn() -> None:
        sys.setprofile(look)
        await asyncio.sleep(0)
        sys.setprofile(None)

    asyncio.run(turn())
    assert seen
    assert set(seen) == {None}
