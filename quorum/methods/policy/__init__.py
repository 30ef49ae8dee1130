"""The policy: a mind that was learned by reinforcement learning, read from a file of weights (`mind.py`)."""

from __future__ import annotations

from quorum.methods.policy.mind import component

__all__ = ["component"]
