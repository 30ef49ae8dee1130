"""The errors of the world; each message names the thing, its place and the way out.

CrafterError (a ValueError)
├── LayoutError      a layout that cannot be a world, or text that is not one
├── PlacementError   a world without room for its agents
├── ActionError      a joint action that is not one action for every living agent
└── EpisodeError     a call that this moment of the episode does not allow
"""

from __future__ import annotations


class CrafterError(ValueError):
    """Base of every error that this package raises on purpose."""


class LayoutError(CrafterError):
    """A layout that cannot be a world, or text that is not one."""


class PlacementError(CrafterError):
    """A world without room for its agents."""


class ActionError(CrafterError):
    """A joint action that is not one action for every living agent."""


class EpisodeError(CrafterError):
    """A call that this moment of the episode does not allow: a step before a reset or after the end."""
