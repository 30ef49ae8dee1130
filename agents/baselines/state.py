"""What a planner of joint plans is shown of the world."""

from __future__ import annotations

from collections.abc import Callable

from maeil.world import World
from quorum.agents.coordination.joint import Sight
from quorum.agents.llamac import gates_of


def state_of(world: World) -> Callable[[Sight], object]:
    """Give what makes it of a sight, JSON-ready: the same that LLaMAC's critics are shown, so that all know as much.

    In a world that these have no gates for it is the global_observation.
    """
    try:
        return gates_of(world).state
    except ValueError:
        return lambda sight: sight.global_observation
