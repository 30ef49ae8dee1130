"""The process that replays runs, beside the one that answers."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from experiments.viewer.filming import Filmer, reel


@pytest.fixture
def filmer() -> Filmer:
    """Begin the process."""
    return Filmer(())


def test_it_gives_the_pictures_that_this_process_would_give(filmer: Filmer, episodes: Mapping[str, Path]) -> None:
    for world in ("cube", "squeeze", "cube"):
        assert filmer.reel(episodes[world]) == reel(episodes[world])


def test_it_does_not_hear_ctrl_c(filmer: Filmer, episodes: Mapping[str, Path]) -> None:
    first = filmer.reel(episodes["squeeze"])
    assert filmer._process.pid is not None
    os.kill(filmer._process.pid, signal.SIGINT)
    assert filmer.reel(episodes["squeeze"]) == first


def test_when_it_has_died_the_page_is_told(filmer: Filmer, episodes: Mapping[str, Path]) -> None:
    filmer._process.kill()
    filmer._process.join()
    found = orjson.loads(filmer.reel(episodes["cube"]))
    assert found["pictures"] is None
    assert found["problems"] == ["The process that replays the world has died, so it is not drawn."]
