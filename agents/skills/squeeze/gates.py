"""The gates of the squeeze: every agent has a pick. What the critics are shown is the whole history.

Source: the specification of LLaMAC, table of gates, and section 1.4 on the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llamac_env import Round, SqueezeObservation
from maeil.mind import Observation
from maeil.tasks import Constraint
from quorum.agents.llamac.gates import Fault, Joint, Rejection, Rule, Sight

LISTED = 10
"""Agents up to which the critics see every pick; of larger teams they see sum and mean alone."""


class SqueezeGates:
    """Fulfils `quorum.agents.llamac.gates.Gates` for the squeeze.

    A pick is an integer from 0 to 9: anything else is none of the wanted form, and refused before (`V-FORM`). No agent
    can wait here, so a joint plan without a pick for each agent that is asked about is no joint plan: a fault of
    grammar, which cannot be repaired by dropping plans. Confirmation passes always: an agent knows nothing that speaks
    against a pick.
    """

    codes: Mapping[str, Rule] = {
        "V-TEAM": Rule(Fault.GRAMMAR, Constraint.PARTICIPATION, "every agent has a pick"),
    }

    def state(self, sight: Sight) -> object:
        """Give all rounds: sum, mean and reward of each; the picks by agent where there are at most `LISTED`."""
        seen = _observed(sight.global_observation)
        return {
            "agents": seen.agents,
            "highest_pick": seen.highest_pick,
            "round": seen.round,
            "rounds": seen.rounds,
            "history": [_told(past) for past in seen.history],
        }

    def digest(self, sight: Sight) -> None:
        """Give None: the state is the memory, with all rounds."""

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Find the agents without a pick."""
        missing = tuple(sorted(set(range(_observed(sight.global_observation).agents)) - set(joint.all)))
        if not missing:
            return []
        text = f"agents {list(missing)} have no pick: nobody can wait, so give each of them one"
        return [Rejection("V-TEAM", missing, text)]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> None:
        """Pass."""


def _told(past: Round) -> dict[str, Any]:
    """A round as the critics see it."""
    told: dict[str, Any] = {"sum": sum(past.picks), "mean": past.mean, "reward": past.reward}
    return {**told, "picks": past.picks} if len(past.picks) <= LISTED else told


def _observed(observation: Observation) -> SqueezeObservation:
    assert isinstance(observation, SqueezeObservation)
    return observation
