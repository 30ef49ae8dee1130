"""What minds know about worlds: the contract of skills, and the skills of CUBE.

`contract.py` lists the roles that a world may offer; `lookup.py` finds a world's skills and their roles by name. The
skills of other worlds are in satellites. In `agents`, only `skills/cube/` imports a world.
"""

from __future__ import annotations

from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.contract import Briefing, CommandedMind, Gates, MissingSkill, WorldSkills, refuse_coordinator
from quorum.agents.skills.lookup import (
    check_predictable,
    check_typed,
    notation_role,
    prompts_of,
    role_of,
    skills,
    skills_of,
)
from quorum.agents.skills.speaker import JointPlanRequest, Prospect, Speaker, take_turn

__all__ = [
    "Briefing",
    "Chooser",
    "CommandedMind",
    "Gates",
    "JointPlanRequest",
    "MissingSkill",
    "Prospect",
    "Speaker",
    "WorldSkills",
    "check_predictable",
    "check_typed",
    "notation_role",
    "prompts_of",
    "refuse_coordinator",
    "role_of",
    "skills",
    "skills_of",
    "take_turn",
]
