"""The actions of grid transportation that the simulated speaker reads in others' plans."""

from __future__ import annotations

from llamac_env import Move, Wait
from maeil.actions import Vocabulary

VOCABULARY = Vocabulary(Move, Wait)
