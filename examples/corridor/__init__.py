"""A world with its own skills in a separate package: `--plugin corridor` imports it, and it registers both."""

from corridor.actions import Rest, Walk
from corridor.skills import CorridorSkills
from corridor.world import Corridor, CorridorConfig, component
from quorum.agents.skills import skills
from quorum.configuration.registry import worlds

__all__ = ["Corridor", "CorridorConfig", "CorridorSkills", "Rest", "Walk"]

worlds.register("corridor", component)
skills.register("corridor", CorridorSkills("corridor"))
