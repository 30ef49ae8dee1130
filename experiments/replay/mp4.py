"""Writes an MP4 with H.264, by the extra `video`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from types import ModuleType

from PIL import Image

_OPTIONS = {"crf": "20", "preset": "medium"}
"""Letters stay sharp."""


def encode_mp4(av: ModuleType, images: Iterator[Image.Image], fps: float, hold: float) -> bytes:
    """Write images as an MP4 that any browser and any slide program plays.

    Args:
        av: the package PyAV.
        images: RGB, at least one, of equal size with even edges.
        fps: images a second.
        hold: seconds that the last image stays.
    """
    data = BytesIO()
    with av.open(data, "w", format="mp4") as film:
        image = next(images)
        stream = film.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000), options=_OPTIONS)
        stream.width, stream.height = image.size
        stream.pix_fmt = "yuv420p"
        film.mux(stream.encode(av.VideoFrame.from_image(image)))
        for image in images:
            film.mux(stream.encode(av.VideoFrame.from_image(image)))
        for _ in range(max(0, round(hold * fps) - 1)):
            film.mux(stream.encode(av.VideoFrame.from_image(image)))
        film.mux(stream.encode(None))
    return data.getvalue()
