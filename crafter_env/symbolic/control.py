"""Controllers: each turns one symbolic action into primitives, tick by tick."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from crafter_env.constants import (
    COLLECT,
    DISPLACEMENT,
    PLACE,
    WALKABLE,
    Action,
    Cell,
    CollectRecipe,
    Entity,
    Item,
    Material,
    PlaceRecipe,
    Result,
)
from crafter_env.kernels.grid import AREA_AIM
from crafter_env.kernels.sight import HALF_HEIGHT, NO_WAY
from crafter_env.state import Creature, Outcome
from crafter_env.symbolic.actions import (
    CREATURES_OF,
    MATERIAL_OF,
    MATERIAL_OF_RESOURCE,
    Collect,
    Craft,
    Move,
    Navigate,
    Noop,
    Place,
    Placeable,
    Resource,
    Share,
    Sleep,
    Target,
)
from crafter_env.symbolic.controller import DO, CrafterController, Reason, RepeatController, encode_share
from crafter_env.symbolic.episode_state import EpisodeState, around, beside_station
from maeil.actions import ActionStatus, SymbolicAction
from maeil.controllers import SUCCESS, failed
from maeil.drawing import Way
from maeil.world import ActionEnd

TIMEOUT: Final = 64
"""Steps after which a `navigate` gives up."""


class NavigateController(CrafterController):
    """Go to where a target can be acted on, also to one that the agent has only heard of."""

    def __init__(self, episode: EpisodeState, agent: int, action: Navigate) -> None:
        super().__init__(episode, agent)
        self._target, self._id, self._near = action.target, action.id, action.near
        self._begun = episode.state.step
        cell = episode.cell_with(action.id)
        self._was_unseen = cell is not None and episode.known(agent, cell) is Material.none

    def check(self) -> ActionEnd | None:
        """End on arrival; when the target is not there, or unknown; or when there is no way, as far as was seen."""
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
        """By the cells that the agent takes to be free, to where it takes the target to be."""
        found = self._locate()
        if isinstance(found, ActionEnd):
            return None
        return self.way_over(self.episode.way_to(self.agent, goals(self.episode, self._target, found)), found)

    def _locate(self) -> Cell | ActionEnd:
        """Find where the target is, as far as the agent knows; or tell why it does not know."""
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
        """Where a teammate is; out of sight, where it was last seen on the way, was heard to be, or was last seen."""
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
    """The cells from which a target can be acted on.

    A cell itself; next to creatures, teammates and water; next to a station or diagonal to it; and within the collect
    radius of everything that is collected, from where it is seen.
    """
    if target is Target.cell:
        return [cell]
    if target in (Target.table, Target.furnace):
        return beside_station(cell)
    collected = target.value in MATERIAL_OF and target is not Target.water
    return around(cell, min(episode.level.radius, HALF_HEIGHT) if collected else 1)


class NoopController(RepeatController):
    """Do nothing for some steps; a dead agent does nothing to the end of the episode."""

    def __init__(self, episode: EpisodeState, agent: int, action: Noop) -> None:
        super().__init__(episode, agent, Action.noop, action.steps)
        self._started_dead = not episode.lives(agent)

    def when_dead(self) -> ActionEnd | None:
        """Fail when the agent dies. One that starts after its death goes on for ever: dead agents make no plans."""
        return None if self._started_dead else failed(Reason.dead)


class SleepController(CrafterController):
    """Sleep until awake again."""

    def check(self) -> ActionEnd | None:
        """Succeed when awake after some sleep; fail when not tired."""
        self.step = int(Action.sleep)
        if self.ticks == 0:
            return None
        if self.episode.sleeps(self.agent):
            return None
        outcome = self.episode.state.outcome(self.agent)
        return failed(Reason.not_tired) if self.ticks == 1 and outcome.result == Result.not_tired else SUCCESS


TOWARDS = {step: int(action) for action, step in DISPLACEMENT.items()}
"""The primitive that turns to a neighbouring cell."""
APPROACH: Final = 16
"""Steps that turning and stepping up may take in all."""


class _Collecting(CrafterController):
    """What the three have in common: tries, and the end that the last `do` gives."""

    def __init__(self, episode: EpisodeState, agent: int, action: Collect) -> None:
        super().__init__(episode, agent)
        self._resource, self._target, self._left = action.resource, action.target, action.steps
        self._tries = 0

    def act(self) -> int:
        """Return the primitive for the coming step, and count the tries."""
        self._tries += self.step == DO
        return super().act()

    def check(self) -> ActionEnd | None:
        """End by what the last `do` came to; otherwise decide the next step."""
        if self.episode.sleeps(self.agent):
            return failed(Reason.asleep)
        end = self._after_do() if self.ticks and self.step == DO else None
        if end is None and self.ticks - self._tries > APPROACH:
            end = failed(Reason.not_reached, self.ticks)
        return end if end is not None else self.approach()

    @abstractmethod
    def approach(self) -> ActionEnd | None:
        """Decide the coming step, or tell why there is none."""

    @abstractmethod
    def has_got(self, gained: dict[Item, int], result: Result) -> bool:
        """Whether a `do` has brought what is wanted."""

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
        """Decide a step towards one of some cells; false when there is no way."""
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
        """Whether units of the resource came."""
        return self._recipe.item in gained

    def approach(self) -> ActionEnd | None:
        """Act on the cell when a `do` would; else turn to it, or step up to it."""
        episode, agent = self.episode, self.agent
        tool = self._recipe.tool
        if tool is not None and not episode.holds(agent, tool):
            return failed(Reason.missing_tool, tool.name)
        required = episode.level.threshold(self._material, episode.agents)
        if episode.living < required:
            return failed(Reason.team_too_small, episode.living, "of", required)
        cell = self._choose()
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
        """Up to the cell, where it is out of reach of a `do`."""
        cell = self._choose()
        if isinstance(cell, ActionEnd):
            return None
        acts = self.step == DO or self.episode.distance(self.agent, cell) == 1
        return self.way_over([] if acts else self.episode.way_to(self.agent, around(cell, 1)), cell)

    def _choose(self) -> Cell | ActionEnd:
        """The cell that was named; else what a `do` would act on, or the nearest of the material in reach."""
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
        """Whether a sapling came."""
        return Item.sapling in gained

    def approach(self) -> ActionEnd | None:
        """Act on faced grass where nothing else is in reach; otherwise take a step after which grass is faced."""
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
    """Eat a cow or a ripe plant, or fight a zombie or skeleton; follows it as long as it is in view."""

    def way(self) -> Way | None:
        """Up to the creature, where it is now."""
        found = self._found()
        if not found:
            return None
        cell = found[0][1].cell
        return self.way_over([] if self.step == DO else self.episode.way_to(self.agent, around(cell, 1)), cell)

    def _found(self) -> list[tuple[Entity, Creature]]:
        """The creatures in view that it may be, nearest first."""
        return [
            (kind, creature)
            for kind, creature in self.episode.creatures(self.agent, CREATURES_OF[self._resource.value])
            if self._target is None or self.episode.creature_id(creature) == self._target
        ]

    def has_got(self, gained: dict[Item, int], result: Result) -> bool:
        """Whether it was eaten, or is defeated."""
        return Item.food in gained if self._resource is Resource.food else result is Result.defeated

    def approach(self) -> ActionEnd | None:
        """Go next to it, turn to it, act."""
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


class CraftController(CrafterController):
    """Make a tool; tries again while too few agents make it with this one."""

    def __init__(self, episode: EpisodeState, agent: int, action: Craft) -> None:
        super().__init__(episode, agent)
        self._steps = action.steps
        self.step = int(action.item.primitive)

    def check(self) -> ActionEnd | None:
        """End by what the last step came to."""
        episode = self.episode
        if episode.sleeps(self.agent):
            return failed(Reason.asleep)
        quorum = episode.level.quorum(episode.agents)
        if episode.living < quorum:
            return failed(Reason.team_too_small, episode.living, "of", quorum)
        if self.ticks == 0:
            return None
        outcome = episode.state.outcome(self.agent)
        if outcome.result is Result.too_few_agents and self.ticks < self._steps:
            return None
        return _crafted(outcome)


def _crafted(outcome: Outcome) -> ActionEnd:
    match outcome:
        case Outcome(result=Result.crafted):
            return SUCCESS
        case Outcome(result=Result.missing_input, item=item) if item is not None:
            return failed(Reason.missing_input, item.name, outcome.present, "of", outcome.required)
        case Outcome(result=Result.too_few_agents):
            return failed(Reason.too_few_agents, outcome.present, "of", outcome.required)
        case Outcome(result=Result.no_station, target=Material() as station):
            return failed(Reason.no_station, station.name)
        case _:
            return failed(Reason.asleep)


class PlaceController(CrafterController):
    """Place something on the faced cell, or take a step after which it can be placed."""

    def __init__(self, episode: EpisodeState, agent: int, action: Place) -> None:
        super().__init__(episode, agent)
        self._object = action.object
        self._primitive = int(action.object.primitive)
        self._recipe: PlaceRecipe = PLACE[action.object.primitive]

    def check(self) -> ActionEnd | None:
        """Succeed when it is placed; fail without the input, or without a cell for it after one step."""
        episode, agent, recipe = self.episode, self.agent, self._recipe
        if episode.sleeps(agent):
            return failed(Reason.asleep)
        if self.ticks and self.step == self._primitive:
            placed = episode.state.outcome(agent).result is Result.placed
            return SUCCESS if placed else failed(Reason.no_place, self._object)
        if self._object is Placeable.plant and not episode.profile.mobs:
            return failed(Reason.not_in_profile, self._object)
        held = episode.holds(agent, recipe.item)
        if held < recipe.amount:
            return failed(Reason.missing_input, recipe.item.name, held, "of", recipe.amount)
        if self._bears(episode.faced(agent)):
            self.step = self._primitive
            return None
        x, y = episode.cell_of(agent)
        for action, (dx, dy) in DISPLACEMENT.items():
            there = x + dx, y + dy
            if episode.is_free(there):
                leads_on = self._bears((x + 2 * dx, y + 2 * dy))
            else:
                leads_on = self._bears(there) and episode.state.material_at(there) is not Material.lava
            if self.ticks < 2 and leads_on:
                self.step = int(action)
                return None
        return failed(Reason.no_place, self._object)

    def _bears(self, cell: tuple[int, int]) -> bool:
        state = self.episode.state
        return state.material_at(cell) in self._recipe.where and state.entity_at(cell) is Entity.none


class ShareController(CrafterController):
    """Give a teammate some of an item."""

    def __init__(self, episode: EpisodeState, agent: int, action: Share) -> None:
        super().__init__(episode, agent)
        self._share = action
        self.step = encode_share(action.agent, action.item.item, action.quantity, episode.agents)

    def check(self) -> ActionEnd | None:
        """Fail before the step when it cannot come off; end by what it came to after it."""
        episode, share = self.episode, self._share
        if not 0 <= share.agent < episode.agents:
            return failed(Reason.no_such_agent, share.agent)
        if episode.sleeps(self.agent):
            return failed(Reason.asleep)
        if self.ticks == 0:
            return self._hindrance()
        outcome = episode.state.outcome(self.agent)
        match outcome.result:
            case Result.shared:
                return SUCCESS
            case Result.recipient_far:
                return failed(Reason.recipient_far, outcome.present, "of", outcome.required)
            case Result.recipient_full:
                return failed(Reason.recipient_full, share.agent)
            case Result.not_held:
                return failed(Reason.not_held, share.item)
            case Result.recipient_dead:
                return failed(Reason.recipient_dead, share.agent)
            case _:
                return failed(Reason.not_shareable, share.item)

    def way(self) -> Way:
        """To the teammate."""
        return self.way_over((), self.episode.cell_of(self._share.agent))

    def _hindrance(self) -> ActionEnd | None:
        episode, share = self.episode, self._share
        if not episode.profile.sharing:
            return failed(Reason.not_in_profile, "share")
        if share.agent == self.agent:
            return failed(Reason.no_such_agent, share.agent)
        if not episode.holds(self.agent, share.item.item):
            return failed(Reason.not_held, share.item)
        return None


def make_controller(episode: EpisodeState, agent: int, action: SymbolicAction) -> CrafterController:
    """Start the controller of an action."""
    match action:
        case Noop():
            return NoopController(episode, agent, action)
        case Move():
            return RepeatController(episode, agent, action.direction.action, action.steps)
        case Collect() if action.resource in MATERIAL_OF_RESOURCE:
            return CellController(episode, agent, action)
        case Collect(resource=Resource.sapling):
            return SaplingController(episode, agent, action)
        case Collect():
            return CreatureController(episode, agent, action)
        case Craft():
            return CraftController(episode, agent, action)
        case Sleep():
            return SleepController(episode, agent)
        case Place():
            return PlaceController(episode, agent, action)
        case Share():
            return ShareController(episode, agent, action)
        case Navigate():
            return NavigateController(episode, agent, action)
        case _:
            raise TypeError(f"the open world has no controller for {type(action).__name__}")
