"""The colours of a picture: paper, ink, and mixtures with the colours of kinds."""

from __future__ import annotations

Colour = tuple[int, int, int]

PAPER_WHITE: Colour = (255, 255, 255)
INK: Colour = (29, 29, 31)
MUTED: Colour = (95, 95, 105)
RULE: Colour = (226, 226, 232)
EDGE: Colour = (176, 176, 186)


def parse(colour: str) -> Colour:
    """Parse `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours.

    Args:
        colour: the first colour.
        other: the colour to add.
        share: share of `other`, from 0 to 1.
    """
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return red, green, blue


def legible_on(colour: Colour) -> Colour:
    """Return the text colour for a background: ink or white."""
    red, green, blue = colour
    return INK if 299 * red + 587 * green + 114 * blue > 140_000 else PAPER_WHITE


def shade(colour: Colour) -> Colour:
    """Return the colour of a texture or a rim on a background."""
    return mix(colour, INK, 0.3) if legible_on(colour) == INK else mix(colour, PAPER_WHITE, 0.35)
