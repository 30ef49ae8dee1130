"""Builds an agent's typed observation from its map memory and current view."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from crafter_env.constants import COLLECT, NEEDS, Entity, Item, Material
from crafter_env.kernels import sight
from crafter_env.kernels.arrays import ByteArray
from crafter_env.layout import MATERIAL_CHARACTERS
from crafter_env.observation import (
    UNSEEN,
    CrafterObservation,
    Frontier,
    LastSeen,
    SeenEntity,
    SeenMap,
    TargetHint,
    Teammate,
    asked_of,
    visible_cells,
)
from crafter_env.profiles import CollectRule, Level, Profile
from crafter_env.state import Creature
from crafter_env.symbolic.episode_state import EpisodeState

_RESOURCES = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)
_MANY = 1024
"""Number of agents in a team large enough for every level."""


def facts_of(profile: Profile, level: Level) -> dict[str, Any]:
    """Return the rules by name, JSON-ready.

    `agents` is the number of agents that a resource requires, and `craft_agents` the number for a tool; a smaller team
    needs all of its agents. `points` are per unit and collector, in a team that is large enough. `radius`,
    `craft_radius` and `share_radius` are in cells; a `share_radius` of None means any distance. `sharing` says whether
    agents can share.
    """
    names = {material: COLLECT[material].item.name for material in _RESOURCES}
    return {
        "mobs": profile.mobs,
        "area": profile.collect is CollectRule.area,
        "radius": level.radius,
        "agents": {name: level.threshold(material, _MANY) for material, name in names.items()},
        "points": {name: level.score(material, _MANY) for material, name in names.items()},
        "craft_agents": level.quorum(_MANY),
        "craft_radius": profile.craft_radius,
        "iron_needs_table": profile.iron_needs_table,
        "sharing": profile.sharing,
        "share_radius": profile.share_radius,
        "item_cap": profile.item_cap,
        "yields": profile.yields.name,
    }


TASKS = (Material.diamond, Material.iron, Material.coal, Material.stone, Material.tree)
SUPPLIES = (Material.water, Material.table, Material.furnace)
_CHARACTERS = np.array(
    [UNSEEN, *(next(c for c, m in MATERIAL_CHARACTERS.items() if m is material) for material in list(Material)[1:])]
)
_DIRECTIONS = ("up", "down", "left", "right")


class Observer:
    """Observes for the agents of one episode.

    Args:
        episode: state shared by the controllers of the episode.
        names: names of the agents.
        max_steps: steps after which the episode is truncated.
        goal: the achievement that ends it, or `open`.
        max_agents: maximum number of teammates shown to an agent; None for all.
    """

    def __init__(
        self, episode: EpisodeState, names: tuple[str, ...], max_steps: int, goal: str, max_agents: int | None
    ) -> None:
        self._episode = episode
        self._names = names
        self._max_steps = max_steps
        self._goal = goal
        self._max_agents = max_agents if max_agents is not None else episode.agents
        profile, level, agents = episode.profile, episode.level, episode.agents
        self._cooperation = asked_of(facts_of(profile, level), agents)
        self._reach = np.full(len(Material), -1, dtype=np.int64)
        for material in TASKS:
            self._reach[material] = level.radius
        for material in SUPPLIES:
            self._reach[material] = 1
        self._found = np.empty((len(Material), sight.NEAREST, 3), dtype=np.int64)
        self._edges = np.empty((4, 3), dtype=np.int64)

    def limit(self, max_steps: int) -> None:
        """Change the reported step limit of the episode."""
        self._max_steps = max_steps

    def observe(self, agent: int, score: float) -> CrafterObservation:
        """Return an agent's observation."""
        episode, state = self._episode, self._episode.state
        cell = episode.cell_of(agent)
        alive = episode.lives(agent)
        inventory = dict(zip(Item, state.inventory[agent].tolist(), strict=True))
        dx, dy = state.facing[agent].tolist()
        tasks, supplies, frontiers = self._hints(agent) if alive else ((), (), ())
        others = self._in_view(agent) if alive else []
        shown = others[: self._max_agents]
        missed = self._last_seen(agent, others) if alive else []
        drawn = self._draw(episode.memory[agent], [agent, *others])
        return self._observation(
            score,
            agent=self._names[agent],
            alive=alive,
            sleeping=episode.sleeps(agent),
            cell=cell,
            facing=(dx, dy),
            needs={need.name: inventory[need] for need in NEEDS},
            inventory={item.name: units for item, units in inventory.items() if units and item not in NEEDS},
            map=drawn,
            visible=visible_cells(drawn, cell, state.size) if alive else {},
            entities=self._entities(episode.creatures(agent)) if alive else (),
            teammates=tuple(self._teammate(other) for other in shown),
            last_seen=tuple(missed[: self._max_agents - len(shown)]),
            agents_not_shown=max(len(others) + len(missed) - self._max_agents, 0),
            tasks=tasks,
            supplies=supplies,
            frontiers=frontiers,
        )

    def global_observation(self, score: float) -> CrafterObservation:
        """Return an observation of the whole world, for a participant without a body."""
        episode, state = self._episode, self._episode.state
        living = [agent for agent in range(episode.agents) if episode.lives(agent)]
        return self._observation(
            score,
            map=self._draw(state.materials, living),
            entities=self._entities((state.entity_at(creature.cell), creature) for creature in state.creatures()),
            teammates=tuple(self._teammate(agent) for agent in living),
        )

    def _observation(self, score: float, **seen: Any) -> CrafterObservation:
        """Combine the parts shared by all observers with the observer's own."""
        state = self._episode.state
        return CrafterObservation(
            step=state.step,
            max_steps=self._max_steps,
            goal=self._goal,
            score=score,
            size=state.size,
            daylight=round(state.daylight, 3),
            cooperation=self._cooperation,
            known_only=self._episode.known_only,
            **seen,
        )

    def _in_view(self, agent: int) -> list[int]:
        """Return the teammates that an agent sees, nearest first, ties by index."""
        episode = self._episode
        living = (other for other in range(episode.agents) if other != agent and episode.lives(other))
        seen = [other for other in living if episode.in_view(agent, episode.cell_of(other))]
        return sorted(seen, key=lambda other: episode.distance(agent, episode.cell_of(other)))

    def _last_seen(self, agent: int, in_view: Collection[int]) -> list[LastSeen]:
        """Return the teammates that an agent has seen but does not see now, nearest first, ties by index."""
        found = []
        for other in range(self._episode.agents):
            if other not in in_view and (seen := self._episode.last_seen(agent, other)) is not None:
                found.append(LastSeen(self._names[other], *seen))
        return sorted(found, key=lambda seen: self._episode.distance(agent, seen.cell))

    def _teammate(self, agent: int) -> Teammate:
        return Teammate(self._names[agent], self._episode.cell_of(agent), self._episode.sleeps(agent))

    def _draw(self, known: ByteArray, agents: list[int]) -> SeenMap:
        columns, rows = np.nonzero(known.any(axis=1))[0], np.nonzero(known.any(axis=0))[0]
        left, right, top, bottom = columns[0], columns[-1], rows[0], rows[-1]
        canvas = _CHARACTERS[known[left : right + 1, top : bottom + 1]]
        for agent in agents:
            x, y = self._episode.cell_of(agent)
            canvas[x - left, y - top] = str(agent % 10)
        return SeenMap(int(left), int(top), tuple("".join(row) for row in canvas.T.tolist()))

    def _entities(self, seen: Iterable[tuple[Entity, Creature]]) -> tuple[SeenEntity, ...]:
        return tuple(
            SeenEntity(self._episode.creature_id(creature), kind.name, creature.cell, creature.health)
            for kind, creature in seen
        )

    def _hints(self, agent: int) -> tuple[tuple[TargetHint, ...], tuple[TargetHint, ...], tuple[Frontier, ...]]:
        episode = self._episode
        known, field = episode.memory[agent], episode.measure(agent)
        sight.nearest_cells(known, field, self._reach, self._found)
        sight.frontiers(known, field, *episode.cell_of(agent), self._edges)
        tasks = tuple(hint for material in TASKS for hint in self._targets(agent, material))
        supplies = tuple(hint for material in SUPPLIES for hint in self._targets(agent, material))
        edges = zip(_DIRECTIONS, self._edges.tolist(), strict=True)
        found = ((direction, (x, y), length) for direction, (x, y, length) in edges if length >= 0)
        return tasks, supplies, tuple(Frontier(episode.id_of(cell), way, cell, length) for way, cell, length in found)

    def _targets(self, agent: int, material: Material) -> list[TargetHint]:
        episode = self._episode
        tool = COLLECT[material].tool if material in COLLECT else None
        ready = tool is None or episode.holds(agent, tool) > 0
        found = (((x, y), length) for x, y, length in self._found[material].tolist() if length >= 0)
        return [TargetHint(episode.id_of(cell), material.name, cell, length, ready) for cell, length in found]
