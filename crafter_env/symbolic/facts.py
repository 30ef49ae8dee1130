"""The rules of a profile and a level as facts that a prompt can tell, the same for every size of a team."""

from __future__ import annotations

from typing import Any

from crafter_env.constants import COLLECT, Material
from crafter_env.profiles import CollectRule, Level, Profile

_RESOURCES = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)
_MANY = 1024
"""Agents of a team that is large enough for every level."""


def facts_of(profile: Profile, level: Level) -> dict[str, Any]:
    """Return the rules by name, JSON-ready.

    `agents` is how many a resource takes, and `craft_agents` how many a tool, in a team that has so many; a smaller one
    takes all of its agents. `points` are those of a unit for each who collects it, in a team that has so many. `radius`
    and `craft_radius` are in cells; so is `share_radius`, None for any distance, and there is `sharing` or not.
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
