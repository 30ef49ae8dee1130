"""The policy: a mind trained by reinforcement learning and loaded from a weights file (`mind.py`)."""

from __future__ import annotations

from quorum.methods.policy.mind import component

__all__ = ["component"]
