from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageSequence

from quorum.view.replay.film import encode_gif
from quorum.view.replay.frame_painter import palette
from quorum_base.drawing import MarkKind

COLOURS = palette([MarkKind("a", "#e69f00", "#000000"), MarkKind("b", "#0072b2", "#000000")])


def _decoded(data: bytes) -> tuple[list[np.ndarray], list[int]]:
    with Image.open(BytesIO(data)) as film:
        frames, times = [], []
        for frame in ImageSequence.Iterator(film):
            frames.append(np.asarray(frame.convert("RGB")))
            times.append(frame.info["duration"])
        return frames, times


def _pages(arrays):
    return (Image.fromarray(array) for array in arrays)


@given(seed=st.integers(0, 10**6), frames=st.integers(1, 6), width=st.integers(1, 40), height=st.integers(1, 30))
def test_every_page_comes_back_pixel_by_pixel(seed, frames, width, height) -> None:
    draw = np.random.default_rng(seed)
    spaced = np.array(COLOURS[:2] + COLOURS[6:8], dtype=np.uint8)  # white, ink, and the two kinds
    first = spaced[draw.integers(0, 4, (height, width))]
    arrays = [first]
    for _ in range(frames - 1):
        now = arrays[-1].copy()
        for _ in range(draw.integers(0, 4)):  # 0: nothing changes, and yet there is a frame
            now[draw.integers(0, height), draw.integers(0, width)] = spaced[draw.integers(0, 4)]
        arrays.append(now)
    found, _ = _decoded(encode_gif(_pages(arrays), COLOURS, 10, 2))
    assert len(found) == frames
    assert all(np.array_equal(a, b) for a, b in zip(found, arrays, strict=True))


@pytest.mark.parametrize(("fps", "milliseconds"), [(10, 100), (4, 250), (50, 20), (0.5, 2000)])
def test_a_page_stays_its_time_and_the_last_one_longer(fps, milliseconds) -> None:
    arrays = [np.full((4, 4, 3), shade, dtype=np.uint8) for shade in (255, 29, 255)]
    _, times = _decoded(encode_gif(_pages(arrays), COLOURS, fps, 3))
    assert times == [milliseconds, milliseconds, 3000]


def test_what_does_not_change_takes_no_room() -> None:
    still = np.random.default_rng(0).choice(np.array(COLOURS, dtype=np.uint8), (200, 200))
    one = len(encode_gif(_pages([still]), COLOURS, 10, 2))
    many = len(encode_gif(_pages([still] * 50), COLOURS, 10, 2))
    assert many - one < 50 * 40
