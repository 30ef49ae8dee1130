"""The multi-agent open world: Crafter's rules for a team, kernels and the PettingZoo environment.

What needs NumPy, Numba or PettingZoo is imported when it is first used, so that the light names stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from crafter_env.constants import (
    COLLECT,
    MAKE,
    PLACE,
    VIEW,
    Achievement,
    Action,
    Cell,
    CollectRecipe,
    Entity,
    Item,
    MakeRecipe,
    Material,
    PlaceRecipe,
    Result,
)
from crafter_env.errors import ActionError, CrafterError, EpisodeError, LayoutError, PlacementError
from crafter_env.profiles import LEVELS, PROFILES, CollectRule, Level, Profile, Spawn, YieldRule

if TYPE_CHECKING:
    from crafter_env.env import CrafterEnv, SavedEnv, agent_name, team_score
    from crafter_env.joint_action import share
    from crafter_env.layout import MATERIAL_CHARACTERS, Layout
    from crafter_env.observation import (
        Cooperation,
        CrafterObservation,
        Frontier,
        PastAction,
        SeenEntity,
        SeenMap,
        TargetHint,
        Teammate,
    )
    from crafter_env.outcome import Outcome
    from crafter_env.render import render_ansi
    from crafter_env.state import CrafterState, Creature, world_seed
    from crafter_env.symbolic.actions import (
        Collect,
        Craft,
        Direction,
        Move,
        Navigate,
        Noop,
        Place,
        Placeable,
        Resource,
        Share,
        Shareable,
        Sleep,
        Target,
        Tool,
    )

_LAZY = {
    "env": ("CrafterEnv", "SavedEnv", "agent_name", "team_score"),
    "joint_action": ("share",),
    "layout": ("MATERIAL_CHARACTERS", "Layout"),
    "observation": (
        "Cooperation",
        "CrafterObservation",
        "Frontier",
        "PastAction",
        "SeenEntity",
        "SeenMap",
        "TargetHint",
        "Teammate",
    ),
    "outcome": ("Outcome",),
    "render": ("render_ansi",),
    "state": ("CrafterState", "Creature", "world_seed"),
    "symbolic.actions": (
        "Collect",
        "Craft",
        "Direction",
        "Move",
        "Navigate",
        "Noop",
        "Place",
        "Placeable",
        "Resource",
        "Share",
        "Shareable",
        "Sleep",
        "Target",
        "Tool",
    ),
}
_MODULE = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "COLLECT",
    "LEVELS",
    "MAKE",
    "MATERIAL_CHARACTERS",
    "PLACE",
    "PROFILES",
    "VIEW",
    "Achievement",
    "Action",
    "ActionError",
    "Cell",
    "Collect",
    "CollectRecipe",
    "CollectRule",
    "Cooperation",
    "Craft",
    "CrafterEnv",
    "CrafterError",
    "CrafterObservation",
    "CrafterState",
    "Creature",
    "Direction",
    "Entity",
    "EpisodeError",
    "Frontier",
    "Item",
    "Layout",
    "LayoutError",
    "Level",
    "MakeRecipe",
    "Material",
    "Move",
    "Navigate",
    "Noop",
    "Outcome",
    "PastAction",
    "Place",
    "PlaceRecipe",
    "Placeable",
    "PlacementError",
    "Profile",
    "Resource",
    "Result",
    "SavedEnv",
    "SeenEntity",
    "SeenMap",
    "Share",
    "Shareable",
    "Sleep",
    "Spawn",
    "Target",
    "TargetHint",
    "Teammate",
    "Tool",
    "YieldRule",
    "agent_name",
    "render_ansi",
    "share",
    "team_score",
    "world_seed",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
