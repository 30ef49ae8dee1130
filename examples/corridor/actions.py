"""The actions of agents in a corridor."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveInt

from maeil import SymbolicAction, Vocabulary

STAY, GO = 0, 1
"""Primitives: an agent's moves in one step of the world."""


class Walk(SymbolicAction):
    """Go on by some cells."""

    action: Literal["walk"] = "walk"
    cells: PositiveInt


class Rest(SymbolicAction):
    """Stay for a step."""

    action: Literal["rest"] = "rest"


VOCABULARY = Vocabulary(Walk, Rest)
