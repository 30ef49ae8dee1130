"""What `quorum run` says before it begins to pay."""

from __future__ import annotations

from collections.abc import Callable

from quorum.agents.llm.spending import dollars
from quorum.experiments.common.durations import clock_time
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.providers.config import ProviderConfig
from quorum.experiments.episode.branching import Branching
from quorum.experiments.episode.trial import SECONDS_PER_CALL, Expected, stands_in, tried

LONGEST_TRIAL = 10.0
"""Seconds that the trial of one episode may take; then all that is told is what there was of it."""


def expectation(cell: Cell, begun: Callable[[], Branching] | None = None) -> str:
    """Say what an episode is expected to take; empty where no model is asked but a simulated one, or a recording.

    Args:
        cell: of the episode.
        begun: makes the beginning that it has of another one, which is not counted; None: it begins by itself.
    """
    c = cell.configuration
    if not (stands_in(cell.plain, uses_models=c.uses_models) and isinstance(c.llm, ProviderConfig)):
        return ""
    try:
        expected = tried(cell.plain, uses_models=True, seconds=LONGEST_TRIAL, branching=begun() if begun else None)
    except Exception:  # whatever is wrong with the cell, the run itself tells it
        return "what the episode will take is not known: a simulated model could not play it"
    return _told(expected, "the rest of an episode" if begun else "an episode")


def _told(expected: Expected, what: str) -> str:
    money = "unknown money (no price)" if expected.priceless else dollars(expected.usd)
    found = f"{expected.answers:,.0f} answers, {expected.tokens:,.0f} tokens, {money}, {clock_time(expected.seconds)}"
    how = f"{what} played with a simulated model; {SECONDS_PER_CALL:g} s an answer are assumed"
    if expected.cut:
        return f"expected: more than {found} (from the beginning of {how})"
    return f"expected: about {found} (from {how})"
