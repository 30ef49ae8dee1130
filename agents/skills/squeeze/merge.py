"""One joint plan of several in the squeeze: for each agent the median of its picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median_low

from llamac_env import Pick
from maeil.plans import Plan


def median(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Take for each agent and round the median of the picks, the lower one of an even number of them.

    A debater that has no plan for an agent has no say in it. Plans of several rounds are merged as far as the shortest.
    """
    merged = {}
    for agent in asked:
        plans = [proposal[agent] for proposal in proposals if agent in proposal]
        if not plans:
            continue
        rounds = zip(*(plan.actions for plan in plans), strict=False)
        picks = tuple(
            Pick(units=median_low([pick.units for pick in picks if isinstance(pick, Pick)])) for picks in rounds
        )
        merged[agent] = Plan(picks, plans[0].task, f"the median of {len(plans)} debaters")
    return merged
