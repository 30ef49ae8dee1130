"""The errors of the worlds; each message names the thing, its place and the way out.

LlamacError (a ValueError)
├── BoardError      a board that cannot be, or text that is not one
├── ActionError     a joint action that is not one action for every agent
├── EpisodeError    a call that this moment of the episode does not allow
└── MissingSolver   the exact solver is not installed
"""

from __future__ import annotations


class LlamacError(ValueError):
    """Base of every error that this package raises on purpose."""


class BoardError(LlamacError):
    """A board that cannot be, or text that is not one."""


class ActionError(LlamacError):
    """A joint action that is not one action for every agent."""


class EpisodeError(LlamacError):
    """A call that this moment of the episode does not allow: a step before a reset or after the end."""


class MissingSolver(LlamacError):
    """The exact solver is not installed."""
