"""The errors of the world; each message names the thing, its place and the way out.

CubeError (a ValueError)
├── LayoutError             a layout that cannot be a board, or text that is not one
├── PlacementError          a scenario whose blocks or agents do not fit its grid
├── ActionError             a joint action that is not one action for every agent
├── EpisodeError            a call that this moment of the episode does not allow
└── StaleObservationError   a lazy observation first read after the world had moved on
"""

from __future__ import annotations


class CubeError(ValueError):
    """Base of every error that this package raises on purpose."""


class LayoutError(CubeError):
    """A layout that cannot be a board, or text that is not one."""


class PlacementError(CubeError):
    """A scenario whose blocks or agents do not fit its grid."""


class ActionError(CubeError):
    """A joint action that is not one action for every agent."""


class EpisodeError(CubeError):
    """A call that this moment of the episode does not allow: a step before a reset or after the end."""


class StaleObservationError(CubeError):
    """A lazy observation first read after the world had moved on."""
