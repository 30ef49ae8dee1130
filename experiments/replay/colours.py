"""The colours of a film: those of its kinds on light paper, and the way from each to ink and to white."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.drawing import MarkKind
from maeil.painting.colours import EDGE, INK, MUTED, PAPER_WHITE, RULE, Colour, mix, parse, shade

WARNING: Colour = (176, 66, 0)
"""For what must not be overlooked; text in it is legible on white."""
PALETTE_SIZE = 255
"""Colours of a film; one index of a GIF is left for what does not change."""


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
