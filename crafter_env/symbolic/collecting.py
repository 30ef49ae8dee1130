"""Controllers that collect from cells, from grass, and from creatures, which they follow."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Final

from crafter_env.constants import COLLECT, DISPLACEMENT, Cell, CollectRecipe, Entity, Item, Material, Result
from crafter_env.kernels.grid import AREA_AIM
from crafter_env.kernels.sight import NO_WAY
from crafter_env.state import Creature
from crafter_env.symbolic.actions import CREATURES_OF, MATERIAL_OF_RESOURCE, Collect, Resource
from crafter_env.symbolic.controller import DO, CrafterController, Reason
from crafter_env.symbolic.episode_state import EpisodeState, around
from crafter_env.symbolic.tasks import cell_task
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way

TOWARDS = {step: int(action) for action, step in DISPLACEMENT.items()}
"""The primitive that turns to a neighbouring cell."""
APPROACH: Final = 16
"""Maximum number of steps for turning and approaching."""


class _Collecting(CrafterController):
    """Base of the three collecting controllers: counts tries, and ends by the result of the last `do`."""

    def __init__(self, episode: EpisodeState, agent: int, action: Collect) -> None:
        super().__init__(episode, agent)
        self._resource, self._target, self._left = action.resource, action.target, action.steps
        self._tries = 0

    def act(self) -> int:
        """Return the primitive for the coming step, and count the tries."""
        self._tries += self.step == DO
        return super().act()

    def check(self) -> ActionEnd | None:
        """End by the result of the last `do`; otherwise set the next step."""
        if self.episode.sleeps(self.agent):
            return failed(Reason.asleep)
        end = self._after_do() if self.ticks and self.step == DO else None
        if end is None and self.ticks - self._tries > APPROACH:
            end = failed(Reason.not_reached, self.ticks)
        return end if end is not None else self.approach()

    @abstractmethod
    def approach(self) -> ActionEnd | None:
        """Set the coming step, or return the end if there is none."""

    @abstractmethod
    def has_got(self, gained: dict[Item, int], result: Result) -> bool:
        """Whether a `do` gained what is wanted."""

    def _after_do(self) -> ActionEnd | None:
        outcome = self.episode.state.outcome(self.agent)
        if self.has_got(outcome.gained, outcome.result):
            return SUCCESS
        if outcome.result is Result.missing_tool and outcome.item is not None:
            return failed(Reason.missing_tool, outcome.item.name)
        if outcome.result is Result.not_ripe:
            return failed(Reason.not_ripe)
        if self._tries < self._left or outcome.result is Result.hit:
            return None
        if outcome.result is Result.too_few_agents:
            return failed(Reason.too_few_agents, outcome.capable, "of", outcome.required)
        if outcome.result is Result.no_luck:
            return failed(Reason.no_luck, self._tries)
        return failed(Reason.nothing_in_reach, self._resource)

    def turn_or_do(self, cell: Cell) -> None:
        """Act on a neighbouring cell, turning to it first."""
        x, y = self.episode.cell_of(self.agent)
        faces = self.episode.faced(self.agent) == cell
        self.step = DO if faces else TOWARDS[cell[0] - x, cell[1] - y]

    def walk(self, goals: list[Cell]) -> bool:
        """Set a step towards one of the cells; return false if there is no path."""
        step = self.episode.step_towards(self.agent, goals)
        if step != NO_WAY:
            self.step = step
        return step != NO_WAY


class CellController(_Collecting):
    """Collect from a cell: wood, stone, coal, iron, diamond, or a drink."""

    def __init__(self, episode: EpisodeState, agent: int, action: Collect) -> None:
        super().__init__(episode, agent, action)
        self._material = MATERIAL_OF_RESOURCE[action.resource]
        self._recipe: CollectRecipe = COLLECT[self._material]

    def has_got(self, gained: dict[Item, int], result: Result) -> bool:  # noqa: ARG002 (creatures need the result)
        """Whether units of the resource were gained."""
        return self._recipe.item in gained

    def approach(self) -> ActionEnd | None:
        """Act on the cell if a `do` would; else turn to it or approach it. A refusal is an attempt at the cell."""
        cell = self._choose()
        end = self._approach(cell)
        if end is None or isinstance(cell, ActionEnd):
            return end
        return replace(end, unmet=cell_task(self._material, self.episode.id_of(cell) - 1))

    def _approach(self, cell: Cell | ActionEnd) -> ActionEnd | None:
        episode, agent = self.episode, self.agent
        tool = self._recipe.tool
        if tool is not None and not episode.holds(agent, tool):
            return failed(Reason.missing_tool, tool.name)
        required = episode.level.threshold(self._material, episode.agents)
        if episode.living < required:
            return failed(Reason.team_too_small, episode.living, "of", required)
        if isinstance(cell, ActionEnd):
            return cell
        episode.named[agent] = episode.id_of(cell) - 1
        distance = episode.distance(agent, cell)
        if distance > episode.level.radius:
            return failed(Reason.out_of_reach, distance, "of", episode.level.radius)
        if episode.acts_on(agent, cell):
            self.step = DO
        elif distance == 1:
            self.turn_or_do(cell)
        elif not self.walk(around(cell, 1)):
            return failed(Reason.another_is_nearer, episode.aim(agent) + 1)
        return None

    def way(self) -> Way | None:
        """Return the way to the cell if it is out of reach of a `do`."""
        cell = self._choose()
        if isinstance(cell, ActionEnd):
            return None
        acts = self.step == DO or self.episode.distance(self.agent, cell) == 1
        return self.way_over([] if acts else self.episode.way_to(self.agent, around(cell, 1)), cell)

    def _choose(self) -> Cell | ActionEnd:
        """Return the named cell; else the one a `do` would act on, or the nearest of the material within reach."""
        episode, agent = self.episode, self.agent
        if self._target is not None:
            named = episode.cell_with(self._target)
            if named is None or (episode.known_only and episode.known(agent, named) is Material.none):
                return failed(Reason.unknown_id, self._resource, self._target)
            if episode.may_be(agent, named, self._material):
                return named
            return failed(Reason.gone, self._material.name, episode.known(agent, named).name)
        near = [
            cell
            for cell in around(episode.cell_of(agent), episode.level.radius)
            if episode.inside(cell) and episode.state.material_at(cell) is self._material
        ]
        if not near:
            return failed(Reason.nothing_in_reach, self._resource)
        return min(near, key=lambda cell: (not episode.acts_on(agent, cell), episode.distance(agent, cell), cell))


class SaplingController(_Collecting):
    """Search faced grass for a sapling."""

    def has_got(self, gained: dict[Item, int], result: Result) -> bool:  # noqa: ARG002 (see `CellController`)
        """Whether a sapling was gained."""
        return Item.sapling in gained

    def approach(self) -> ActionEnd | None:
        """Act on faced grass if nothing else is within reach; otherwise take a step that makes the agent face grass."""
        episode, agent = self.episode, self.agent
        if not episode.profile.mobs:
            return failed(Reason.not_in_profile, self._resource)
        if episode.aim(agent) == episode.id_of(episode.faced(agent)) - 1 and self._is_grass(episode.faced(agent)):
            self.step = DO
            return None
        x, y = episode.cell_of(agent)
        for (dx, dy), primitive in TOWARDS.items():
            if episode.is_free((x + dx, y + dy)) and self._is_grass((x + 2 * dx, y + 2 * dy)):
                self.step = primitive
                return None
        return failed(Reason.nothing_in_reach, self._resource)

    def _is_grass(self, cell: Cell) -> bool:
        return self.episode.is_free(cell) and self.episode.state.material_at(cell) is Material.grass


class CreatureController(_Collecting):
    """Eat a cow or a ripe plant, or fight a zombie or skeleton; follow it as long as it is in view."""

    def way(self) -> Way | None:
        """Return the way to the creature's current cell."""
        found = self._found()
        if not found:
            return None
        cell = found[0][1].cell
        return self.way_over([] if self.step == DO else self.episode.way_to(self.agent, around(cell, 1)), cell)

    def _found(self) -> list[tuple[Entity, Creature]]:
        """Return the matching creatures in view, nearest first."""
        return [
            (kind, creature)
            for kind, creature in self.episode.creatures(self.agent, CREATURES_OF[self._resource.value])
            if self._target is None or self.episode.creature_id(creature) == self._target
        ]

    def has_got(self, gained: dict[Item, int], result: Result) -> bool:
        """Whether the creature was eaten or defeated."""
        return Item.food in gained if self._resource is Resource.food else result is Result.defeated

    def approach(self) -> ActionEnd | None:
        """Go next to the creature, turn to it, and act."""
        episode, agent = self.episode, self.agent
        found = self._found()
        if not found:
            if self._target is None:
                return failed(Reason.nothing_in_reach, self._resource)
            return failed(Reason.out_of_sight, self._resource, self._target)
        kind, creature = found[0]
        distance = episode.distance(agent, creature.cell)
        if kind is Entity.cow and episode.aim(agent) == AREA_AIM and distance <= episode.level.radius:
            self.step = DO
        elif distance == 1:
            self.turn_or_do(creature.cell)
        elif not self.walk(around(creature.cell, 1)):
            return failed(Reason.no_path, kind.name, episode.creature_id(creature))
        return None
