"""Selects which model samples each draw of an episode uses."""

from __future__ import annotations

from maeil.seeds import Seeds
from quorum.configuration.schema import MOST_DRAWS


def request_draw(draw: int, branches: int) -> int:
    """Return the sample number for the requests of an episode; it differs between all draws.

    Args:
        draw: `draw` of the episode's configuration, below `MOST_DRAWS`.
        branches: `sample_number` of the branches that it descends from; 0 if it is not a branch.

    Returns:
        `branches` for draw 0, which is below 2**30 unless a branch itself has a larger draw; then one number above
        these for each draw; then, for branches of later draws, a number of 31 bits.
    """
    if not draw:
        return branches
    if not branches:
        return MOST_DRAWS + draw
    return 2 * MOST_DRAWS + Seeds(draw, f"branches/{branches}").integer() % (2 * MOST_DRAWS)
