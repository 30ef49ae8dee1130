"""The watchdog reads the frames of the event loop's thread while that thread runs."""

import asyncio
import sys
from types import FrameType

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.watchdog import Watchdog, WatchedEpisode, _episode_of


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


@pytest.mark.parametrize(("silent", "reads"), [(1.0, False), (30.0, True)])
def test_frames_are_read_only_if_a_limit_has_passed(
    silent: float, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the frames of a running thread may crash CPython 3.11."""
    asked: list[int] = []
    watchdog = Watchdog(lambda _: None)
    watchdog._episodes.append(WatchedEpisode(Cell.compose(["limits.step_seconds=20"])))

    def frames() -> dict[int, FrameType]:
        asked.append(1)
        return {}

    monkeypatch.setattr(sys, "_current_frames", frames)
    watchdog._judge(silent)
    assert bool(asked) == reads
    watchdog._episodes.clear()
    asked.clear()
    watchdog._judge(1e6)
    assert not asked
