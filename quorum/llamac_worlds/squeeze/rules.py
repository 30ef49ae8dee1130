"""The rules of the Gaussian squeeze: the peak search, the greedy team, the gates, the median, and the speaker."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import fsum
from pathlib import Path
from statistics import median_low

import orjson

from llamac_env import HIGHEST, Pick, SqueezeObservation, read_rounds
from maeil.actions import Vocabulary
from maeil.mind import Observation, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.contract import CommandedMind, read_rules
from quorum.agents.skills.speaker import JointPlanRequest, Speaker, take_turn

GOLDEN = 0.381966
"""The fraction of a gap at which golden-section search tries next."""


def next_try(found: Mapping[int, float], highest: int) -> int:
    """Choose the next integer to try in the search for the peak of a unimodal curve.

    Golden-section search: the peak lies between the tried neighbours of the best integer, so the larger gap next to it
    is tried next. If no gap is left there, the best integer is the peak.

    Args:
        found: payoffs of the integers tried so far.
        highest: the largest allowed integer; the smallest is 0.
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
    """Choose the next integer to try when exploring a whole curve: the middle of the widest gap between those tried.

    Args:
        found: the integers tried so far.
        highest: the largest allowed integer; the smallest is 0. At least one must be untried.
    """
    ends = sorted({-1, highest + 1, *found})
    below, above = max(pairwise(ends), key=lambda gap: gap[1] - gap[0])
    return (below + above) // 2


def share(total: int, agents: int, highest: int) -> list[int]:
    """Split a sum as evenly as possible, larger picks first, as close to it as picks from 0 to `highest` allow."""
    each, more = divmod(min(max(total, 0), agents * highest), agents)
    return [each + (agent < more) for agent in range(agents)]


class SearchingTeam:
    """Commands all agents of a team.

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
        """Return an agent's pick in this round: its share of the sum that the team tries."""
        if len(self._sums) == observation.round:
            if self._sums:
                self._paid[self._sums[-1]] = observation.history[-1].reward
            self._sums.append(next_try(self._paid, HIGHEST * len(self.minds)))
        pick = share(self._sums[observation.round], len(self.minds), HIGHEST)[agent]
        return _picks(pick, f"the team tries {self._sums[-1]} in all")


class SqueezeGates:
    """Implements `quorum.agents.skills.Gates` for the squeeze.

    A pick is an integer from 0 to 9; schema validation rejects anything else first (`V-FORM`). No agent can wait here,
    so a joint plan that lacks a pick for a requested agent is invalid, a grammar error that dropping plans cannot fix.
    Confirmation always passes, because an agent has no information against a pick.
    """

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Find the agents without a pick."""
        missing = tuple(sorted(set(range(len(sight.agents))) - set(joint.all)))
        if not missing:
            return []
        text = f"{called(missing)} have no pick: nobody can wait, so give each of them one"
        return [Rejection("V-TEAM", missing, text)]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> None:
        """Accept every plan."""


def median(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Return the median of the picks for each agent and round; for an even number of picks, the lower one.

    A debater without a plan for an agent has no vote on it. Plans of several rounds are merged up to the shortest.
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


class SqueezeSpeaker(Speaker[SqueezeObservation]):
    """Searches for the peak by golden sections over its own picks, as though all other agents picked the same.

    As a LLaMAC critic, it knows the sums and splits the next one among all requested agents (`propose`).
    """

    observation = SqueezeObservation
    vocabulary = Vocabulary(Pick)
    needs = frozenset({"pick"})

    def read_observation(self, text: str) -> SqueezeObservation:
        """Parse the observation in a prompt.

        Raises:
            ValueError: it does not belong to this world.
        """
        return read_rounds(orjson.loads(text))

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn: pick by golden-section search over its own picks, announce it, and resume if interrupted."""
        observation = self.seen(view)
        if view.agent >= observation.agents:
            return Thought()  # a coordinator without a body has nothing to say
        if chooser.is_poor():
            units, reason = chooser.any_of(range(observation.highest_pick + 1)), "it is as good as any"
        else:
            best = next_try(_paid(observation), observation.highest_pick)
            units, reason = _near(best, observation.highest_pick, chooser), "the best is near it"
        plan = _picks(units, f"I pick {units}, {reason}")
        return take_turn(view, plan, "I wait.")

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan.

        The exploiter searches for the peak by golden sections over the sums tried so far. The explorer tries the middle
        of the widest gap between them, or follows the exploiter if there is none. Picks of other agents are subtracted.
        """
        seen = read_rounds(request.state)
        paid = {past.sum: past.reward for past in seen.history if past.sum is not None}
        highest = seen.agents * seen.highest_pick
        explores = request.role == "explorer" and len(paid) <= highest
        total = widest_gap(paid, highest) if explores else next_try(paid, highest)
        total = _near(total, highest, request.chooser)
        others = sum(plan["actions"][0]["units"] for plan in request.running.values())
        picks = share(total - others, len(request.asked), seen.highest_pick)
        plans = {
            agent: _picks(units, f"the {request.role} tries {total} in all")
            for agent, units in zip(request.asked, picks, strict=True)
        }
        for agent in request.drawn_at_random():
            plans[agent] = _picks(request.chooser.any_of(range(seen.highest_pick + 1)), "at random")
        return plans


def _near(wanted: int, highest: int, chooser: Chooser) -> int:
    """Draw an integer near the wanted one."""
    return chooser.least(range(highest + 1), lambda integer: (integer - wanted) ** 2)


def _picks(units: int, rationale: str) -> Plan:
    return Plan((Pick(units=units),), Task("allocate", "system"), rationale)


def _paid(observation: SqueezeObservation) -> dict[int, float]:
    """Return the mean payoff of each own pick, which also depends on the others' picks."""
    found: dict[int, list[float]] = {}
    for past in observation.history:
        if past.pick is not None:
            found.setdefault(past.pick, []).append(past.reward)
    return {pick: fsum(rewards) / len(rewards) for pick, rewards in found.items()}
