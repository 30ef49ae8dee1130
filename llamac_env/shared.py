"""What this package shares with the other worlds and offers under its own name."""

from maeil.environments.errors import ActionError, EpisodeError, LayoutError, WorldError

__all__ = ["ActionError", "EpisodeError", "LayoutError", "WorldError"]
