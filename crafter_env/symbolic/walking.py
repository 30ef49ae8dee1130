"""The controller of `navigate`: over cells that the agent has seen, planned anew before each step."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Action, Cell, Material
from crafter_env.kernels.sight import NO_WAY
from crafter_env.symbolic.actions import CREATURES_OF, MATERIAL_OF, Navigate, Target
from crafter_env.symbolic.controller import CrafterController
from crafter_env.symbolic.episode_state import EpisodeState, around, beside_station
from crafter_env.symbolic.reasons import Reason
from maeil.actions import ActionStatus
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd

TIMEOUT: Final = 64
"""Steps after which a `navigate` gives up."""


class NavigateController(CrafterController):
    """Go to where a target can be acted on."""

    def __init__(self, episode: EpisodeState, agent: int, action: Navigate) -> None:
        super().__init__(episode, agent, action)
        self._target, self._id = action.target, action.id

    def check(self) -> ActionEnd | None:
        """End on arrival; when the target is unknown, gone or out of sight; or when what was seen gives no way."""
        found = locate(self.episode, self.agent, self._target, self._id)
        if isinstance(found, ActionEnd):
            return found
        step = self.episode.step_towards(self.agent, goals(self.episode, self._target, found))
        if step == Action.noop:
            return SUCCESS
        if step == NO_WAY:
            return failed(Reason.no_path, self._target, self._id)
        if self.ticks >= TIMEOUT:
            return ActionEnd(ActionStatus.TIMEOUT, f"{Reason.not_reached} {self.ticks}")
        self.step = step
        return None


def locate(episode: EpisodeState, agent: int, target: Target, identity: int) -> Cell | ActionEnd:
    """Find where a target is, as far as an agent knows; or tell why it does not know."""
    if target is Target.agent:
        if not 0 <= identity < episode.agents or identity == agent:
            return failed(Reason.no_such_agent, identity)
        cell = episode.cell_of(identity)
        if not episode.lives(identity):
            return failed(Reason.recipient_dead, identity)
        return cell if episode.in_view(agent, cell) else failed(Reason.out_of_sight, target, identity)
    if target.value in CREATURES_OF:
        for _, creature in episode.creatures(agent, CREATURES_OF[target.value]):
            if episode.creature_id(creature) == identity:
                return creature.cell
        return failed(Reason.out_of_sight, target, identity)
    found = episode.cell_with(identity)
    if found is None or episode.known(agent, found) is Material.none:
        return failed(Reason.unknown_id, target, identity)
    material = episode.known(agent, found)
    if target is not Target.cell and material is not MATERIAL_OF[target]:
        return failed(Reason.gone, target, material.name)
    return found


def goals(episode: EpisodeState, target: Target, cell: Cell) -> list[Cell]:
    """The cells from which a target can be acted on.

    A cell itself; beside creatures, teammates and water; beside a station or diagonal to it; and within the collect
    radius of everything that is collected.
    """
    if target is Target.cell:
        return [cell]
    if target in (Target.table, Target.furnace):
        return beside_station(cell)
    collected = target.value in MATERIAL_OF and target is not Target.water
    return around(cell, episode.level.radius if collected else 1)
