"""Images of ground tiles and marks, each drawn once per size and shape."""

from __future__ import annotations

from functools import cache

from PIL import Image, ImageChops, ImageDraw

from quorum_base.drawing import MarkKind, Rotation, Shape, Texture
from quorum_base.painting.colours import INK, PAPER_WHITE, RULE, legible_on, mix, parse, shade
from quorum_base.painting.text import fitting

_FINE = 4
"""Supersampling factor along an edge, for smooth outlines."""
_SMALLEST_RULED = 6
"""Edge of the smallest cell with separating lines, in pixels."""
_WIDEST_RIM = 3
"""Maximum width of a mark's darker rim, in pixels."""
_SMALLEST_SHAPED = 5
"""Size of the smallest mark with a visible shape, in pixels; smaller marks are filled rectangles."""
_SMALLEST_TEXTURED = 4
"""Minimum pitch of a texture, and size of the smallest textured mark, in pixels."""


@cache
def tile(kind: MarkKind | None, cell: int, *, ruled: bool) -> Image.Image:
    """Draw a cell of ground.

    Args:
        kind: kind of the ground; None for paper.
        cell: edge in pixels.
        ruled: whether lines separate the cells.
    """
    image = Image.new("RGB", (cell, cell), PAPER_WHITE)
    if kind is not None:
        image = _textured(kind, (cell, cell))
        if kind.sign:
            _write(image, kind.sign, kind)
    if ruled and cell >= _SMALLEST_RULED:
        pen = ImageDraw.Draw(image)
        pen.line([(0, 0), (cell, 0)], RULE)
        pen.line([(0, 0), (0, cell)], RULE)
    return image


@cache
def figure(kind: MarkKind, size: tuple[int, int], label: str, turn: Rotation) -> Image.Image:
    """Draw a mark, RGBA.

    Args:
        kind: kind of the mark.
        size: width and height in pixels.
        label: text on the mark, drawn if it is legible.
        turn: direction in which the mark faces.
    """
    colour, hollow = parse(kind.light), kind.shape is Shape.RING
    if min(size) < _SMALLEST_SHAPED:
        return Image.new("RGBA", size, colour)
    outer = _mask(kind.shape, size, turn, 0)
    inner = _mask(kind.shape, size, turn, _rim(size, hollow=hollow))
    if hollow:
        image = Image.new("RGB", size, colour)
        image.putalpha(ImageChops.subtract(outer, inner))
    else:
        image = Image.new("RGB", size, shade(colour))
        image.paste(_textured(kind, size), mask=inner)
        image.putalpha(outer)
    if label:
        _write(image, label, kind)
    return image


def _rim(size: tuple[int, int], *, hollow: bool) -> int:
    return max(2, round(min(size) / 7)) if hollow else max(1, min(_WIDEST_RIM, round(min(size) / 16)))


def _mask(shape: Shape, size: tuple[int, int], turn: Rotation, inset: int) -> Image.Image:
    """Return the mask of a shape within its rectangle, without a rim of `inset` pixels."""
    right, bottom = size[0] * _FINE - 1, size[1] * _FINE - 1
    mask = Image.new("L", (right + 1, bottom + 1))
    pen = ImageDraw.Draw(mask)
    air = 0 if shape in (Shape.BOX, Shape.RING) else min(size) * _FINE // 20
    d = inset * _FINE + air
    if right < 2 * d or bottom < 2 * d:
        return mask.reduce(_FINE)
    match shape:
        case Shape.BOX | Shape.RING:
            pen.rectangle([d, d, right - d, bottom - d], 255)
        case Shape.DISC:
            pen.ellipse([d, d, right - d, bottom - d], 255)
        case Shape.DIAMOND:
            pen.polygon([(right / 2, d), (right - d, bottom / 2), (right / 2, bottom - d), (d, bottom / 2)], 255)
        case Shape.WEDGE:
            far = d + min(right, bottom) // 8
            ends: dict[Rotation, list[tuple[float, float]]] = {
                Rotation.RIGHT: [(far, d), (right - d, bottom / 2), (far, bottom - d)],
                Rotation.LEFT: [(right - far, d), (d, bottom / 2), (right - far, bottom - d)],
                Rotation.DOWN: [(d, far), (right / 2, bottom - d), (right - d, far)],
                Rotation.UP: [(d, bottom - far), (right / 2, d), (right - d, bottom - far)],
            }
            pen.polygon(ends[turn], 255)
    return mask.reduce(_FINE)


def _textured(kind: MarkKind, size: tuple[int, int]) -> Image.Image:
    """Fill a rectangle with the colour of a kind and its texture."""
    width, height = size[0] * _FINE, size[1] * _FINE
    image = Image.new("RGB", (width, height), parse(kind.light))
    if min(size) < _SMALLEST_TEXTURED:
        return image.reduce(_FINE)
    pen = ImageDraw.Draw(image)
    ink = mix(parse(kind.light), shade(parse(kind.light)), 0.6)
    pitch = max(_SMALLEST_TEXTURED, min(size) // 4) * _FINE
    line = max(_FINE, pitch // 7)
    for down in range(0, height + pitch, pitch):
        match kind.texture:
            case Texture.DOTS:
                for x in range(pitch // 2, width, pitch):
                    y = down + pitch // 2
                    pen.ellipse([x - line, y - line, x + line, y + line], ink)
            case Texture.WAVES:
                y = down + pitch // 2
                bend = [(x, y + (line if x // (pitch // 2) % 2 else -line)) for x in range(0, width + 1, pitch // 2)]
                pen.line(bend, ink, line)
            case Texture.BRICKS:
                pen.line([(0, down), (width, down)], ink, line)
                for x in range(0 if down // pitch % 2 else pitch, width + 1, 2 * pitch):
                    pen.line([(x, down), (x, down + pitch)], ink, line)
            case Texture.CROSSES:
                pen.line([(0, down), (width, down + width)], ink, line)
                pen.line([(0, down), (width, down - width)], ink, line)
                pen.line([(0, down - width), (width, down)], ink, line)
            case Texture.STRIPES:
                pen.line([(0, down), (width, down - width)], ink, line)
                pen.line([(0, down + height), (width, down + height - width)], ink, line)
    return image.reduce(_FINE)


def _write(image: Image.Image, text: str, kind: MarkKind) -> None:
    """Write text in the middle of an image, with a halo if a texture lies under it."""
    face = fitting(text, *image.size)
    if face is None:
        return
    colour = parse(kind.light)
    ink = INK if kind.shape is Shape.RING else legible_on(colour)
    halo = 0 if kind.texture is Texture.PLAIN or kind.shape is Shape.RING else max(1, round(face.size / 9))
    centre = (image.width / 2, image.height / 2)
    ImageDraw.Draw(image).text(centre, text, ink, face, anchor="mm", stroke_width=halo, stroke_fill=colour)
