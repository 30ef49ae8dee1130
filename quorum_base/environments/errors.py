"""The errors of the environments. Each message says what is wrong, where, and how to fix it.

WorldError (a ValueError)
├── LayoutError      an invalid layout, or text that is not a layout
├── PlacementError   a world without room for everything to be placed in it
├── ActionError      a joint action that is not one action for every living agent
└── EpisodeError     a call at the wrong moment of the episode
"""

from __future__ import annotations


class WorldError(ValueError):
    """Base of every error that the worlds raise on purpose."""


class LayoutError(WorldError):
    """An invalid layout, or text that is not a layout."""


class PlacementError(WorldError):
    """A world without room for everything to be placed in it."""


class ActionError(WorldError):
    """A joint action that is not one action for every living agent."""


class EpisodeError(WorldError):
    """A call at the wrong moment of the episode: a step before a reset or after the end."""
