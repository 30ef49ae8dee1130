"""What this package shares with the other worlds and offers under its own name."""

from maeil.environments.errors import ActionError, EpisodeError, LayoutError, PlacementError, WorldError
from maeil.environments.wrappers import TeamReward

__all__ = ["ActionError", "EpisodeError", "LayoutError", "PlacementError", "TeamReward", "WorldError"]
