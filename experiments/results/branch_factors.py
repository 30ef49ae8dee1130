"""What a branch adds to the factors of a run: where it comes off, and what is another in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maeil.trace import Instant
from quorum.experiments.configuration.cell import Branch
from quorum.experiments.results.rows import Scalar

CHANGE: Final = "change"
"""Factor: what is another in a branch; runs that are no branches have none."""
NO_CHANGE: Final = "none"
"""Its value in a branch in which nothing is another."""
BRANCH_FACTORS: Final = ("branch", "parent", "at", CHANGE, "draw")
"""Every factor that only branches have."""


def branch_factors(branch: Branch) -> Mapping[str, Scalar]:
    """Return the factors of a branch.

    `branch` is the run and the instant, `NAME:12`; `parent` the run, `at` the instant, a number where it is the begin
    of a step; `change` what is another from then on, `draw` which of several samples it is.
    """
    at = str(Instant(branch.t, branch.t_hat))
    return {
        "branch": f"{branch.run}:{at}",
        "parent": branch.run,
        "at": branch.t if branch.t_hat is None else at,
        CHANGE: " ".join(branch.change.split()) or NO_CHANGE,
        "draw": branch.draw,
    }
