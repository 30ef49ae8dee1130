"""The block-pushing grid world: rules, kernels and the PettingZoo environment.

What needs NumPy, Numba or PettingZoo is imported when it is first used, so that the light names stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from cube_env.constants import Action, Cell, Face, MoveFailure, PushOutcome
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
    from cube_env.env import CubeEnv, SavedEnv
    from cube_env.layout import Layout
    from cube_env.observation import FaceCells, Faces, HistoryEntry, SymbolicBlock, SymbolicObservation
    from cube_env.placement import place
    from cube_env.render import render_ansi, render_rgb
    from cube_env.report import FailedMove, Push, StepReport
    from cube_env.state import BlockView, CubeState, Snapshot
    from cube_env.symbolic.actions import Idle, MoveToBlock, PushBlock, Rendezvous

_LAZY = {
    "env": ("CubeEnv", "SavedEnv"),
    "layout": ("Layout",),
    "observation": ("FaceCells", "Faces", "HistoryEntry", "SymbolicBlock", "SymbolicObservation"),
    "placement": ("place",),
    "render": ("render_ansi", "render_rgb"),
    "report": ("FailedMove", "Push", "StepReport"),
    "state": ("BlockView", "CubeState", "Snapshot"),
    "symbolic.actions": ("Idle", "MoveToBlock", "PushBlock", "Rendezvous"),
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
    "EpisodeError",
    "Face",
    "FaceCells",
    "Faces",
    "FailedMove",
    "HistoryEntry",
    "Idle",
    "Layout",
    "LayoutError",
    "MoveFailure",
    "MoveToBlock",
    "PlacementError",
    "Push",
    "PushBlock",
    "PushOutcome",
    "Rendezvous",
    "SavedEnv",
    "Scenario",
    "Snapshot",
    "StaleObservationError",
    "StepReport",
    "SymbolicBlock",
    "SymbolicObservation",
    "curriculum",
    "place",
    "render_ansi",
    "render_rgb",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
