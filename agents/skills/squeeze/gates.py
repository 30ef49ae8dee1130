"""The gates of the squeeze: every agent has a pick.

LLaMAC (arXiv 2311.13884) names the two gates; the rules and their meanings are those of docs/llamac.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from llamac_env import SqueezeObservation
from maeil.mind import Observation
from maeil.tasks import Constraint
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight, called


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
