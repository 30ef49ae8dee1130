"""The rules of the Gaussian squeeze: the search for the peak, the greedy team, the gates, the median of plans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import median_low

from llamac_env import HIGHEST, Pick, SqueezeObservation
from maeil.mind import Observation, View
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight, called
from quorum.agents.skills.commanded import CommandedMind

GOLDEN = 0.381966
"""Share of a gap at which golden-section search tries next."""


def next_try(found: Mapping[int, float], highest: int) -> int:
    """Choose the next integer to try, to find the peak of a curve with one.

    Golden-section search: the peak lies between the tried neighbours of the best; the larger gap next to it is tried
    next. With nothing left to try there, the best is the peak.

    Args:
        found: what the integers tried so far have paid.
        highest: the largest integer that can be tried; 0 is the smallest.
    """
    if not found:
        return round(highest * GOLDEN)
    best = max(found, key=lambda x: (found[x], -x))
    below = max((x for x in found if x < best), default=-1)
    above = min((x for x in found if x > best), default=highest + 1)
    left, right = best - below - 1, above - best - 1
    if left == right == 0:
        return best
    if right >= left:
        return best + max(1, round((right + 1) * GOLDEN))
    return best - max(1, round((left + 1) * GOLDEN))


def widest_gap(found: Collection[int], highest: int) -> int:
    """Choose the next integer to try, to see all of a curve: the middle of the widest gap between those tried.

    Args:
        found: the integers tried so far.
        highest: the largest integer that can be tried; 0 is the smallest. One of them has not been tried.
    """
    ends = sorted({-1, highest + 1, *found})
    below, above = max(pairwise(ends), key=lambda gap: gap[1] - gap[0])
    return (below + above) // 2


def share(total: int, agents: int, highest: int) -> list[int]:
    """Share a sum as evenly as can be, the larger picks first; as near to it as picks of 0 to `highest` come."""
    each, more = divmod(min(max(total, 0), agents * highest), agents)
    return [each + (agent < more) for agent in range(agents)]


class SearchingTeam:
    """Gives orders to all agents of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self.minds = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._sums: list[int] = []
        self._paid: dict[int, float] = {}

    def _decide(self, view: View) -> Plan:
        assert isinstance(view.observation, SqueezeObservation)
        return self.plan(view.agent, view.observation)

    def plan(self, agent: int, observation: SqueezeObservation) -> Plan:
        """Return the pick of an agent in this round: its share of the sum that the team tries."""
        if len(self._sums) == observation.round:
            if self._sums:
                self._paid[self._sums[-1]] = observation.history[-1].reward
            self._sums.append(next_try(self._paid, HIGHEST * len(self.minds)))
        pick = share(self._sums[observation.round], len(self.minds), HIGHEST)[agent]
        return Plan((Pick(units=pick),), Task("allocate", "system"), f"the team tries {self._sums[-1]} in all")


class SqueezeGates:
    """Fulfils `quorum.agents.skills.Gates` for the squeeze.

    A pick is an integer from 0 to 9: anything else is none of the wanted form, and refused before (`V-FORM`). No agent
    can wait here, so a joint plan without a pick for each agent that is asked about is no joint plan: a fault of
    grammar, which cannot be repaired by dropping plans. Confirmation passes always: an agent knows nothing that speaks
    against a pick.
    """

    rules: Mapping[str, Rule] = {
        "V-TEAM": Rule(Fault.GRAMMAR, Constraint.PARTICIPATION, "every agent has a pick"),
    }

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Find the agents without a pick."""
        missing = tuple(sorted(set(range(_observed(sight.global_observation).agents)) - set(joint.all)))
        if not missing:
            return []
        text = f"{called(missing)} have no pick: nobody can wait, so give each of them one"
        return [Rejection("V-TEAM", missing, text)]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> None:
        """Pass."""


def _observed(observation: Observation) -> SqueezeObservation:
    assert isinstance(observation, SqueezeObservation)
    return observation


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
