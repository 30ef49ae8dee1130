"""Which samples of its models a draw of an episode gets."""

from __future__ import annotations

from maeil.seeds import Seeds
from quorum.configuration.schema import MOST_DRAWS


def request_draw(draw: int, branches: int) -> int:
    """Return the number of the draw that the requests of an episode belong to; different for all draws.

    Args:
        draw: of the episode, as its configuration has it, below `MOST_DRAWS`.
        branches: `sample_number` of the branches that it was branched from; 0 where it is none.

    Returns:
        `branches` for draw 0, which is below 2**30 unless a branch itself has a larger draw; then one number above
        these for each draw; then, for branches of later draws, a number of 31 bits.
    """
    if not draw:
        return branches
    if not branches:
        return MOST_DRAWS + draw
    return 2 * MOST_DRAWS + Seeds(draw, f"branches/{branches}").integer() % (2 * MOST_DRAWS)
