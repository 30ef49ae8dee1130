"""Names shared with the other worlds, re-exported under this package."""

from quorum_base.environments.arguments import agent_name
from quorum_base.environments.errors import ActionError, EpisodeError, LayoutError, PlacementError, WorldError

__all__ = ["ActionError", "EpisodeError", "LayoutError", "PlacementError", "WorldError", "agent_name"]
