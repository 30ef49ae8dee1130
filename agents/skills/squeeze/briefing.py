"""What a coordinator is told of the squeeze: the whole history, so that there is no digest beside it."""

from __future__ import annotations

from typing import Any

from llamac_env import Round, SqueezeObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing

LISTED = 10
"""Agents up to which a coordinator sees every pick; of larger teams it sees sum and mean alone."""


class SqueezeBriefing(Briefing):
    """All rounds: sum, mean and reward of each; the picks by agent where there are at most `LISTED`."""

    def state(self, sight: Sight) -> object:
        """Return the rounds and what can be picked."""
        seen = sight.global_observation
        assert isinstance(seen, SqueezeObservation)
        return {
            "agents": seen.agents,
            "highest_pick": seen.highest_pick,
            "round": seen.round,
            "rounds": seen.rounds,
            "history": [_told(past) for past in seen.history],
        }


def _told(past: Round) -> dict[str, Any]:
    """A round as the critics see it."""
    told: dict[str, Any] = {"sum": sum(past.picks), "mean": past.mean, "reward": past.reward}
    return {**told, "picks": past.picks} if len(past.picks) <= LISTED else told
