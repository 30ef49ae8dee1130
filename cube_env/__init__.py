"""The block-pushing grid world: rules, kernels and the PettingZoo environment.

What needs NumPy, Numba or PettingZoo is imported when it is first used, so that the light names stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from cube_env.constants import Action, Cell, Direction, Face, MoveFailure, PushOutcome
from cube_env.curriculum import Scenario, curriculum
from cube_env.errors import (
    ActionError,
    CubeError,
    EpisodeError,
    LayoutError,
    PlacementError,
    StaleObservationError,
)

if TYPE_CHECKING:
    from cube_env.bound import lower_bound
    from cube_env.concepts import (
        all_aligned_positions,
        block_progress,
        blocked,
        count_aligned_agents,
        delivered,
        get_distance,
        is_aligned_with_block,
        quorum_deficit,
        quorum_status,
        required_force,
    )
    from cube_env.env import CubeEnv, SavedEnv
    from cube_env.layout import Layout
    from cube_env.library import board_names, layout_from, load_board
    from cube_env.observation import FaceCells, Faces, HistoryEntry, SymbolicBlock, SymbolicObservation
    from cube_env.placement import place
    from cube_env.render import render_ansi, render_rgb
    from cube_env.report import FailedMove, Push, StepReport
    from cube_env.rewards import ShapedEnv, potential_reward, register_reward, reward_names
    from cube_env.state import BlockView, CubeState, Snapshot
    from cube_env.symbolic.actions import (
        Entity,
        Idle,
        Move,
        MoveToBlock,
        Navigate,
        PushBlock,
        PushTowards,
        Rendezvous,
        Wait,
        WaitAgents,
        YieldBlock,
    )
    from cube_env.symbolic.rollout import roll_out
    from cube_env.vector import CubeVecEnv

_LAZY = {
    "bound": ("lower_bound",),
    "concepts": (
        "all_aligned_positions",
        "block_progress",
        "blocked",
        "count_aligned_agents",
        "delivered",
        "get_distance",
        "is_aligned_with_block",
        "quorum_deficit",
        "quorum_status",
        "required_force",
    ),
    "env": ("CubeEnv", "SavedEnv"),
    "layout": ("Layout",),
    "library": ("board_names", "layout_from", "load_board"),
    "observation": ("FaceCells", "Faces", "HistoryEntry", "SymbolicBlock", "SymbolicObservation"),
    "placement": ("place",),
    "render": ("render_ansi", "render_rgb"),
    "report": ("FailedMove", "Push", "StepReport"),
    "rewards": ("ShapedEnv", "potential_reward", "register_reward", "reward_names"),
    "state": ("BlockView", "CubeState", "Snapshot"),
    "symbolic.actions": (
        "Entity",
        "Idle",
        "Move",
        "MoveToBlock",
        "Navigate",
        "PushBlock",
        "PushTowards",
        "Rendezvous",
        "Wait",
        "WaitAgents",
        "YieldBlock",
    ),
    "symbolic.rollout": ("roll_out",),
    "vector": ("CubeVecEnv",),
}
_MODULE = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "Action",
    "ActionError",
    "BlockView",
    "Cell",
    "CubeEnv",
    "CubeError",
    "CubeState",
    "CubeVecEnv",
    "Direction",
    "Entity",
    "EpisodeError",
    "Face",
    "FaceCells",
    "Faces",
    "FailedMove",
    "HistoryEntry",
    "Idle",
    "Layout",
    "LayoutError",
    "Move",
    "MoveFailure",
    "MoveToBlock",
    "Navigate",
    "PlacementError",
    "Push",
    "PushBlock",
    "PushOutcome",
    "PushTowards",
    "Rendezvous",
    "SavedEnv",
    "Scenario",
    "ShapedEnv",
    "Snapshot",
    "StaleObservationError",
    "StepReport",
    "SymbolicBlock",
    "SymbolicObservation",
    "Wait",
    "WaitAgents",
    "YieldBlock",
    "all_aligned_positions",
    "block_progress",
    "blocked",
    "board_names",
    "count_aligned_agents",
    "curriculum",
    "delivered",
    "get_distance",
    "is_aligned_with_block",
    "layout_from",
    "load_board",
    "lower_bound",
    "place",
    "potential_reward",
    "quorum_deficit",
    "quorum_status",
    "register_reward",
    "render_ansi",
    "render_rgb",
    "required_force",
    "reward_names",
    "roll_out",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
