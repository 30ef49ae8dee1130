"""The two worlds of the LLaMAC paper: grid transportation (`transport`) and the Gaussian squeeze (`squeeze`).

- To play: `TransportEnv` and `SqueezeEnv` (PettingZoo, dictionaries by agent, with action masks).
- To reason about a state of grid transportation: `Board`, immutable, on a `Grid`: `available(agent)`,
  `refusal(agent, move)` with a `FailureCode`, `after(joint)`, which gives a `Step`.
  `TransportObservation.to_board()` makes one of what an agent sees.
- To read and write the paper's text: `read_joint`, `write_joint`, `read_board`, `write_board`, `observation_line`.
- To know how few steps a board takes: `bracket`, and `solve` with the extra `optimum`; `load_instances` gives the
  frozen boards of the benchmark with optimum and plan; `replay` carries a plan out.
- The squeeze: `Game` is what a round pays and what pays best, `curve` judges a run of rounds.

What needs NumPy or PettingZoo is imported when it is first used, so that the light names stay light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from llamac_env.errors import ActionError, BoardError, EpisodeError, LlamacError, MissingSolver
from llamac_env.transport.constants import Colour, Difficulty, EntryRule, FailureCode

if TYPE_CHECKING:
    from llamac_env.squeeze.env import SqueezeEnv
    from llamac_env.squeeze.game import HIGHEST, Curve, Game, curve, draw_game
    from llamac_env.squeeze.observation import Round, SqueezeObservation
    from llamac_env.squeeze.symbolic.actions import Pick
    from llamac_env.transport.board import Board, BoxMove, Item, Step
    from llamac_env.transport.bounds import Bracket, bracket, greedy_plan, lower_bound
    from llamac_env.transport.drawing import board_generator, draw_board
    from llamac_env.transport.env import TransportEnv, usual_limit
    from llamac_env.transport.exact import solve
    from llamac_env.transport.frozen import Instance, find_instance, load_instances, settings
    from llamac_env.transport.grid import Grid, Place, manhattan, usual_rows
    from llamac_env.transport.observation import Choice, TransportObservation, observation_line
    from llamac_env.transport.plan import Broken, JointMove, JointPlan, achieves, replay
    from llamac_env.transport.routing import NoPlan
    from llamac_env.transport.symbolic.actions import BoxName, Move, Wait
    from llamac_env.transport.symbolic.control import box_move
    from llamac_env.transport.text import (
        Reading,
        Refusal,
        Unreadable,
        read_board,
        read_joint,
        read_move,
        write_board,
        write_destination,
        write_joint,
        write_move,
        write_place,
    )

_LAZY = {
    "squeeze.env": ("SqueezeEnv",),
    "squeeze.game": ("HIGHEST", "Curve", "Game", "curve", "draw_game"),
    "squeeze.observation": ("Round", "SqueezeObservation"),
    "squeeze.symbolic.actions": ("Pick",),
    "transport.board": ("Board", "BoxMove", "Item", "Step"),
    "transport.bounds": ("Bracket", "bracket", "greedy_plan", "lower_bound"),
    "transport.drawing": ("board_generator", "draw_board"),
    "transport.env": ("TransportEnv", "usual_limit"),
    "transport.exact": ("solve",),
    "transport.frozen": ("Instance", "find_instance", "load_instances", "settings"),
    "transport.grid": ("Grid", "Place", "manhattan", "usual_rows"),
    "transport.observation": ("Choice", "TransportObservation", "observation_line"),
    "transport.plan": ("Broken", "JointMove", "JointPlan", "achieves", "replay"),
    "transport.routing": ("NoPlan",),
    "transport.symbolic.actions": ("BoxName", "Move", "Wait"),
    "transport.symbolic.control": ("box_move",),
    "transport.text": (
        "Reading",
        "Refusal",
        "Unreadable",
        "read_board",
        "read_joint",
        "read_move",
        "write_board",
        "write_destination",
        "write_joint",
        "write_move",
        "write_place",
    ),
}
_MODULE = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "HIGHEST",
    "ActionError",
    "Board",
    "BoardError",
    "BoxMove",
    "BoxName",
    "Bracket",
    "Broken",
    "Choice",
    "Colour",
    "Curve",
    "Difficulty",
    "EntryRule",
    "EpisodeError",
    "FailureCode",
    "Game",
    "Grid",
    "Instance",
    "Item",
    "JointMove",
    "JointPlan",
    "LlamacError",
    "MissingSolver",
    "Move",
    "NoPlan",
    "Pick",
    "Place",
    "Reading",
    "Refusal",
    "Round",
    "SqueezeEnv",
    "SqueezeObservation",
    "Step",
    "TransportEnv",
    "TransportObservation",
    "Unreadable",
    "Wait",
    "achieves",
    "board_generator",
    "box_move",
    "bracket",
    "curve",
    "draw_board",
    "draw_game",
    "find_instance",
    "greedy_plan",
    "load_instances",
    "lower_bound",
    "manhattan",
    "observation_line",
    "read_board",
    "read_joint",
    "read_move",
    "replay",
    "settings",
    "solve",
    "usual_limit",
    "usual_rows",
    "write_board",
    "write_destination",
    "write_joint",
    "write_move",
    "write_place",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
