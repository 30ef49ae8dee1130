"""Names shared with the other worlds, re-exported under this package."""

from quorum_base.environments.errors import ActionError, EpisodeError, LayoutError, WorldError

__all__ = ["ActionError", "EpisodeError", "LayoutError", "WorldError"]
