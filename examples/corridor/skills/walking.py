"""The only task in a corridor, shared by several roles."""

from __future__ import annotations

from corridor.actions import Rest, Walk
from corridor.world import Sight
from maeil import Observation, Plan, Task

END = Task("reach", "end")


def left(observation: Observation) -> int:
    """Return how many cells are left."""
    assert isinstance(observation, Sight)
    return observation.length - observation.cell


def walk(observation: Observation) -> Plan:
    """Return the plan to walk all remaining cells."""
    cells = left(observation)
    return Plan((Walk(cells=cells),), END, f"{cells} cells are left") if cells else Plan((Rest(),), END, "I am there")
