"""The actions of the open world that the simulated speaker reads in others' plans."""

from __future__ import annotations

from crafter_env import Collect, Craft, Move, Navigate, Noop, Place, Share, Sleep
from maeil.actions import Vocabulary

VOCABULARY = Vocabulary(Noop, Move, Collect, Craft, Sleep, Place, Share, Navigate)
