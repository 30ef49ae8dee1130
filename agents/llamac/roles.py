"""The roles of LLaMAC."""

from __future__ import annotations

from enum import StrEnum


class LlamacRole(StrEnum):
    """A role; the value is the name of its template."""

    EXPLORER = "explorer"
    EXPLOITER = "exploiter"
    ASSESSOR = "assessor"
    ACTOR = "actor"


CRITICS = {
    "both": (LlamacRole.EXPLORER, LlamacRole.EXPLOITER),
    "explorer": (LlamacRole.EXPLORER,),
    "exploiter": (LlamacRole.EXPLOITER,),
}
"""Who proposes, by the value of `critics`."""
