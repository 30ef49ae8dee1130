"""How the simulated speaker uses feedback in CUBE: who is not needed at a block goes where agents are lacking."""

from __future__ import annotations

from cube_env import SymbolicBlock, SymbolicObservation
from maeil.mind import View
from maeil.tasks import OpenTask
from quorum.agents.skills.cube.knowledge import clear, deliveries
from quorum.agents.skills.cube.routes import way


def redirected(block: SymbolicBlock, view: View, observation: SymbolicObservation) -> SymbolicBlock:
    """Return the block to work on: another one where feedback says that the team of `block` is whole already.

    That is the block with a clear way that lacks fewest agents, then the nearest; the block itself when none lacks any.
    """
    tasks = deliveries(view)
    lacking = {identity: _lacking(task, view.agent) for identity, task in tasks.items()}
    if lacking.get(block.id, 1) > 0:
        return block
    short = [other for other in clear(observation) if lacking.get(other.id, 0) > 0]
    cell = observation.agents[view.agent]
    return min(short, key=lambda other: (lacking[other.id], way(cell, other), other.id), default=block)


def _lacking(task: OpenTask, agent: int) -> int:
    """How many agents a task lacks beside those in place and those whose plans serve it, not counting one agent."""
    return task.needs - len({*(task.in_place or ()), *task.planned} - {agent})
