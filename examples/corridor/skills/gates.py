"""The gates of the corridor, which judge joint plans without model calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from corridor.actions import Walk
from corridor.skills.walking import left
from maeil import Observation
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight


class CorridorGates:
    """Implements `quorum.agents.skills.Gates`. Agents cannot block each other, so scrutiny finds nothing."""

    rules: Mapping[str, Rule] = {"C-FAR": Rule(Fault.FRUITLESS, None, "nobody walks further than what is left")}

    def scrutinize(self, sight: Sight, joint: Joint) -> Sequence[Rejection]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Reject an agent's plan if it goes too far."""
        cells = sum(action.cells for action in joint.plans[agent].actions if isinstance(action, Walk))
        if cells <= left(observation):
            return None
        return Rejection("C-FAR", (agent,), f"agent {agent} walks {cells} cells and has {left(observation)} left")
