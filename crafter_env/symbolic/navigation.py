"""The controller that walks to where a target can be acted on."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import WALKABLE, Action, Cell, Material
from crafter_env.kernels.sight import HALF_HEIGHT, NO_WAY
from crafter_env.symbolic.actions import CREATURES_OF, MATERIAL_OF, Navigate, Target
from crafter_env.symbolic.controller import CrafterController, Reason
from crafter_env.symbolic.episode_state import EpisodeState, around, beside_station
from maeil.actions import ActionStatus
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way

TIMEOUT: Final = 64
"""Steps after which a `navigate` gives up."""


class NavigateController(CrafterController):
    """Go to where a target can be acted on, including targets known only from messages."""

    def __init__(self, episode: EpisodeState, agent: int, action: Navigate) -> None:
        super().__init__(episode, agent)
        self._target, self._id, self._near = action.target, action.id, action.near
        self._begun = episode.state.step
        cell = episode.cell_with(action.id)
        self._was_unseen = cell is not None and episode.known(agent, cell) is Material.none

    def check(self) -> ActionEnd | None:
        """End on arrival, if the target is missing or unknown, or if there is no path as far as the agent has seen."""
        found = self._locate()
        if isinstance(found, ActionEnd):
            return found
        step = self.episode.step_towards(self.agent, goals(self.episode, self._target, found))
        if step == Action.noop:
            missed = self._target is Target.agent and not self._in_sight(self._id)
            return failed(Reason.not_as_told, f"{self._target}_{self._id}", "found", "nobody") if missed else SUCCESS
        if step == NO_WAY:
            return failed(Reason.no_path, self._target, self._id)
        if self.ticks >= TIMEOUT:
            return ActionEnd(ActionStatus.TIMEOUT, f"{Reason.not_reached} {self.ticks}")
        self.step = step
        return None

    def way(self) -> Way | None:
        """Return the way over cells that the agent assumes free, to where it assumes the target."""
        found = self._locate()
        if isinstance(found, ActionEnd):
            return None
        return self.way_over(self.episode.way_to(self.agent, goals(self.episode, self._target, found)), found)

    def _locate(self) -> Cell | ActionEnd:
        """Return the target's cell, as far as the agent knows, or the reason why it is unknown."""
        if self._target is Target.agent:
            return self._teammate()
        if self._target.value in CREATURES_OF:
            return self._creature()
        return self._cell()

    def _creature(self) -> Cell | ActionEnd:
        for _, creature in self.episode.creatures(self.agent, CREATURES_OF[self._target.value]):
            if self.episode.creature_id(creature) == self._id:
                return creature.cell
        return failed(Reason.out_of_sight, self._target, self._id)

    def _teammate(self) -> Cell | ActionEnd:
        """Return a teammate's cell; out of view: its sighting during this action, reported cell or last sighting."""
        episode, agent, other = self.episode, self.agent, self._id
        if not 0 <= other < episode.agents or other == agent:
            return failed(Reason.no_such_agent, other)
        if self._in_sight(other):
            return episode.cell_of(other)
        if episode.known_only:
            lives = episode.lives(other)
            return failed(Reason.out_of_sight, self._target, other) if lives else failed(Reason.recipient_dead, other)
        seen = episode.last_seen(agent, other)
        place = seen[0] if seen is not None else None
        if self._near is not None and (seen is None or seen[1] < self._begun):
            place = episode.cell_with(self._near)
        return place if place is not None else failed(Reason.out_of_sight, self._target, other)

    def _in_sight(self, other: int) -> bool:
        return self.episode.lives(other) and self.episode.in_view(self.agent, self.episode.cell_of(other))

    def _cell(self) -> Cell | ActionEnd:
        episode, agent = self.episode, self.agent
        cell = episode.cell_with(self._id)
        if cell is None or (episode.known_only and episode.known(agent, cell) is Material.none):
            return failed(Reason.unknown_id, self._target, self._id)
        material = episode.known(agent, cell)
        if self._target is Target.cell:
            fits = material in WALKABLE or not self._was_unseen or material is Material.none
        else:
            fits = episode.may_be(agent, cell, MATERIAL_OF[self._target])
        if fits:
            return cell
        if self._was_unseen:
            return failed(Reason.not_as_told, f"{self._target}_{self._id}", "found", material.name)
        return failed(Reason.gone, self._target, material.name)


def goals(episode: EpisodeState, target: Target, cell: Cell) -> list[Cell]:
    """Return the cells from which a target can be acted on.

    These are the cell itself for a cell; adjacent cells for creatures, teammates and water; adjacent and diagonal cells
    for a station; and cells within the collect radius, with the target in view, for everything that is collected.
    """
    if target is Target.cell:
        return [cell]
    if target in (Target.table, Target.furnace):
        return beside_station(cell)
    collected = target.value in MATERIAL_OF and target is not Target.water
    return around(cell, min(episode.level.radius, HALF_HEIGHT) if collected else 1)
