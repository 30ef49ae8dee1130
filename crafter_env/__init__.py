"""The multi-agent open world: Crafter's rules for a team, kernels and the PettingZoo environment.

- To play: `CrafterEnv` (PettingZoo, dictionaries by agent) and `CrafterVecEnv` (a batch in one compiled call).
- To choose the rules: `Profile` and `Level`, by name in `PROFILES` and `LEVELS`; `Layout` draws a world by hand.
- To act: `Action` is what an agent does in a step; `share(recipient, item, quantity)` builds the one with arguments.
- To know what came of it: `CrafterEnv.outcome(agent)` is an `Outcome`: a `Result` with the numbers of a failure in it
  (agents required, present and capable, the tool or input that is missing). What agents do never raises, unless it is
  no action at all.
- To look: `CrafterEnv.crafter_state` is a `CrafterState`, typed access to the live arrays: positions, facing, sleeping,
  alive, inventory, achievements, materials, creatures, daylight, step, and `view(agent)`, the `LocalView` that an agent
  has. `COLLECT`, `PLACE` and `MAKE` are the recipes, `Level.threshold(material, n)` the agents that a resource takes.
- To go back: `CrafterEnv.save()` and `load()`; `CrafterState.copy()` and `restore()` without the series of episodes.

What needs NumPy, Numba or PettingZoo is imported when it is first used, so that the light names stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from crafter_env.constants import (
    COLLECT,
    FAILURES,
    MAKE,
    NEEDS,
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
    from crafter_env.env import CrafterEnv, Observation, SavedEnv, agent_name, team_score
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
    from crafter_env.render import render_ansi, render_rgb
    from crafter_env.state import CrafterState, Creature, LocalView, world_seed
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
    from crafter_env.vector import CrafterVecEnv

_LAZY = {
    "env": ("CrafterEnv", "Observation", "SavedEnv", "agent_name", "team_score"),
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
    "render": ("render_ansi", "render_rgb"),
    "state": ("CrafterState", "Creature", "LocalView", "world_seed"),
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
    "vector": ("CrafterVecEnv",),
}
_MODULE = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "COLLECT",
    "FAILURES",
    "LEVELS",
    "MAKE",
    "MATERIAL_CHARACTERS",
    "NEEDS",
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
    "CrafterVecEnv",
    "Creature",
    "Direction",
    "Entity",
    "EpisodeError",
    "Frontier",
    "Item",
    "Layout",
    "LayoutError",
    "Level",
    "LocalView",
    "MakeRecipe",
    "Material",
    "Move",
    "Navigate",
    "Noop",
    "Observation",
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
    "render_rgb",
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
