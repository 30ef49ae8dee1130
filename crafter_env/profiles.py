"""Rule switches: profiles and levels. Source: docs/crafter.md, profiles, levels, goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import IntEnum
from typing import TypeVar

from crafter_env.constants import COLLECT, Item, Material
from quorum_base.environments.errors import WorldError

_Value = TypeVar("_Value")


class CollectRule(IntEnum):
    """The cells that a `do` aims at."""

    facing = 0
    """The faced cell, as in Crafter."""
    nearest = 1
    """The faced cell if it can be collected, else the nearest within the level's radius, ties row by row.

    Grass comes last: it is a target only if it is faced and nothing else is within reach.
    """
    area = 2
    """Every cell and cow within the level's radius; faced grass if there is none."""


class Luck(IntEnum):
    """Source of the random numbers of a step; see `kernels.luck`. The world itself is generated as in Crafter."""

    stream = 0
    """One stream, in order of use, as in Crafter: after any difference, all later numbers differ."""
    keyed = 1
    """Each number from its own key: step, purpose, and the entity, cell or chunk. Local differences stay local."""


class Spawn(IntEnum):
    """Where the agents start."""

    centre = 0
    """One agent in the middle of the map, as in Crafter."""
    cluster = 1
    """Free walkable cells of one connected component, nearest to the middle first (L1, ties row by row)."""
    random_grass = 2
    """Distinct free cells of grass, drawn uniformly."""


class YieldRule(IntEnum):
    """The share of each capable collector of a cell."""

    each = 0
    """Each gets the whole yield."""
    split = 1
    """All share one yield, as evenly as whole units allow; the remainder goes to the lowest indices."""


SCORE_BASE: Mapping[Item, int] = {Item.wood: 1, Item.stone: 10, Item.coal: 25, Item.iron: 25, Item.diamond: 80}
"""Points per unit before quorum and tier."""
TIER: Mapping[Item | None, int] = {None: 0, Item.wood_pickaxe: 1, Item.stone_pickaxe: 2, Item.iron_pickaxe: 3}
"""Position of a tool in the technology tree."""


@dataclass(frozen=True)
class Level:
    """How many agents must cooperate.

    Attributes:
        name: name of the level.
        wood: capable agents that a tree requires; the next four likewise.
        stone: see `wood`.
        coal: see `wood`.
        iron: see `wood`.
        diamond: see `wood`.
        radius: L1 distance that `do` reaches with the rules `nearest` and `area`.
        craft_quorum: agents that a joint craft requires.
    """

    name: str
    wood: int = 1
    stone: int = 1
    coal: int = 1
    iron: int = 1
    diamond: int = 1
    radius: int = 1
    craft_quorum: int = 1

    def __post_init__(self) -> None:
        for name in ("wood", "stone", "coal", "iron", "diamond", "radius", "craft_quorum"):
            if getattr(self, name) < 1:
                raise WorldError(f"level {self.name!r}: {name} = {getattr(self, name)}, but must be at least 1")

    def threshold(self, material: Material, agents: int) -> int:
        """Return the capable agents that a cell requires in a team of `agents`; 1 if the level does not specify it."""
        item = COLLECT[material].item if material in COLLECT else None
        return min(agents, getattr(self, item.name)) if item is not None and item in SCORE_BASE else 1

    def quorum(self, agents: int) -> int:
        """Return the agents that a joint craft requires in a team of `agents`."""
        return min(agents, self.craft_quorum)

    def score(self, material: Material, agents: int) -> float:
        """Return the points per unit of a material for each recipient: base x threshold x (1 + 0.5 x tier)."""
        recipe = COLLECT.get(material)
        if recipe is None or recipe.item not in SCORE_BASE:
            return 0.0
        return SCORE_BASE[recipe.item] * self.threshold(material, agents) * (1 + 0.5 * TIER[recipe.tool])


@dataclass(frozen=True)
class Profile:
    """A set of values for the rule switches; change one with `dataclasses.replace`.

    Attributes:
        name: name of the profile.
        collect: which cells a `do` aims at.
        mobs: whether there are zombies, skeletons, arrows, saplings and plants.
        item_cap: maximum amount of an item that an agent can hold; needs go to 9.
        update_radius: L1 distance to the nearest living agent below which objects act; None for the whole map.
        iron_needs_table: whether iron tools need a table in addition to the furnace.
        sharing: whether there is an action `share`.
        share_radius: L1 distance that a share reaches; None for any.
        craft_radius: L1 distance to a table's 3 x 3 block within which agents join a craft.
        spawn: where the agents start.
        yields: the share of each collector of a cell.
        luck: source of the random numbers of a step.
        level: the default level.
    """

    name: str
    collect: CollectRule = CollectRule.nearest
    mobs: bool = True
    item_cap: int = 9
    update_radius: int | None = 18
    iron_needs_table: bool = True
    sharing: bool = True
    share_radius: int | None = 2
    craft_radius: int = 1
    spawn: Spawn = Spawn.cluster
    yields: YieldRule = YieldRule.each
    luck: Luck = Luck.keyed
    level: Level = field(default_factory=lambda: LEVELS["easy"])

    def __post_init__(self) -> None:
        if self.item_cap < 1:
            raise WorldError(f"profile {self.name!r}: item_cap = {self.item_cap}, but must be at least 1")


LEVELS: Mapping[str, Level] = {
    "solo": Level("solo"),
    "easy": Level("easy", diamond=2, radius=2),
    "medium": Level("medium", coal=2, iron=2, diamond=2, radius=2),
    "hard": Level("hard", stone=2, coal=2, iron=3, diamond=3, craft_quorum=2),
    "coop2": Level("coop2", coal=2, iron=3, diamond=3),
    "emcoop_easy": Level("emcoop_easy", diamond=2, radius=2),
    "emcoop_medium": Level("emcoop_medium", stone=2, coal=2, iron=2, diamond=2, radius=2),
    "emcoop_hard": Level("emcoop_hard", coal=2, iron=3, diamond=3, craft_quorum=2),
}
"""Levels by name; `solo` is Crafter's own, one agent for everything.

EmCoop's page describes its levels in words: at level 1 most resources require one agent, at level 2 most require two,
and level 3 is mixed, up to three; crafting requires a quorum in the hard setting. `emcoop_easy`, `emcoop_medium` and
`emcoop_hard` are these levels. Easy has the default numbers of EmCoop's code; hard has the thresholds of the published
configuration (COOP2).
"""

PROFILES: Mapping[str, Profile] = {
    "crafter": Profile(
        "crafter",
        collect=CollectRule.facing,
        sharing=False,
        spawn=Spawn.centre,
        luck=Luck.stream,
        level=LEVELS["solo"],
    ),
    "coop": Profile("coop"),
    "coop2": Profile(
        "coop2",
        collect=CollectRule.area,
        mobs=False,
        item_cap=20,
        update_radius=None,
        iron_needs_table=False,
        share_radius=None,
        spawn=Spawn.random_grass,
        level=LEVELS["coop2"],
    ),
}
"""Profiles by name."""


def find_profile(profile: str | Profile) -> Profile:
    """Return a profile, or the one with this name.

    Raises:
        WorldError: Unknown name; the message suggests the closest name and lists all.
    """
    return profile if isinstance(profile, Profile) else _named(profile, PROFILES, "profile")


def find_level(level: str | Level | None, profile: Profile) -> Level:
    """Return a level, or the one with this name; the profile's own by default.

    Raises:
        WorldError: Unknown name; the message suggests the closest name and lists all.
    """
    if level is None:
        return profile.level
    return level if isinstance(level, Level) else _named(level, LEVELS, "level")


def _named(name: str, table: Mapping[str, _Value], kind: str) -> _Value:
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise WorldError(f"there is no {kind} {name!r}.{hint} The {kind}s are {', '.join(table)}.")
