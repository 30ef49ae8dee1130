"""Levels of CUBE: what blocks a board has, by name.

EmCoop asks where cooperation breaks as tasks need more agents; its appendix on CUBE is not public, and COOP2's runs
have one board. The three levels have nine blocks each, for teams from three agents on, as that board has.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

LevelName = Literal["easy", "medium", "hard"]

LEVELS: Mapping[str, Mapping[int, int]] = MappingProxyType(
    {
        "easy": {1: 6, 2: 2, 3: 1},
        "medium": {1: 3, 2: 3, 3: 3},
        "hard": {1: 1, 2: 2, 3: 6},
    }
)
"""Number of blocks by weight, by the name of the level; `medium` is the board of COOP2's runs."""
