"""The light of the day."""

from __future__ import annotations

import math

from crafter_env.constants import DAY


def daylight(step: int) -> float:
    """Light at a step, from 0 at midnight to 1 at noon. Source: Crafter 1.8.3, `Env._update_time`."""
    progress = (step / DAY) % 1 + 0.3
    return 1 - math.pow(abs(math.cos(math.pi * progress)), 3.0)
