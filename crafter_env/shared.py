"""What this package shares with the other worlds and offers under its own name."""

from maeil.environments.arguments import agent_name
from maeil.environments.errors import ActionError, EpisodeError, LayoutError, PlacementError, WorldError

__all__ = ["ActionError", "EpisodeError", "LayoutError", "PlacementError", "WorldError", "agent_name"]
