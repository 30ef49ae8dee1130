"""The colours of a film: those of the kinds on light paper, and what is mixed of them."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.drawing import MarkKind

Colour = tuple[int, int, int]

PAPER_WHITE: Colour = (255, 255, 255)
INK: Colour = (29, 29, 31)
MUTED: Colour = (95, 95, 105)
RULE: Colour = (226, 226, 232)
EDGE: Colour = (176, 176, 186)
WARNING: Colour = (176, 66, 0)
"""For what must not be overlooked; text in it is legible on white."""
PALETTE_SIZE = 255
"""Colours of a film; one index of a GIF is left for what does not change."""


def parse(colour: str) -> Colour:
    """Read `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours.

    Args:
        colour: what is there.
        other: what comes to it.
        share: of `other`, from 0 to 1.
    """
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return red, green, blue


def legible_on(colour: Colour) -> Colour:
    """Return the colour of text on a colour: ink or white."""
    red, green, blue = colour
    return INK if 299 * red + 587 * green + 114 * blue > 140_000 else PAPER_WHITE


def shade(colour: Colour) -> Colour:
    """Return the colour of a texture, or of a rim, on a colour."""
    return mix(colour, INK, 0.3) if legible_on(colour) == INK else mix(colour, PAPER_WHITE, 0.35)


def palette(kinds: Sequence[MarkKind]) -> list[Colour]:
    """Return the colours that a film of these kinds is made of: the kinds', and the way from each to ink and to white.

    It does not depend on the frames, so a film is written frame by frame.
    """
    fixed = [PAPER_WHITE, INK, MUTED, RULE, EDGE, WARNING]
    steps = [0.25, 0.5, 0.75]
    greys = [mix(PAPER_WHITE, INK, share / 16) for share in range(1, 16)]
    own = [parse(kind.light) for kind in kinds]
    rims = [shade(colour) for colour in own]
    ways = [mix(colour, end, share) for share in steps for end in (PAPER_WHITE, INK) for colour in (*own, WARNING)]
    return list(dict.fromkeys([*fixed, *own, *rims, *greys, *ways]))[:PALETTE_SIZE]
