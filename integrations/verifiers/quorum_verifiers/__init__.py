"""Quorum's teams as a multi-agent environment of verifiers: `vf-eval quorum-verifiers`."""

from quorum_verifiers.seat import SeatHarness
from quorum_verifiers.team import Boards, TeamEnv

__all__ = ["Boards", "SeatHarness", "TeamEnv"]
