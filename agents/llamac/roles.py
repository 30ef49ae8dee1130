"""The roles of LLaMAC."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A role; the value is the name of its template."""

    EXPLORER = "explorer"
    EXPLOITER = "exploiter"
    ASSESSOR = "assessor"
    ACTOR = "actor"


CRITICS = {"both": (Role.EXPLORER, Role.EXPLOITER), "explorer": (Role.EXPLORER,), "exploiter": (Role.EXPLOITER,)}
"""Who proposes, by the value of `critics`."""
