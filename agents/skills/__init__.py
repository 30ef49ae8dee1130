"""What minds know of worlds: one package a world, one module a role.

`contract.py` says what a role is, `lookup.py` finds the skills of a world by its name. No other package of `agents`
knows a world, and nothing but `skills/<world>/` imports one.
"""

from __future__ import annotations

from quorum.agents.skills.commanded import CommandedMind
from quorum.agents.skills.contract import Briefing, Effort, Gates, Merge, MissingSkill, WorldSkills, majority
from quorum.agents.skills.lookup import (
    check_form,
    check_predictable,
    check_typed,
    having,
    notation_of,
    prompts_of,
    required,
    skills,
    skills_of,
)
from quorum.agents.skills.speaker import Brief, Prospect, Speaker, take_turn

__all__ = [
    "Brief",
    "Briefing",
    "CommandedMind",
    "Effort",
    "Gates",
    "Merge",
    "MissingSkill",
    "Prospect",
    "Speaker",
    "WorldSkills",
    "check_form",
    "check_predictable",
    "check_typed",
    "having",
    "majority",
    "notation_of",
    "prompts_of",
    "required",
    "skills",
    "skills_of",
    "take_turn",
]
