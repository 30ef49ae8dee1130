"""Fixtures of sweeps, for sweeps of branches."""

from tests.sweeps.conftest import asked, options, sweep

__all__ = ["asked", "options", "sweep"]
