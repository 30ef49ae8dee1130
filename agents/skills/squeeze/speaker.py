"""The simulated speaker in the squeeze: it searches the peak by its own picks, as though all others picked the same.

As a critic of LLaMAC it knows the sums and shares the next one among all agents that it is asked about (`propose`).
"""

from __future__ import annotations

from math import fsum

import numpy as np
import orjson

from llamac_env import Pick, SqueezeObservation, read_rounds
from maeil.actions import Vocabulary
from maeil.mind import Thought, View
from maeil.plans import Plan, Task
from quorum.agents.skills.speaker import JointPlanRequest, Speaker, take_turn
from quorum.agents.skills.squeeze.rules import next_try, share, widest_gap


class SqueezeSpeaker(Speaker[SqueezeObservation]):
    """Searches the peak by golden sections."""

    observation = SqueezeObservation
    vocabulary = Vocabulary(Pick)
    needs = frozenset({"pick"})

    def read_observation(self, text: str) -> SqueezeObservation:
        """Read the observation of a prompt.

        Raises:
            ValueError: it is none of this world.
        """
        return read_rounds(orjson.loads(text))

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer a turn: pick by golden-section search over the own picks, say so, and resume when interrupted."""
        observation = self.seen(view)
        if view.agent >= observation.agents:
            return Thought()  # a coordinator without a body has nothing to say
        if rng.random() < poor:
            units, reason = int(rng.integers(observation.highest_pick + 1)), "it is as good as any"
        else:
            units, reason = next_try(_paid(observation), observation.highest_pick), "the best is near it"
        plan = _picks(units, f"I pick {units}, {reason}")
        return take_turn(view, plan, "I wait.")

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan.

        The exploiter searches the peak by golden sections over the sums that have been tried. The explorer tries the
        middle of the widest gap between them, and follows the exploiter when there is none. What other agents pick is
        taken off.
        """
        seen = read_rounds(request.state)
        paid = {past.sum: past.reward for past in seen.history if past.sum is not None}
        highest = seen.agents * seen.highest_pick
        explores = request.role == "explorer" and len(paid) <= highest
        total = widest_gap(paid, highest) if explores else next_try(paid, highest)
        others = sum(plan["actions"][0]["units"] for plan in request.running.values())
        picks = share(total - others, len(request.asked), seen.highest_pick)
        plans = {
            agent: _picks(units, f"the {request.role} tries {total} in all")
            for agent, units in zip(request.asked, picks, strict=True)
        }
        for agent in request.drawn_at_random():
            plans[agent] = _picks(int(request.rng.integers(seen.highest_pick + 1)), "at random")
        return plans


def _picks(units: int, rationale: str) -> Plan:
    return Plan((Pick(units=units),), Task("allocate", "system"), rationale)


def _paid(observation: SqueezeObservation) -> dict[int, float]:
    """What each own pick has paid, on average: others pick too."""
    found: dict[int, list[float]] = {}
    for past in observation.history:
        if past.pick is not None:
            found.setdefault(past.pick, []).append(past.reward)
    return {pick: fsum(rewards) / len(rewards) for pick, rewards in found.items()}
